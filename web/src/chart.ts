// An execution as a sequence chart that can be stepped through.

import type { Execution, Row } from "./data";
import { cut, html, svg } from "./dom";

const LEFT = 56;
const TOP = 40;
const LINE = 28;
const COLUMN = 190;

/** `read x 1`, `waits for T1` */
export function rowText(row: Row): string {
  const value = row.value === null ? "" : row.kind === "write" ? ` = ${row.value}` : ` ${row.value}`;
  const arrow = row.kind === "read" && row.value !== null ? ` → ${row.value}` : value;
  return `${row.op}${row.object === null ? "" : ` ${row.object}`}${arrow}`;
}

/** The values of the variables behind a row. */
export function valuesAt(execution: Execution, row: number): Map<string, string> {
  const values = new Map<string, string>();
  for (const one of execution.rows.slice(0, row + 1)) {
    if ((one.kind === "write" || one.kind === "read") && one.object !== null && one.value !== null) {
      values.set(one.object, one.value);
    }
  }
  return values;
}

function x(column: number): number {
  return LEFT + column * COLUMN;
}

function y(row: number): number {
  return TOP + row * LINE + LINE / 2;
}

/** The arrows to a row from those of other threads: index of the row, and what it says. */
export function arrowsTo(execution: Execution, index: number): number[] {
  const row = execution.rows[index];
  return row ? row.after.filter((from) => execution.rows[from] && execution.rows[from].column !== row.column) : [];
}

/** The picture; `choose` is called with a row that is clicked. */
export function chart(execution: Execution, choose: (row: number) => void): SVGElement {
  const { rows, threads } = execution;
  const width = LEFT + threads.length * COLUMN;
  const height = TOP + rows.length * LINE + 12;
  const picture = svg("svg", { class: "chart", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `an execution with ${rows.length} rows; the text below says each` });
  picture.append(
    svg("defs", {}, svg("marker", { id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { d: "M0 0 8 4 0 8z", class: "tip" }))),
  );
  threads.forEach((thread, column) => {
    picture.append(
      svg("line", { class: "life", x1: x(column), y1: TOP - 8, x2: x(column), y2: height - 6 }),
      svg("text", { class: "head", x: x(column) - 4, y: TOP - 16 }, cut(thread, 28), svg("title", {}, thread)),
    );
  });
  rows.forEach((row, index) => {
    for (const from of arrowsTo(execution, index)) {
      const [x1, y1, x2, y2] = [x(rows[from]!.column), y(from), x(row.column), y(index)];
      const ends = x1 < x2 ? x2 - 3 : x2 + 3;
      const d = `M${x1} ${y1}C${x1 + (x2 - x1) / 2} ${y1} ${x1 + (x2 - x1) / 2} ${y2} ${ends} ${y2}`;
      picture.append(svg("path", { class: `arrow ${row.kind}`, d, "marker-end": "url(#tip)", "data-row": index }));
    }
  });
  rows.forEach((row, index) => {
    const text = rowText(row);
    picture.append(
      svg(
        "g",
        { class: `row ${row.kind}`, "data-row": index, click: () => choose(index) },
        svg("title", {}, `line ${row.line}: ${text}`),
        svg("text", { class: "number", x: LEFT - 16, y: y(index) + 4, "text-anchor": "end" }, String(row.line)),
        svg("rect", { x: x(row.column) + 6, y: y(index) - 11, width: COLUMN - 16, height: 22, rx: 4 }),
        svg("circle", { cx: x(row.column), cy: y(index), r: 3 }),
        svg("text", { x: x(row.column) + 13, y: y(index) + 4 }, cut(text, 23)),
      ),
    );
  });
  return picture;
}

/** The chart with buttons and keys; `follow` is told the line of the row that is shown. */
export function stepper(execution: Execution, follow: (line: number) => void): HTMLElement {
  const { rows, threads } = execution;
  let at = 0;
  const said = html("p", { class: "said", "aria-live": "polite" });
  const values = html("p", { class: "values" });
  const picture = chart(execution, (row) => show(row));
  const show = (row: number) => {
    at = Math.max(0, Math.min(rows.length - 1, row));
    const now = rows[at];
    if (!now) return;
    for (const one of picture.querySelectorAll("[data-row]")) {
      const index = Number(one.getAttribute("data-row"));
      one.classList.toggle("current", index === at);
      one.classList.toggle("later", index > at);
    }
    said.textContent = `${at + 1} of ${rows.length}: ${threads[now.column] ?? ""}, line ${now.line}: ${rowText(now)}`;
    values.textContent = [...valuesAt(execution, at)].map(([name, value]) => `${name} = ${value}`).join("   ") || "no variable was touched yet";
    const box = scroll.getBoundingClientRect();
    scroll.scrollTop = Math.max(0, y(at) - box.height / 2);
    follow(now.line);
  };
  const keys: Record<string, () => void> = {
    ArrowRight: () => show(at + 1),
    ArrowDown: () => show(at + 1),
    ArrowLeft: () => show(at - 1),
    ArrowUp: () => show(at - 1),
    Home: () => show(0),
    End: () => show(rows.length - 1),
  };
  const button = (text: string, label: string, key: string) => html("button", { type: "button", "aria-label": label, click: () => keys[key]?.() }, text);
  const onKey = (event: Event) => {
    const action = keys[(event as KeyboardEvent).key];
    if (action) {
      event.preventDefault();
      action();
    }
  };
  const scroll = html("div", { class: "scroll charted", tabindex: 0, role: "application", "aria-label": "execution: arrow keys step, Home and End go to its ends", keydown: onKey }, picture);
  const bar = html(
    "div",
    { class: "bar" },
    button("|◀", "first step", "Home"),
    button("◀", "step back", "ArrowLeft"),
    button("▶", "step forward", "ArrowRight"),
    button("▶|", "last step", "End"),
    said,
  );
  const printed = execution.output.length > 0 ? html("p", {}, "printed: ", html("code", {}, execution.output.join(" ⏎ "))) : null;
  const whole = html("div", { class: "stepper" }, bar, scroll, html("p", { class: "values-title" }, "last values seen"), values, printed);
  show(0);
  return whole;
}
