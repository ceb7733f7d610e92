// The page of the trace view: shows a trace as a table with a column for each thread, and tells the extension where it is.
import { KEYS, move, stopOf, type Move, type Trace } from "./trace";

interface Host {
  postMessage(message: unknown): void;
}

declare function acquireVsCodeApi(): Host;

const host = acquireVsCodeApi();
const table = document.querySelector("table")!;
const place = document.querySelector("#place")!;
let trace: Trace | undefined;
let at = 0;

function element(tag: string, text: string, ...classes: string[]): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = text;
  made.classList.add(...classes);
  return made;
}

function draw(shown: Trace): void {
  const { threads, rows } = shown;
  document.querySelector("#title")!.textContent = shown.title;
  document.querySelector("#facts")!.replaceChildren(...shown.facts.map((fact) => element("li", fact)));
  const head = element("tr", "");
  head.append(element("th", "line", "line"), ...threads.map((thread) => element("th", thread)));
  table.tHead!.replaceChildren(head);
  table.tBodies[0].replaceChildren(
    ...rows.map((row, index) => {
      const line = element("tr", "", ...(row.isCause ? [] : ["aside"]));
      line.append(
        element("td", String(row.line), "line"),
        ...threads.map((_, column) => element("td", column === row.column ? row.text : "", row.kind)),
      );
      line.addEventListener("click", () => go(stopOf(shown, index)));
      return line;
    }),
  );
  const output = shown.output.flatMap(({ thread, lines }) => lines.map((line) => element("li", `${thread}: ${line}`)));
  document.querySelector("#output")!.replaceChildren(...output);
}

/** Moves the page up or down alone: a row that is wider than the page would move it to the side as well. */
function bringIntoSight(row: HTMLElement): void {
  const { top, bottom } = row.getBoundingClientRect();
  const above = top - document.querySelector("header")!.getBoundingClientRect().height;
  const below = bottom - document.documentElement.clientHeight;
  if (above < 0 || below > 0) window.scrollBy(0, above < 0 ? above : Math.min(below, above));
}

function go(to: number): void {
  if (!trace) return;
  at = to;
  const stop = trace.stops[at];
  place.textContent = stop ? `${at + 1} of ${trace.stops.length}` : "no steps";
  [...table.tBodies[0].rows].forEach((row, index) => {
    const isCurrent = stop !== undefined && stop.begin <= index && index < stop.end;
    row.classList.toggle("current", isCurrent);
    if (isCurrent) bringIntoSight(row);
  });
  host.postMessage({ at });
}

for (const button of document.querySelectorAll("button")) {
  button.addEventListener("click", () => trace && go(move(trace, at, button.dataset["move"] as Move)));
}
document.addEventListener("keydown", (event) => {
  const by = KEYS[event.key];
  if (!trace || !by) return;
  event.preventDefault();
  go(move(trace, at, by));
});
window.addEventListener("message", ({ data }: MessageEvent<{ trace: Trace; at: number }>) => {
  trace = data.trace;
  draw(trace);
  go(data.at);
});
host.postMessage({ ready: true });
