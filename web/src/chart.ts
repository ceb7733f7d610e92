// The picture of an execution: a column for each thread, a line for each row, and arrows between threads.

import { arrowsTo, CAUSES } from "./arrows";
import type { Execution, Row } from "./data";
import { cut, svg } from "./dom";
import { cycleRow, rowText } from "./steps";

/** Rows that are drawn at once: more would make each step slow. */
export const WINDOW = 300;

const LEFT = 58;
const LINE = 28;
const HEAD = 30;
const CHARACTER = 7.3;
const LONGEST = 36;

/** Where the columns of the threads are. */
export interface Columns {
  /** The life line of each thread. */
  x: number[];
  width: number;
}

/** Each column is as wide as its longest text. */
export function columns(execution: Execution): Columns {
  const longest = execution.threads.map((thread) => Math.max(8, Math.min(LONGEST, thread.length)));
  for (const row of execution.rows) {
    longest[row.column] = Math.max(longest[row.column] ?? 0, Math.min(LONGEST, rowText(row).length));
  }
  const x: number[] = [];
  let at = LEFT;
  for (const length of longest) {
    x.push(at);
    at += length * CHARACTER + 46;
  }
  return { x, width: at };
}

function boxWidth(text: string): number {
  return text.length * CHARACTER + 16;
}

/** The height of a row in a picture that begins with row `first`. */
export function rowY(row: number, first: number): number {
  return (row - first) * LINE + LINE / 2 + 4;
}

/** The names of the threads, for above the picture. */
export function heads(execution: Execution, { x, width }: Columns): SVGElement {
  const names = execution.threads.map((thread, column) => svg("text", { class: "head", x: x[column]! - 4, y: 20 }, cut(thread, LONGEST), svg("title", {}, thread)));
  return svg("svg", { class: "chart", width, height: HEAD, viewBox: `0 0 ${width} ${HEAD}`, "aria-hidden": "true" }, svg("text", { class: "number", x: LEFT - 16, y: 20, "text-anchor": "end" }, "line"), ...names);
}

function tips(): SVGElement {
  const tip = ([cause]: [string, string]) =>
    svg("marker", { id: `tip-${cause}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M0 0 8 4 0 8z", class: `tip ${cause}` }));
  return svg("defs", {}, ...CAUSES.map(tip));
}

function arrows(execution: Execution, index: number, first: number, { x }: Columns): SVGElement[] {
  const { rows } = execution;
  return arrowsTo(execution, index).map(({ from, cause, text }) => {
    const [source, target] = [rows[from]!, rows[index]!];
    const [left, right] = [x[source.column]!, x[target.column]!];
    const forward = left < right;
    const shown = cut(rowText(forward ? source : target), LONGEST);
    // It leaves and enters at the sides that face each other, so that it hides no text of its own rows.
    const beside = boxWidth(shown) + 6;
    const [x1, x2] = forward ? [left + beside, right - 4] : [left, right + beside + 3];
    // A row that the picture does not have is above it.
    const [y1, y2] = [Math.max(0, rowY(from, first)), rowY(index, first)];
    const bend = Math.max(18, Math.min(60, Math.abs(x2 - x1) / 2)) * (forward ? 1 : -1);
    const d = `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
    return svg("path", { class: `arrow ${cause}`, d, "marker-end": `url(#tip-${cause})`, "data-row": index }, svg("title", {}, text));
  });
}

function rowView(row: Row, index: number, first: number, { x }: Columns, choose: (row: number) => void): SVGElement {
  const text = rowText(row);
  const shown = cut(text, LONGEST);
  const [left, y] = [x[row.column]!, rowY(index, first)];
  return svg(
    "g",
    { class: `row ${row.kind}`, "data-row": index, click: () => choose(index) },
    svg("title", {}, `row ${index + 1}, line ${row.line}: ${text}`),
    svg("text", { class: "number", x: LEFT - 16, y: y + 4, "text-anchor": "end" }, String(row.line)),
    svg("circle", { cx: left, cy: y, r: 3 }),
    svg("rect", { x: left + 6, y: y - 11, width: boxWidth(shown), height: 22, rx: 4 }),
    svg("text", { x: left + 13, y: y + 4 }, shown),
  );
}

/** The rows from `first` on, at most [`WINDOW`] of them; `choose` is called with a row that is clicked. */
export function chart(execution: Execution, first: number, choose: (row: number) => void): SVGElement {
  const { rows } = execution;
  const of = columns(execution);
  const end = Math.min(rows.length, first + WINDOW);
  const height = (end - first) * LINE + 12;
  const label = `rows ${first + 1} to ${end} of an execution of ${execution.threads.length} threads; the list of rows says the same in words`;
  const picture = svg("svg", { class: "chart", width: of.width, height, viewBox: `0 0 ${of.width} ${height}`, role: "img", "aria-label": label }, tips());
  const again = cycleRow(execution);
  if (again !== null && again < end) {
    const y = Math.max(0, rowY(again, first) - LINE / 2);
    picture.append(svg("rect", { class: "cycle", x: 0, y, width: of.width, height: height - y }, svg("title", {}, "these steps repeat for ever")));
    if (again >= first) picture.append(svg("text", { class: "again", x: 6, y: rowY(again, first) + 5 }, "↻"));
  }
  for (const x of of.x) picture.append(svg("line", { class: "life", x1: x, y1: 0, x2: x, y2: height }));
  const shown = rows.slice(first, end).map((row, index) => [row, first + index] as const);
  // Arrows lie below the boxes, so that none crosses a text.
  for (const [, index] of shown) picture.append(...arrows(execution, index, first, of));
  for (const [row, index] of shown) picture.append(rowView(row, index, first, of, choose));
  return picture;
}
