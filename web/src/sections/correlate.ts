// Variables that belong together, and pairs of methods that endanger them.

import type { Report } from "../data";
import { html, section } from "../dom";
import { table, type Cell } from "../tables";

function percent(part: number): string {
  return `${Math.round(part * 100)} %`;
}

export function correlated(report: Report): HTMLElement | null {
  if (!report.correlate) return null;
  const correlations = report.correlate.correlations.map((one): Cell[] => [one.variables.join(", "), percent(one.probability), `${one.writes_in_pattern} of ${one.writes}`]);
  const pairs = report.correlate.pairs.map((pair): Cell[] => [pair.methods.join(", "), pair.rank.toFixed(3), pair.endangered, pair.selected ? "endangered" : ""]);
  return section(
    "correlate",
    "Variables that belong together",
    correlations.length > 0 ? table("Correlated variables", ["variables", "probability", "writes in a pattern"], correlations) : html("p", {}, "No variables are correlated."),
    pairs.length > 0 && table("Pairs of methods, ranked from the text alone", ["methods", "rank", "endangered accesses", "verdict"], pairs),
  );
}
