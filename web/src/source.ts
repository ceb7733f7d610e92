// The source: its lines, and behind each read of shared memory the writes that it may see.

import { placeOf, verdicts, type PiRead, type Report } from "./data";
import { html } from "./dom";

/** What is shown of the reads of a line. */
export interface Reads {
  line: number;
  text: string;
  terms: { def: string; label: string; verdict: string; line: number | null }[];
}

/** The reads of each line, those of all contexts together. */
export function readsByLine(report: Report): Map<number, Reads[]> {
  const known = verdicts(report.futures);
  const lines = new Map<number, Map<string, Reads>>();
  for (const read of report.pi?.pis ?? []) {
    const place = placeOf(read.read);
    if (!place) continue;
    const ofLine = lines.get(place.line) ?? new Map<string, Reads>();
    lines.set(place.line, ofLine);
    const shown = ofLine.get(read.read) ?? { line: place.line, text: read.variable, terms: [] };
    ofLine.set(read.read, shown);
    addTerms(shown, read, known);
  }
  return new Map([...lines].map(([line, reads]) => [line, [...reads.values()]]));
}

function addTerms(shown: Reads, read: PiRead, known: Map<string, string>): void {
  for (const term of read.terms) {
    if (shown.terms.some((one) => one.def === term.def && one.label.startsWith(`${term.thread}:`))) continue;
    const initial = term.def.endsWith("@initial");
    const label = initial ? "initial" : `${term.thread}:${term.line}`;
    if (shown.terms.some((one) => one.label === label)) continue;
    const verdict = known.get(`${read.read} ${term.def}`) ?? "not decided";
    shown.terms.push({ def: term.def, label, verdict, line: initial ? null : term.line });
  }
}

const WORDS = new Set(
  ("atomic barrier bool break case class cobegin coend cond const continue default do double else enum event extern " +
    "fallthrough false for if in input int lock long parfor private public reentrant return rwlock sem skip spawn string " +
    "switch synchronized this thread true void while").split(" "),
);

/** A line of the source with words, numbers, texts and line comments marked. */
export function coloured(line: string): Node[] {
  const nodes: Node[] = [];
  const pattern = /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*"?)|([A-Za-z_]\w*)|(\d[\w.]*)|([^A-Za-z_\d"/]+|\/)/g;
  for (const [text, comment, quoted, word, number] of line.matchAll(pattern)) {
    const kind = comment ? "comment" : quoted ? "text" : number ? "number" : word && WORDS.has(word) ? "word" : null;
    nodes.push(kind ? html("span", { class: kind }, text) : document.createTextNode(text));
  }
  return nodes;
}

/** The table of the source. */
export function sourceView(report: Report): HTMLElement {
  const reads = readsByLine(report);
  const body = html("tbody");
  report.source.replace(/\n$/, "").split("\n").forEach((text, index) => {
    const line = index + 1;
    const terms = html("div", { class: "terms" });
    for (const read of reads.get(line) ?? []) {
      const list = html("span", { class: "read" }, html("span", { class: "name" }, `${read.text} ←`));
      for (const term of read.terms) {
        const title = `${term.def}: ${term.verdict}`;
        const attributes = { class: `term ${term.verdict.replace(" ", "-")}`, title };
        const mark = term.verdict === "impossible" ? "✗ " : term.verdict === "feasible" ? "✓ " : "? ";
        const name = html("span", {}, mark + term.label, html("span", { class: "hidden" }, ` (${term.verdict})`));
        list.append(term.line === null ? html("span", attributes, name) : html("a", { ...attributes, href: `#L${term.line}` }, name));
      }
      terms.append(list);
    }
    const code = html("code", {}, ...coloured(text));
    body.append(html("tr", { id: `L${line}` }, html("th", { scope: "row" }, String(line)), html("td", { class: "code" }, code, terms.hasChildNodes() && terms)));
  });
  const head = html("thead", {}, html("tr", {}, ...["line", "code, and which writes its reads of shared memory may see"].map((text) => html("th", { scope: "col" }, text))));
  const table = html("table", { class: "source" }, html("caption", { class: "hidden" }, "The source"), head, body);
  return html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "source" }, table);
}
