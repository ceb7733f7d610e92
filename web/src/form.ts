// The text of the program in CSSAME form.

import { html } from "./dom";

/** Whether a line merges versions: it has no place in the program. */
const isMerge = (line: string) => /^\s*\S+ = (phi|pi|chi)\(.*\)$/.test(line);

/** The lines, those that merge versions marked. */
export function formView(lines: string[]): HTMLElement {
  const rows = lines.map((line) => html("span", isMerge(line) ? { class: "merge" } : {}, `${line}\n`));
  return html("pre", { class: "scroll form", tabindex: 0, role: "region", "aria-label": "the text in CSSAME form" }, ...rows);
}
