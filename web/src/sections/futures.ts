// What can happen: terms and outcomes.

import { verdicts, type Replay, type Report, type Step } from "../data";
import { html, section, toExecution, toPlace } from "../dom";
import { table, type Cell } from "../tables";

/** Terms and outcomes; with `replay` there is a button for each that has an execution. */
export function futures(report: Report, replay?: Replay): HTMLElement | null {
  if (!report.futures) return null;
  const shown = new Map<string, Step[]>();
  for (const { read, def, schedule } of report.futures.terms) if (schedule && !shown.has(`${read} ${def}`)) shown.set(`${read} ${def}`, schedule);
  const extra = replay ? ["execution"] : [];
  const { outcomes, decided, endless_complete } = report.futures;
  const terms = [...verdicts(report.futures)].map(([key, verdict]): Cell[] => {
    const [read = "", write = ""] = key.split(" ");
    return [toPlace(read), toPlace(write), verdict, ...(replay ? [toExecution(replay, shown.get(key))] : [])];
  });
  const hasMessages = outcomes.some((outcome) => outcome.message !== null);
  const rows = outcomes.map((outcome, index): Cell[] => [index + 1, outcome.status, outcome.output.join(" ⏎ ") || "nothing printed", ...(hasMessages ? [outcome.message ?? ""] : []), ...(replay ? [toExecution(replay, outcome.schedule)] : [])]);
  const open = decided ? null : "Not all was looked at: there may be more outcomes, failures and deadlocks.";
  const endless = endless_complete ? null : "Whether it can run for ever is not decided.";
  return section(
    "futures",
    "What can happen",
    open && html("p", { class: "open" }, open),
    endless && html("p", { class: "open" }, endless),
    terms.length > 0 ? table("Terms: which write a read may see", ["read", "write", "verdict", ...extra], terms) : html("p", {}, "No read of shared memory has a term."),
    table("Outcomes", ["number", "end", "output", ...(hasMessages ? ["message"] : []), ...extra], rows),
  );
}
