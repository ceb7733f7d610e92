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
  for (const read of [...(report.pi?.pis ?? []), ...(report.pi?.single ?? [])]) {
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
  const labels = new Set(shown.terms.map((term) => term.label));
  for (const term of read.terms) {
    const initial = term.def.endsWith("@initial");
    const beside = /@([^@]+:)\d+:\d+$/.exec(term.def)?.[1] ?? "";
    const label = initial ? "initial" : `${term.thread}:${beside}${term.line}`;
    if (labels.has(label)) continue;
    labels.add(label);
    const verdict = known.get(`${read.read} ${term.def}`) ?? "not decided";
    shown.terms.push({ def: term.def, label, verdict, line: initial || placeOf(term.def) === null ? null : term.line });
  }
}

export const WORDS = new Set(
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

function termView(term: Reads["terms"][number]): HTMLElement {
  const mark = { impossible: "✗ ", feasible: "✓ " }[term.verdict] ?? "? ";
  const name = html("span", {}, mark + term.label, html("span", { class: "hidden" }, ` (${term.verdict})`));
  const attributes = { class: `term ${term.verdict.replace(" ", "-")}`, title: `${term.def}: ${term.verdict}` };
  return term.line === null ? html("span", attributes, name) : html("a", { ...attributes, href: `#L${term.line}` }, name);
}

/** Terms of a read that are shown in its line: the table of terms has all. */
const TERMS = 12;

function termsView(reads: Reads[]): HTMLElement | false {
  const more = (count: number) => count > 0 && html("a", { href: "#futures" }, `and ${count} more`);
  const lists = reads.map((read) => {
    const terms = read.terms.slice(0, TERMS).map(termView);
    return html("span", { class: "read" }, html("span", { class: "name" }, `${read.text} ←`), ...terms, more(read.terms.length - TERMS));
  });
  return lists.length > 0 && html("div", { class: "terms" }, ...lists);
}

/** The findings of each line, by their places in the list. */
function findingsByLine(report: Report): Map<number, number[]> {
  const lines = new Map<number, number[]>();
  report.findings.forEach(({ line }, index) => {
    if (line !== null) lines.set(line, [...(lines.get(line) ?? []), index]);
  });
  return lines;
}

function marks(report: Report, findings: number[]): HTMLElement[] {
  // One mark for a line, that of its gravest finding.
  const rank = ["error", "warning", "note"];
  const all = findings.map((index) => ({ index, finding: report.findings[index]! })).filter(({ finding }) => !finding.suppressed);
  all.sort((a, b) => rank.indexOf(a.finding.severity) - rank.indexOf(b.finding.severity));
  const [first] = all;
  if (!first) return [];
  const title = all.map(({ finding }) => `${finding.severity} ${finding.code}: ${finding.message}`).join("\n");
  return [html("a", { class: `mark ${first.finding.severity}`, href: `#finding-${first.index + 1}`, title }, "●", html("span", { class: "hidden" }, title))];
}

/** The table of the source. */
export function sourceView(report: Report): HTMLElement {
  const [reads, findings] = [readsByLine(report), findingsByLine(report)];
  const body = html("tbody");
  report.source.replace(/\n$/, "").split("\n").forEach((text, index) => {
    const line = index + 1;
    const mark = html("td", { class: "marks" }, ...marks(report, findings.get(line) ?? []));
    const code = html("td", { class: "code" }, html("code", {}, ...coloured(text)), termsView(reads.get(line) ?? []));
    body.append(html("tr", { id: `L${line}` }, html("th", { scope: "row" }, String(line)), mark, code));
  });
  const titles = ["line", "findings", "code, and which writes its reads of shared memory may see"];
  const head = html("thead", {}, html("tr", {}, ...titles.map((text) => html("th", { scope: "col" }, text))));
  const table = html("table", { class: "source" }, html("caption", { class: "hidden" }, "The source"), head, body);
  const window = html("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "source" }, table);
  const key = html("p", { class: "key" }, "Behind ← are the writes that a read may see, as thread:line: ✓ feasible, ✗ impossible, ? not decided. A click leads to the write.");
  return html("div", {}, window, reads.size > 0 && key);
}
