// What an answer has found, in a few words: "1 deadlock, 2 races".

import { plural, type Finding, type Race } from "../data";
import type { Ended } from "./server";

/** What findings are called where they are counted, in this order; warnings of no kind come last. */
const NOUNS: [string, RegExp][] = [
  ["failure", /^CS041[01345]$/],
  ["deadlock", /^CS0412$/],
  ["execution without end", /^CS041[678]$/],
  ["race", /^CS040[134]$/],
  ["torn result", /^CS0421$/],
];

const ENDS: Record<string, string> = { ok: "it came to its end", deadlock: "1 deadlock", endless: "1 execution without end", stopped: "it was followed as far as asked" };

function counted(counts: [number, string][]): string {
  // "executions without end": the plural is that of the first word.
  const words = (count: number, noun: string) => noun.replace(/^torn \w+|^\w+/, (word) => plural(count, word));
  return counts
    .filter(([count]) => count > 0)
    .map(([count, noun]) => words(count, noun))
    .join(", ");
}

function ofFindings(findings: Finding[]): string {
  const open = findings.filter((finding) => !finding.suppressed);
  const kinds = NOUNS.map(([noun, codes]): [number, string] => [open.filter((finding) => codes.test(finding.code)).length, noun]);
  const named = kinds.reduce((sum, [count]) => sum + count, 0);
  return counted([...kinds, [open.length - named, "warning"]]);
}

function length(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

/** The words for the end of a question; where it has found something, what. */
export function verdict({ status, answer }: Ended): string {
  if (status === null) return "it was ended";
  if (status === 2) return "there is no answer";
  const undecided = status === 3 ? "not all is decided" : "";
  const races = ((answer?.potential ?? []) as Race[]).filter((race) => race.status === "real").length;
  const found = Array.isArray(answer?.findings)
    ? ofFindings(answer.findings as Finding[])
    : counted([[length(answer?.failures), "failure"], [length(answer?.deadlocks), "deadlock"], [length(answer?.endless), "execution without end"], [races, "race"]]);
  const ended = typeof answer?.status === "string" ? (ENDS[answer.status] ?? "1 failure") : "";
  const nothing = status === 0 ? "nothing was found" : status === 1 ? "it has findings" : "";
  return [found || ended || nothing, undecided].filter((words) => words !== "").join("; ");
}
