// What random executions cover: patterns, terms and pairs of methods.

import { plural, type Coverage, type Covered, type Report } from "../data";
import { html, section } from "../dom";
import { bar, table, type Cell, type Part } from "../tables";

/** The patterns of docs/coverage.md, by number from 1. */
export const PATTERNS = [
  "a reads, b writes",
  "a writes, b reads",
  "a writes, b writes",
  "a reads, b writes, a reads",
  "a writes, b writes, a reads",
  "a writes, b reads, a writes",
  "a reads, b writes, a writes",
  "a writes, b writes, a writes",
  "a writes x, b writes x, b writes y, a writes y",
  "a writes x, b writes y, b writes x, a writes y",
  "a writes x, b writes y, a writes y, b writes x",
  "a writes x, b reads x, b reads y, a writes y",
  "a writes x, b reads y, b reads x, a writes y",
  "a reads x, b writes x, b writes y, a reads y",
  "a reads x, b writes y, b writes x, a reads y",
  "a reads x, b writes y, a reads y, b writes x",
  "a writes x, b reads y, a writes y, b reads x",
];

/** The parts of what is not known to be impossible. */
export function partsOf({ total, feasible, infeasible, covered }: Covered): Part[] {
  const open = feasible === null ? 0 : feasible - covered;
  const unknown = feasible === null ? total - (infeasible ?? 0) - covered : 0;
  return [
    { count: covered, kind: "done", word: "covered" },
    { count: open, kind: "open", word: "not covered" },
    { count: unknown, kind: "unknown", word: "undecided" },
  ];
}

function patterns(coverage: Coverage): (HTMLElement | false)[] {
  const rows = Object.entries(coverage.patterns.by_pattern).filter(([, one]) => one.total > 0);
  const isPossible = (one: Covered) => partsOf(one).some((part) => part.count > 0);
  const possible = rows.filter(([, one]) => isPossible(one));
  const impossible = rows.filter(([, one]) => !isPossible(one)).map(([number]) => number);
  const name = (number: string) => `${number}: ${PATTERNS[Number(number) - 1] ?? ""}`;
  const bars = possible.map(([number, one]) => bar(name(number), partsOf(one)));
  return [
    html("div", { class: "bars" }, bar("all patterns", partsOf(coverage.patterns)), ...bars),
    impossible.length > 0 && html("p", {}, `No instance of ${impossible.length === 1 ? "pattern" : "patterns"} ${impossible.join(", ")} is possible.`),
  ];
}

function others({ pi_terms, method_pairs }: Coverage): HTMLElement | false {
  const bars: HTMLElement[] = [];
  if (pi_terms) {
    const infeasible = pi_terms.feasible === null ? null : pi_terms.static - pi_terms.feasible;
    bars.push(bar("terms of reads", partsOf({ total: pi_terms.static, infeasible, ...pi_terms })));
  }
  if (method_pairs.total > 0) {
    const { total, covered } = method_pairs;
    bars.push(bar("pairs of methods", partsOf({ total, covered, feasible: null, infeasible: null })));
  }
  return bars.length > 0 && html("div", { class: "bars" }, ...bars);
}

function key(): HTMLElement {
  const entries = [["done", "covered"], ["open", "possible, not covered"], ["unknown", "undecided: not covered, and not known to be possible"]];
  return html("ul", { class: "key" }, ...entries.map(([kind, text]) => html("li", {}, html("span", { class: `swatch ${kind}` }), text!)));
}

export function coverage(report: Report): HTMLElement | null {
  const of = report.coverage;
  if (!of) return null;
  const { covered, feasible, total, infeasible } = of.patterns;
  const sum = feasible === null ? `${total - (infeasible ?? 0)} that are not known to be impossible` : `${feasible} that are possible`;
  const variables = of.variables.map((one): Cell[] => [one.variable, one.reads, one.writes, one.total, one.covered]);
  const missing = of.missing.map((one): Cell[] => [one.pattern, one.steps.map((step) => `${step.thread}: ${step.kind} ${step.access}`).join(", ")]);
  const pairs = of.method_pairs.pairs.map((one): Cell[] => [one.methods.join(", "), one.covered ? "covered" : "not covered", one.executions]);
  return section(
    "coverage",
    "Memory-access patterns",
    html("p", {}, `${plural(of.executions, "random execution")} cover ${covered} of ${plural(total, "instance")}: of ${sum}.`),
    ...patterns(of),
    html("h3", {}, "Terms and methods"),
    others(of) || html("p", {}, "There are none to cover."),
    key(),
    pairs.length > 0 && table("Pairs of methods that run at once", ["methods", "verdict", "executions"], pairs),
    variables.length > 0 && table("Variables", ["variable", "reads", "writes", "instances", "covered"], variables),
    missing.length > 0 && table("Instances that are not covered and not known to be impossible", ["pattern", "accesses"], missing),
  );
}
