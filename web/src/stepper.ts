// An execution that can be stepped through.

import { arrowsTo, CAUSES } from "./arrows";
import { chart, columns, heads, rowY, WINDOW } from "./chart";
import { rowPlace, type Execution } from "./data";
import { html, toLine } from "./dom";
import { endOf, rowText, valuesAt } from "./steps";
import { table, type Cell } from "./tables";

/** `2 of 9: T1, line 3: read x → 1; sees what main wrote in row 1` */
function sentence(execution: Execution, index: number): string {
  const { rows, threads } = execution;
  const row = rows[index];
  if (!row) return "";
  const causes = arrowsTo(execution, index).map((arrow) => arrow.text);
  return [`${index + 1} of ${rows.length}: ${threads[row.column] ?? ""}, line ${rowPlace(row)}: ${rowText(row)}`, ...causes].join("; ");
}

function valuesView(execution: Execution, index: number): HTMLElement {
  const now = execution.rows[index];
  const values = [...valuesAt(execution, index)];
  if (values.length === 0) return html("p", { class: "values" }, "no variable was read or written yet");
  const cells = values.map(([name, value]) => html("li", { class: name === now?.object ? "now" : null }, html("code", {}, `${name} = ${value}`)));
  return html("ul", { class: "values" }, ...cells);
}

/** All rows in words, made when somebody asks. */
function listOfRows(execution: Execution): HTMLElement {
  const { rows, threads } = execution;
  const place = html("div");
  const fill = () => {
    if (place.hasChildNodes()) return;
    const cells = rows.map((row, index): Cell[] => [index + 1, threads[row.column] ?? "", row.file === undefined ? toLine(row.line, String(row.line)) : rowPlace(row), rowText(row), arrowsTo(execution, index).map((arrow) => arrow.text).join("; ")]);
    place.append(table("Rows of the execution", ["row", "thread", "line", "what happens", "because of other threads"], cells));
  };
  return html("details", { toggle: fill }, html("summary", {}, "all rows in words"), place);
}

function legend(): HTMLElement {
  return html("ul", { class: "key" }, ...CAUSES.map(([cause, text]) => html("li", {}, html("span", { class: `swatch line ${cause}` }), text)));
}

/** The chart with buttons, a slider and keys; `follow` is told the line of the row that is shown. */
export function stepper(execution: Execution, follow: (line: number) => void): HTMLElement {
  const { rows } = execution;
  if (rows.length === 0) return html("p", {}, "No thread does anything that another one could see. ", endOf(execution));
  let [at, first] = [0, -1];
  const said = html("p", { class: "said", "aria-live": "polite" });
  const values = html("div");
  const places = columns(execution);
  const drawn = html("div");
  const slider = html("input", { type: "range", min: 1, max: rows.length, value: 1, "aria-label": "row of the execution", input: () => show(Number((slider as HTMLInputElement).value) - 1) });
  const show = (row: number) => {
    at = Math.max(0, Math.min(rows.length - 1, row));
    const begin = Math.floor(at / WINDOW) * WINDOW;
    if (begin !== first) {
      first = begin;
      drawn.replaceChildren(chart(execution, first, show));
    }
    for (const one of drawn.querySelectorAll("[data-row]")) {
      const index = Number(one.getAttribute("data-row"));
      one.classList.toggle("current", index === at);
      one.classList.toggle("later", index > at);
    }
    said.textContent = sentence(execution, at);
    (slider as HTMLInputElement).value = String(at + 1);
    values.replaceChildren(valuesView(execution, at));
    scroll.scrollTop = Math.max(0, rowY(at, first) - scroll.clientHeight / 2);
    const x = places.x[rows[at]!.column] ?? 0;
    const end = places.x[rows[at]!.column + 1] ?? places.width;
    if (x - 60 < scroll.scrollLeft) scroll.scrollLeft = x - 60;
    else if (end > scroll.scrollLeft + scroll.clientWidth) scroll.scrollLeft = Math.min(x - 60, end - scroll.clientWidth);
    if (rows[at]!.file === undefined) follow(rows[at]!.line);
  };
  const keys: Record<string, () => void> = {
    ArrowRight: () => show(at + 1),
    ArrowDown: () => show(at + 1),
    ArrowLeft: () => show(at - 1),
    ArrowUp: () => show(at - 1),
    PageDown: () => show(at + 20),
    PageUp: () => show(at - 20),
    Home: () => show(0),
    End: () => show(rows.length - 1),
  };
  const onKey = (event: Event) => {
    const { key, ctrlKey, altKey, metaKey } = event as KeyboardEvent;
    const action = keys[key];
    if (!action || ctrlKey || altKey || metaKey) return;
    event.preventDefault();
    action();
  };
  const button = (text: string, label: string, key: string) => html("button", { type: "button", "aria-label": label, title: label, click: () => keys[key]?.() }, text);
  const scroll = html("div", { class: "scroll charted", tabindex: 0, role: "application", "aria-label": "execution: arrow keys step, Home and End go to its ends", keydown: onKey }, html("div", { class: "heads" }, heads(execution, places)), drawn);
  const bar = html("div", { class: "bar" }, button("|◀", "first step", "Home"), button("◀", "step back", "ArrowLeft"), button("▶", "step forward", "ArrowRight"), button("▶|", "last step", "End"), slider);
  const many = rows.length > WINDOW && html("p", { class: "note" }, `The chart shows ${WINDOW} rows at a time.`);
  const printed = execution.output.length > 0 && html("p", {}, "It prints: ", html("code", {}, execution.output.join(" ⏎ ")));
  const whole = html("div", { class: "stepper" }, bar, said, scroll, legend(), many, html("h3", {}, "Variables, as last read or written"), values, html("p", { class: "end" }, endOf(execution)), printed, listOfRows(execution));
  show(0);
  return whole;
}
