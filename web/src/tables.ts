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

/** A table; a click on a head sorts by that column, another one turns the order round. */
export function table(caption: string, heads: string[], rows: Cell[][]): HTMLElement {
  const body = html("tbody");
  const fill = (sorted: Cell[][]) => body.replaceChildren(...sorted.map((row) => html("tr", {}, ...row.map(cell))));
  const cell = (value: Cell) => html("td", {}, typeof value === "number" ? String(value) : value);
  let [by, way] = [-1, 1];
  const columns = heads.map((head, index) => {
    const sort = () => {
      way = by === index ? -way : 1;
      by = index;
      fill([...rows].sort((a, b) => way * compare(a[index]!, b[index]!)));
      columns.forEach((column, other) => {
        if (other === index) column.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
        else column.removeAttribute("aria-sort");
      });
    };
    return html("th", { scope: "col" }, html("button", { type: "button", click: sort }, head));
  });
  fill(rows);
  const whole = html("table", { class: "data" }, html("caption", {}, caption), html("thead", {}, html("tr", {}, ...columns)), body);
  return html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, whole);
}

/** A bar of parts of a whole. */
export function bar(name: string, parts: { count: number; kind: string; word: string }[]): HTMLElement {
  const total = parts.reduce((sum, part) => sum + part.count, 0);
  const text = parts.map((part) => `${part.count} ${part.word}`).join(", ");
  const picture = svg("svg", { class: "covered", viewBox: "0 0 100 6", preserveAspectRatio: "none", role: "img", "aria-label": `${name}: ${text}` });
  let x = 0;
  for (const part of parts) {
    const width = total === 0 ? 0 : (part.count / total) * 100;
    picture.append(svg("rect", { x, y: 0, width, height: 6, class: part.kind }, svg("title", {}, `${part.count} ${part.word}`)));
    x += width;
  }
  return html("div", { class: "bar-row" }, html("span", { class: "bar-name" }, name), picture, html("span", { class: "bar-text" }, text));
}
