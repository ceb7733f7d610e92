// Findings of check, races and futures.

import { plural, type Finding, type Report } from "../data";
import { html, inParts, section, toLine } from "../dom";

/** Findings that are shown at once: the executions stand below them. */
const FIRST = 20;

/** A link to a line, where the file has it: the `main` that is put behind a file without one is not shown. */
function lineOf(report: Report, line: number): HTMLElement {
  const isShown = line <= report.source.replace(/\n$/, "").split("\n").length;
  return isShown ? toLine(line) : html("span", { title: "of the main that was put behind the file" }, `line ${line}`);
}

function findingView(report: Report, finding: Finding, index: number, execute: (index: number) => void): HTMLElement {
  const labels = finding.labels.filter((label) => label.message !== "");
  const { execution } = finding;
  const level = finding.suppressed ? "suppressed" : finding.severity;
  const rows = execution === null ? 0 : (report.executions[execution]?.rows.length ?? 0);
  return html(
    "article",
    { class: `finding of-${level}`, id: `finding-${index + 1}`, "aria-labelledby": `finding-${index + 1}-title` },
    html("h3", { id: `finding-${index + 1}-title` }, html("span", { class: "badge" }, level), ` ${finding.code} `, html("span", { class: "message" }, finding.message)),
    html("p", { class: "from" }, `found by ${finding.command}`, finding.line ? ", " : null, finding.line ? lineOf(report, finding.line) : null),
    labels.length > 0 && html("ul", {}, ...labels.map((label) => html("li", {}, lineOf(report, label.line), `: ${label.message}`))),
    ...finding.notes.map((note) => html("p", { class: "note" }, note)),
    finding.help !== null && html("p", { class: "help" }, `help: ${finding.help}`),
    execution !== null && html("button", { type: "button", class: "show", click: () => execute(execution) }, `show its execution (${plural(rows, "row")})`),
  );
}

/** The findings; `execute` is told which execution somebody wants to see. */
export function findings(report: Report, execute: (index: number) => void): HTMLElement {
  const views = report.findings.map((finding, index) => () => findingView(report, finding, index, execute));
  const shown = views.length > 0 ? inParts(views, FIRST, "findings") : html("p", {}, `${report.commands.map((command) => command.command).join(" and ")} ${report.commands.length === 1 ? "has" : "have"} found nothing.`);
  return section("findings", "Findings", shown);
}
