// Tables whose columns sort, and bars of what is covered.

import { html, svg } from "./dom";

export type Cell = string | number | Node;

function valueOf(cell: Cell): string | number {
  return cell instanceof Node ? (cell.textContent ?? "") : cell;
}

/** The order of two cells: numbers by size, texts with their numbers by size. */
export function compare(a: Cell, b: Cell): number {
  const [one, two] = [valueOf(a), valueOf(b)];
  if (typeof one === "number" && typeof two === "number") return one - two;
  return String(one).localeCompare(String(two), "en", { numeric: true });
}

/** Rows that are shown at once: thousands would make the page slow. */
export const FIRST = 100;

/** A table; a click on a head sorts by that column, another one turns the order round. Of long ones the first rows are shown. */
export function table(caption: string, heads: string[], rows: Cell[][]): HTMLElement {
  const body = html("tbody");
  let [by, way, most, sorted] = [-1, 1, FIRST, rows];
  const cell = (value: Cell) => html("td", { class: typeof value === "number" ? "number" : null }, typeof value === "number" ? String(value) : value);
  const fill = () => body.replaceChildren(...sorted.slice(0, most).map((row) => html("tr", {}, ...row.map(cell))));
  const columns = heads.map((head, index) => {
    const sort = () => {
      way = by === index ? -way : 1;
      by = index;
      sorted = [...rows].sort((a, b) => way * compare(a[index]!, b[index]!));
      fill();
      columns.forEach((column, other) => {
        if (other === index) column.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
        else column.removeAttribute("aria-sort");
      });
    };
    return html("th", { scope: "col" }, html("button", { type: "button", click: sort }, head));
  });
  fill();
  const whole = html("table", { class: "data" }, html("caption", {}, caption), html("thead", {}, html("tr", {}, ...columns)), body);
  const view = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, whole);
  if (rows.length <= FIRST) return view;
  const all = () => {
    most = rows.length;
    fill();
    button.remove();
    view.focus();
  };
  const button = html("button", { type: "button", class: "more", click: all }, `show all ${rows.length} rows`);
  return html("div", { class: "long" }, view, button);
}

/** A part of a whole. */
export interface Part {
  count: number;
  kind: string;
  word: string;
}

/** A bar of parts of a whole, with their numbers. */
export function bar(name: string, parts: Part[]): HTMLElement {
  const total = parts.reduce((sum, part) => sum + part.count, 0);
  const text = parts.filter((part) => part.count > 0).map((part) => `${part.count} ${part.word}`).join(", ") || "none";
  const picture = svg("svg", { class: "covered", viewBox: "0 0 100 6", preserveAspectRatio: "none", role: "img", "aria-label": `${name}: ${text}` });
  let x = 0;
  for (const part of parts) {
    const width = total === 0 ? 0 : (part.count / total) * 100;
    picture.append(svg("rect", { x, y: 0, width, height: 6, class: part.kind }, svg("title", {}, `${part.count} ${part.word}`)));
    x += width;
  }
  return html("div", { class: "bar-row" }, html("span", { class: "bar-name" }, name), picture, html("span", { class: "bar-text" }, text));
}
