// What a question has found, as the sections of the report and some of its own.

import type { Blocked, Execution, Futures, Race, Replay, Report, Step } from "../data";
import { html, section, toLine } from "../dom";
import { formView } from "../form";
import { graphView } from "../graph";
import { noMain, summary } from "../page";
import { bounds } from "../sections/bounds";
import { correlated } from "../sections/correlate";
import { coverage } from "../sections/coverage";
import { executions } from "../sections/executions";
import { findings } from "../sections/findings";
import { futures } from "../sections/futures";
import { races } from "../sections/races";
import { waits } from "../steps";
import { stepper } from "../stepper";
import { packageView } from "./package";
import type { Ended } from "./server";

/** What an answer is shown with. */
export interface Shown {
  /** The program that was asked about. */
  text: string;
  follow: (line: number) => void;
  replay: Replay;
}

interface Failure {
  status: string;
  message: string | null;
  line: number | null;
  thread: string | null;
  facts: string[];
  schedule: Step[] | null;
}

interface Deadlock {
  threads: Blocked[];
  schedule: Step[] | null;
}

interface Endless {
  kind: string;
  threads: { thread: string; line: number }[];
  schedule: Step[];
  cycle: Step[];
}

/** What `futures` and `races` have found. */
interface Found {
  failures: Failure[];
  deadlocks: Deadlock[];
  endless?: Endless[];
  bound: string | null;
}

interface Message {
  severity: string;
  code: string;
  message: string;
  line: number | null;
}

/** Where an answer is a part of a report, the rest of it is empty. */
function reportOf(text: string, parts: Partial<Report>): Report {
  const none: Report = {
    ...{ file: "", tool: "", source: text, has_main: true, commands: [], bounds: [], findings: [], pi: null, futures: null },
    ...{ races: null, correlate: null, coverage: null, graph: null, form: null, executions: [], left_out: [] },
  };
  return { ...none, ...parts };
}

function present(views: (HTMLElement | null | false)[]): HTMLElement[] {
  return views.filter((view) => view instanceof HTMLElement);
}

function reportViews(report: Report, { follow }: Shown): HTMLElement[] {
  const shown = executions(report, follow);
  const execute = (index: number) => {
    shown.show(index);
    shown.view.scrollIntoView();
    shown.view.querySelector<HTMLElement>(".charted")?.focus({ preventScroll: true });
  };
  const said = html("p", { class: "summary" }, summary(report).join(" · "));
  const form = report.form && section("form", "The text in CSSAME form", formView(report.form));
  const graph = report.graph && section("graph", "The graph in CSSAME form", graphView(report));
  const rest = [futures(report), races(report), correlated(report), coverage(report), form, graph];
  return present([said, bounds(report), noMain(report), findings(report, execute), shown.view, ...rest]);
}

function foundView({ failures, deadlocks, endless, bound }: Found, replay: Replay): HTMLElement {
  const item = (text: string, line: number | null, steps: Step[] | null, cycle?: number) =>
    html("li", {}, text, line === null ? null : ", ", line === null ? null : toLine(line), " ", steps && html("button", { type: "button", class: "show", click: () => replay(steps, cycle) }, "show"));
  const facts = (all: string[]) => (all.length > 0 ? ` (${all.join(", ")})` : "");
  const items = [
    ...failures.map(({ status, message, line, thread, facts: known, schedule }) => item(`${status}${thread === null ? "" : ` in ${thread}`}: ${message ?? ""}${facts(known)}`, line, schedule)),
    ...deadlocks.map(({ threads, schedule }) => item(`deadlock: ${threads.map(waits).join("; ")}`, null, schedule)),
    ...(endless ?? []).map(({ kind, threads, schedule, cycle }) => item(`${kind}: ${threads.map((thread) => `${thread.thread} at line ${thread.line}`).join(", ")}`, null, [...schedule, ...cycle], schedule.length)),
  ];
  const open = bound === null ? null : html("p", { class: "open" }, `A bound was hit (${bound}): what is not listed may still be possible.`);
  return section("found", "Failures, deadlocks, executions without end", open ?? false, items.length > 0 ? html("ul", {}, ...items) : html("p", {}, "None was found."));
}

function messagesView(messages: Message[]): HTMLElement {
  const items = messages.map(({ severity, code, message, line }) => html("li", {}, `${severity} ${code}: ${message}`, line === null ? null : ", ", line === null ? null : toLine(line)));
  return section("found", "There is no answer", html("ul", {}, ...items));
}

function viewsOf(command: string, ended: Ended, shown: Shown): HTMLElement[] {
  const { answer, files } = ended;
  if (ended.text !== undefined && ended.status !== null) return [section("text", "As in a terminal", html("pre", { class: "terminal" }, ended.text.trimEnd() || "Nothing is printed."))];
  if (answer === null) {
    const why = ended.stopped ? "It was stopped before it knew anything." : ended.status === null ? "It was ended: it took more than it may." : "There is no answer.";
    return [html("p", { class: "open" }, why)];
  }
  if (Array.isArray(answer.diagnostics) && answer.status === undefined) return [messagesView(answer.diagnostics as Message[])];
  const { text, follow, replay } = shown;
  switch (command) {
    case "report":
      return reportViews({ ...(answer as unknown as Report), source: text }, shown);
    case "run":
    case "replay":
      return [section("executions", "An execution", stepper(answer as unknown as Execution, follow))];
    case "futures":
      return present([foundView(answer as unknown as Found, replay), futures(reportOf(text, { futures: answer as unknown as Futures }), replay)]);
    case "races":
      return present([races(reportOf(text, { races: answer as unknown as { potential: Race[] } }), replay), foundView(answer as unknown as Found, replay)]);
    default:
      return [packageView(answer, files)];
  }
}

/** The views of an answer, one below the other. */
export function answerView(command: string, ended: Ended, shown: Shown): HTMLElement {
  const beside = ended.complaint.trim();
  return html("div", { class: `answer of-${command}` }, ...viewsOf(command, ended, shown), beside !== "" && html("pre", { class: "note" }, beside));
}
