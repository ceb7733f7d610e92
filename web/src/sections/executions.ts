// Executions of findings, one at a time.

import type { Report } from "../data";
import { html, section } from "../dom";
import { stepper } from "../stepper";

/** The section, and what shows one of the executions. */
export interface Executions {
  view: HTMLElement;
  show: (index: number) => void;
}

/** The executions; `follow` is told the line of the row that is shown. */
export function executions(report: Report, follow: (line: number) => void): Executions {
  const place = html("div");
  const choice = html("select", { id: "execution", change: (event) => show(Number((event.target as HTMLSelectElement).value)) });
  report.executions.forEach((execution, index) => {
    const finding = report.findings.find((one) => one.execution === index);
    choice.append(html("option", { value: index }, `${index + 1}: ${finding ? `${finding.code} ${finding.message}` : execution.status}`));
  });
  const show = (index: number) => {
    const execution = report.executions[index];
    if (!execution) return;
    (choice as HTMLSelectElement).value = String(index);
    place.replaceChildren(stepper(execution, follow));
  };
  const bar = html("div", { class: "bar" }, html("label", { for: "execution" }, "execution of"), choice);
  const view = section("executions", "Executions", ...(report.executions.length > 0 ? [bar, place] : [html("p", {}, "No finding has an execution here.")]));
  show(0);
  return { view, show };
}
