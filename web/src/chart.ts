// The picture of an execution: a column for each thread, a line for each row, and arrows between threads.

import { arrowsTo, CAUSES } from "./arrows";
import { rowPlace, type Execution, type Row } from "./data";
import { cut, svg } from "./dom";
import { cycleRow, rowText } from "./steps";

/** Rows that are drawn at once: more would make each step slow. */
export const WINDOW = 300;

const LEFT = 58;
const LINE = 28;
const HEAD = 30;
const CHARACTER = 7.3;
const LONGEST = 36;
/** What half a page of 1280 pixels has room for. */
const ROOM = 560;
/** The room of the last column, and the least that there is between two. */
const LAST = 130;
const NARROWEST = 44;

/** Where the columns of the threads are. */
export interface Columns {
  /** The life line of each thread. */
  x: number[];
  /** Characters of a text in each. */
  longest: number[];
  /** Characters of the name of a thread. */
  names: number[];
  width: number;
}

/** Each column is as wide as its longest text, if there is room. If there is not, the lines of life stand closer: a row has one box, so
 * that it may lie over the lines of other threads. */
export function columns(execution: Execution): Columns {
  const wanted = execution.threads.map((thread) => Math.max(8, Math.min(LONGEST, thread.length)));
  for (const row of execution.rows) {
    wanted[row.column] = Math.max(wanted[row.column] ?? 0, Math.min(LONGEST, rowText(row).length));
  }
  const natural = wanted.map((length) => length * CHARACTER + 46);
  const width = LEFT + natural.reduce((sum, one) => sum + one, 0);
  const close = Math.max(NARROWEST, (ROOM - LEFT - LAST) / Math.max(1, wanted.length - 1));
  const isClose = width > ROOM && LEFT + close * (wanted.length - 1) + LAST < width;
  const steps = natural.map((one) => (isClose ? Math.min(one, close) : one));
  const x = steps.map((_, column) => LEFT + steps.slice(0, column).reduce((sum, one) => sum + one, 0));
  if (!isClose) return { x, longest: wanted.map(() => LONGEST), names: wanted.map(() => LONGEST), width };
  const end = Math.max(ROOM, x.at(-1)! + LAST);
  const fitting = (room: number) => Math.max(4, Math.min(LONGEST, Math.floor(room / CHARACTER)));
  const names = x.map((left, column) => fitting((x[column + 1] ?? end) - left - 4));
  return { x, longest: x.map((left) => fitting(end - left - 24)), names, width: end };
}

function boxWidth(text: string): number {
  return text.length * CHARACTER + 16;
}

/** The height of a row in a picture that begins with row `first`. */
export function rowY(row: number, first: number): number {
  return (row - first) * LINE + LINE / 2 + 4;
}

/** The names of the threads, for above the picture. */
export function heads(execution: Execution, { x, names: lengths, width }: Columns): SVGElement {
  const names = execution.threads.map((thread, column) => svg("text", { class: "head", x: x[column]! - 4, y: 20 }, cut(thread, lengths[column]!), svg("title", {}, thread)));
  return svg("svg", { class: "chart", width, height: HEAD, viewBox: `0 0 ${width} ${HEAD}`, "aria-hidden": "true" }, svg("text", { class: "number", x: LEFT - 16, y: 20, "text-anchor": "end" }, "line"), ...names);
}

function tips(): SVGElement {
  const tip = ([cause]: [string, string]) =>
    svg("marker", { id: `tip-${cause}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 9, markerHeight: 9, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M0 0 8 4 0 8z", class: `tip ${cause}` }));
  return svg("defs", {}, ...CAUSES.map(tip));
}

function arrows(execution: Execution, index: number, first: number, { x, longest }: Columns): SVGElement[] {
  const { rows } = execution;
  return arrowsTo(execution, index).map(({ from, cause, text }) => {
    const [source, target] = [rows[from]!, rows[index]!];
    const [left, right] = [x[source.column]!, x[target.column]!];
    const forward = left < right;
    const of = forward ? source : target;
    // It leaves and enters at the sides that face each other, so that it hides no text of its own rows.
    const beside = boxWidth(cut(rowText(of), longest[of.column]!)) + 6;
    // A row that the picture does not have is above it.
    const [y1, y2] = [Math.max(0, rowY(from, first)), rowY(index, first)];
    const isCovered = Math.abs(right - left) < beside + 10;
    const [x1, x2] = forward ? [isCovered ? left + 10 : left + beside, right - 4] : [left, right + (isCovered ? 12 : beside + 3)];
    const bend = Math.max(18, Math.min(60, Math.abs(x2 - x1) / 2)) * (forward ? 1 : -1);
    // Where a box reaches over the other line of life, the arrow leaves below it, or enters from above.
    const straight = `C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
    const [leaving, entering] = [`V${y1 + 12}C${x1} ${y1 + 20} ${x2 - 14} ${y2} ${x2} ${y2}`, `C${x2} ${y1} ${x2} ${y2 - 24} ${x2} ${y2 - 12}`];
    const d = `M${x1} ${y1}${!isCovered ? straight : forward ? leaving : entering}`;
    return svg("path", { class: `arrow ${cause}`, d, "marker-end": `url(#tip-${cause})`, "data-row": index }, svg("title", {}, text));
  });
}

function rowView(row: Row, index: number, first: number, { x, longest }: Columns, choose: (row: number) => void): SVGElement {
  const text = rowText(row);
  const shown = cut(text, longest[row.column]!);
  const [left, y] = [x[row.column]!, rowY(index, first)];
  return svg(
    "g",
    { class: `row ${row.kind}`, "data-row": index, click: () => choose(index) },
    svg("title", {}, `row ${index + 1}, line ${rowPlace(row)}: ${text}`),
    svg("text", { class: "number", x: LEFT - 16, y: y + 4, "text-anchor": "end" }, row.file === undefined ? String(row.line) : ""),
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
