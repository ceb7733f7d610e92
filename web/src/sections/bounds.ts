// What was not looked at, not decided, or is too large for the page.

import type { LeftOut, Report } from "../data";
import { html } from "../dom";

/** A sentence on something that is too large. */
export function sentence({ what, shown, total }: LeftOut): string {
  const number = (count: number) => count.toLocaleString("en");
  switch (what) {
    case "findings":
      return `Only the first ${number(shown)} of ${number(total)} findings are listed.`;
    case "executions":
      return `Of ${number(total)} findings with an execution, ${number(shown)} have it here; the others are too long or too many. cssame run --schedule shows them.`;
    case "races":
      return `Only ${number(shown)} of ${number(total)} pairs of accesses are listed; cssame races has all.`;
    case "coverage":
      return `There are ${number(total)} instances of memory-access patterns: too many to count which of them executions cover.`;
    case "graph":
      return `The graph has ${number(total)} instructions and is too large for a page; cssame ir --emit cssame prints it.`;
    default:
      return `${what}: ${number(shown)} of ${number(total)} are here.`;
  }
}

export function bounds(report: Report): HTMLElement | null {
  const limits = report.bounds.map((bound) => html("li", {}, bound.message, ...bound.notes.map((note) => html("span", { class: "note" }, ` (${note})`))));
  const undecided = report.commands.filter((command) => !command.complete).map((command) => command.command);
  const open = undecided.length > 0 ? [html("li", {}, `${undecided.join(" and ")} could not decide everything: what is not listed may still be possible.`)] : [];
  const missing = report.left_out.map((of) => html("li", {}, sentence(of)));
  const all = [...limits, ...open, ...missing];
  if (all.length === 0) return null;
  return html("section", { class: "bounds", "aria-labelledby": "bounds-title" }, html("h2", { id: "bounds-title" }, "Not all was looked at"), html("ul", {}, ...all));
}
