// The page: its sections, from the data.

import { placeOf, plural, verdicts, type Coverage, type Finding, type Report } from "./data";
import { stepper } from "./chart";
import { html, section, toLine } from "./dom";
import { graphView } from "./graph";
import { sourceView } from "./source";
import { bar, table, type Cell } from "./tables";
import { themeSwitch } from "./theme";

function place(name: string): Cell {
  const found = placeOf(name);
  return found ? html("a", { href: `#L${found.line}`, class: "line" }, name) : name;
}

function percent(part: number): string {
  return `${Math.round(part * 100)} %`;
}

function findingView(report: Report, finding: Finding, execute: (index: number) => void): HTMLElement {
  const labels = finding.labels.filter((label) => label.message !== "");
  const { execution } = finding;
  return html(
    "article",
    { class: `finding ${finding.suppressed ? "suppressed" : finding.severity}` },
    html(
      "h3",
      {},
      html("span", { class: "badge" }, finding.suppressed ? "suppressed" : finding.severity),
      ` ${finding.code} `,
      html("span", { class: "message" }, finding.message),
    ),
    html("p", { class: "from" }, `found by ${finding.command}`, finding.line ? ", " : null, finding.line ? toLine(finding.line) : null),
    labels.length > 0 && html("ul", {}, ...labels.map((label) => html("li", {}, toLine(label.line), `: ${label.message}`))),
    ...finding.notes.map((note) => html("p", { class: "note" }, note)),
    finding.help !== null && html("p", { class: "help" }, `help: ${finding.help}`),
    execution !== null &&
      html("button", { type: "button", class: "show", click: () => execute(execution) }, `show its execution (${plural(report.executions[execution]?.rows.length ?? 0, "row")})`),
  );
}

function summary(report: Report): string[] {
  const open = report.findings.filter((finding) => !finding.suppressed);
  const lines = [open.length === 0 ? "nothing found" : plural(open.length, "finding")];
  const suppressed = report.findings.length - open.length;
  if (suppressed > 0) lines.push(`${suppressed} suppressed`);
  if (report.futures) {
    const terms = [...verdicts(report.futures).values()];
    const count = (verdict: string) => terms.filter((one) => one === verdict).length;
    if (report.futures.futures !== null) lines.push(`${report.futures.futures} futures`);
    const parts = ["feasible", "impossible", "not decided"].filter((verdict) => count(verdict) > 0);
    lines.push(`${plural(terms.length, "term")}: ${parts.map((verdict) => `${count(verdict)} ${verdict}`).join(", ") || "no read of shared memory"}`);
  }
  const undecided = report.commands.filter((command) => !command.complete).map((command) => command.command);
  if (undecided.length > 0) lines.push(`not decided: ${undecided.join(", ")}`);
  return lines;
}

function findings(report: Report, execute: (index: number) => void): HTMLElement {
  const shown = report.findings.map((finding) => findingView(report, finding, execute));
  return section("findings", "Findings", ...(shown.length > 0 ? shown : [html("p", {}, "check, races and futures have found nothing.")]));
}

function executions(report: Report, follow: (line: number) => void): { view: HTMLElement; show: (index: number) => void } {
  const place = html("div");
  const names = report.executions.map((execution, index) => {
    const finding = report.findings.find((one) => one.execution === index);
    return `${index + 1}: ${finding ? `${finding.code} ${finding.message}` : execution.status}`;
  });
  const choice = html("select", { id: "execution", change: (event) => show(Number((event.target as HTMLSelectElement).value)) });
  names.forEach((name, index) => choice.append(html("option", { value: index }, name)));
  const show = (index: number) => {
    const execution = report.executions[index];
    if (!execution) return;
    (choice as HTMLSelectElement).value = String(index);
    place.replaceChildren(stepper(execution, follow));
  };
  const empty = "No finding has an execution.";
  const bar = html("div", { class: "bar" }, html("label", { for: "execution" }, "execution of"), choice);
  const view = section("executions", "Executions", ...(names.length > 0 ? [bar, place] : [html("p", {}, empty)]));
  show(0);
  return { view, show };
}

function futures(report: Report): HTMLElement | null {
  if (!report.futures) return null;
  const known = verdicts(report.futures);
  const terms = [...known].map(([key, verdict]): Cell[] => {
    const [read = "", write = ""] = key.split(" ");
    return [place(read), place(write), verdict];
  });
  const outcomes = report.futures.outcomes.map((outcome, index): Cell[] => [index + 1, outcome.status, outcome.output.join(" ⏎ ") || "nothing printed", outcome.message ?? ""]);
  return section(
    "futures",
    "What can happen",
    table("Terms: which write a read may see", ["read", "write", "verdict"], terms),
    table("Outcomes", ["number", "end", "output", "message"], outcomes),
  );
}

function races(report: Report): HTMLElement | null {
  if (!report.races) return null;
  const rows = report.races.potential.map((race): Cell[] => {
    const harm = race.harmful === null ? "" : race.harmful ? "harmful" : "no failure seen";
    return [place(race.a), place(race.b), race.variable, race.status, harm, `${race.hits} of ${race.trials}`];
  });
  return section("races", "Races", rows.length > 0 ? table("Pairs of accesses that may race", ["one", "other", "variable", "status", "harm", "hits"], rows) : html("p", {}, "No two accesses may race."));
}

