// The page: its sections, from the data.

import { plural, verdicts, type Report } from "./data";
import { html, section } from "./dom";
import { formView } from "./form";
import { graphView } from "./graph";
import { bounds } from "./sections/bounds";
import { correlated } from "./sections/correlate";
import { coverage } from "./sections/coverage";
import { executions } from "./sections/executions";
import { findings } from "./sections/findings";
import { futures } from "./sections/futures";
import { races } from "./sections/races";
import { sourceView } from "./source";
import { themeSwitch } from "./theme";

/** What was found, in a few words each. */
export function summary(report: Report): string[] {
  const open = report.findings.filter((finding) => !finding.suppressed);
  const lines = [open.length === 0 ? "nothing found" : plural(open.length, "finding")];
  const suppressed = report.findings.length - open.length;
  if (suppressed > 0) lines.push(`${suppressed} suppressed`);
  if (report.futures) {
    const terms = [...verdicts(report.futures).values()];
    const count = (verdict: string) => terms.filter((one) => one === verdict).length;
    if (report.futures.futures !== null) lines.push(`${report.futures.futures} futures`);
    const parts = ["feasible", "impossible", "not decided"].filter((verdict) => count(verdict) > 0);
    lines.push(terms.length === 0 ? "no read of shared memory" : `${plural(terms.length, "term")}: ${parts.map((verdict) => `${count(verdict)} ${verdict}`).join(", ")}`);
  }
  const undecided = report.commands.filter((command) => !command.complete).map((command) => command.command);
  if (undecided.length > 0) lines.push(`not decided: ${undecided.join(", ")}`);
  return lines;
}

/** What marks a line of the source, and shows it in the window of the source alone. */
function follower(source: HTMLElement): (line: number) => void {
  return (line) => {
    for (const one of source.querySelectorAll("tr.current")) one.classList.remove("current");
    const row = source.querySelector<HTMLElement>(`#L${line}`);
    row?.classList.add("current");
    const box = row?.closest<HTMLElement>(".scroll");
    if (row && box) box.scrollTop = row.offsetTop - box.clientHeight / 2;
  };
}

function header(report: Report, parts: HTMLElement[]): HTMLElement {
  const links = parts.map((part) => html("a", { href: `#${part.id}` }, part.querySelector("h2")?.textContent ?? ""));
  const words = html("p", { class: "summary" }, summary(report).join(" · "));
  return html("header", {}, html("h1", {}, report.file), themeSwitch(), words, html("nav", { "aria-label": "sections" }, ...links));
}

/** What is said of a file without `main`. */
export function noMain(report: Report): HTMLElement | null {
  const note = "The file has no main. Its findings are those of programs that were made for it; they have no execution here, and reads, futures and the graph are those of a program that uses it.";
  return report.has_main ? null : html("p", { class: "note" }, note);
}

/** The whole page. */
export function page(report: Report): HTMLElement {
  const source = section("source", "Source", sourceView(report));
  const shown = executions(report, follower(source));
  const execute = (index: number) => {
    shown.show(index);
    shown.view.scrollIntoView();
    shown.view.querySelector<HTMLElement>(".charted")?.focus({ preventScroll: true });
  };
  const found = findings(report, execute);
  const form = report.form && section("form", "The text in CSSAME form", formView(report.form));
  const graph = report.graph && section("graph", "The graph in CSSAME form", graphView(report));
  const rest = [futures(report), races(report), correlated(report), coverage(report), form, graph].filter((part) => part !== null);
  return html(
    "div",
    {},
    header(report, [source, found, shown.view, ...rest]),
    html("main", {}, bounds(report), noMain(report), html("div", { class: "beside" }, source, html("div", {}, found, shown.view)), ...rest),
    html("footer", {}, html("p", {}, `made by cssame ${report.tool}`)),
  );
}