function correlated(report: Report): HTMLElement | null {
  if (!report.correlate) return null;
  const correlations = report.correlate.correlations.map((one): Cell[] => [one.variables.join(", "), percent(one.probability), `${one.writes_in_pattern} of ${one.writes}`]);
  const pairs = report.correlate.pairs.map((pair): Cell[] => [pair.methods.join(", "), pair.rank.toFixed(3), pair.endangered, pair.selected ? "endangered" : ""]);
  return section(
    "correlate",
    "Variables that belong together",
    correlations.length > 0 ? table("Correlated variables", ["variables", "probability", "writes in a pattern"], correlations) : html("p", {}, "No variables are correlated."),
    pairs.length > 0 && table("Pairs of methods, ranked from the text alone", ["methods", "rank", "endangered accesses", ""], pairs),
  );
}

function covered(coverage: Coverage): HTMLElement {
  const parts = (one: { total: number; feasible: number | null; infeasible: number | null; covered: number }) => {
    const impossible = one.infeasible ?? 0;
    return [
      { count: one.covered, kind: "done", word: "covered" },
      { count: Math.max(0, one.total - impossible - one.covered), kind: "open", word: "not covered" },
      { count: impossible, kind: "never", word: "impossible" },
    ];
  };
  const byPattern = Object.entries(coverage.patterns.by_pattern).filter(([, one]) => one.total > 0);
  const rows = coverage.variables.map((one): Cell[] => [one.variable, one.reads, one.writes, one.total, one.covered]);
  const missing = coverage.missing.filter((one) => one.reason === null).map((one): Cell[] => [one.pattern, one.steps.map((step) => `${step.thread}: ${step.kind} ${step.access}`).join(", ")]);
  return section(
    "coverage",
    "Memory-access patterns",
    html("p", {}, `${plural(coverage.executions, "random execution")} cover ${coverage.patterns.covered} of ${coverage.patterns.feasible ?? coverage.patterns.total} that ${coverage.patterns.feasible === null ? "are counted" : "can be covered"}.`),
    html("div", { class: "bars" }, bar("all", parts(coverage.patterns)), ...byPattern.map(([name, one]) => bar(`pattern ${name}`, parts(one)))),
    html("p", { class: "key" }, html("span", { class: "swatch done" }), " covered   ", html("span", { class: "swatch open" }), " not covered   ", html("span", { class: "swatch never" }), " impossible"),
    rows.length > 0 && table("Variables", ["variable", "reads", "writes", "instances", "covered"], rows),
    missing.length > 0 && table("Instances that no execution has covered", ["pattern", "accesses"], missing),
  );
}

/** The whole page. */
export function page(report: Report): HTMLElement {
  const follow = (line: number) => {
    for (const one of document.querySelectorAll(".source tr.current")) one.classList.remove("current");
    const row = document.getElementById(`L${line}`);
    row?.classList.add("current");
    const box = row?.closest<HTMLElement>(".scroll");
    if (row && box) box.scrollTop = row.offsetTop - box.clientHeight / 2;
  };
  const shown = executions(report, follow);
  const execute = (index: number) => {
    shown.show(index);
    shown.view.scrollIntoView();
    shown.view.querySelector<HTMLElement>(".charted")?.focus({ preventScroll: true });
  };
  const graph = report.graph ? section("graph", "The graph in CSSAME form", graphView(report)) : null;
  const source = section("source", "Source", sourceView(report));
  const parts = [findings(report, execute), futures(report), races(report), correlated(report), report.coverage && covered(report.coverage), graph];
  const all = [parts[0], source, shown.view, ...parts.slice(1)].filter((part): part is HTMLElement => part instanceof HTMLElement);
  const links = all.map((part) => html("a", { href: `#${part.id}` }, part.querySelector("h2")?.textContent ?? ""));
  const bounds = report.bounds.map((bound) => html("li", {}, bound.message, ...bound.notes.map((note) => html("span", { class: "note" }, ` ${note}`))));
  return html(
    "div",
    {},
    html(
      "header",
      {},
      html("h1", {}, report.file),
      themeSwitch(),
      html("p", { class: "summary" }, summary(report).join(" · ")),
      html("nav", { "aria-label": "sections" }, ...links),
    ),
    html(
      "main",
      {},
      bounds.length > 0 && html("section", { class: "bounds", "aria-label": "not looked at" }, html("h2", {}, "Not all was looked at"), html("ul", {}, ...bounds)),
      report.has_main ? null : html("p", { class: "note" }, "The file has no main: reads, futures and the graph are those of a program that uses it."),
      html("div", { class: "beside" }, source, html("div", {}, all[0], shown.view)),
      ...all.filter((part) => part !== source && part !== shown.view && part !== all[0]),
    ),
    html("footer", {}, html("p", {}, `made by cssame ${report.tool}`)),
  );
}
