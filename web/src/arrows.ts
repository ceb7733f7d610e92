// Why a row of an execution comes after rows of other threads.

import type { Execution, Row } from "./data";

/** What an arrow of a sequence chart stands for. */
export type Cause = "reads-from" | "lock" | "wake" | "thread";

export interface Arrow {
  from: number;
  to: number;
  cause: Cause;
  /** `sees what T1 wrote in row 3` */
  text: string;
}

/** The words of the legend. */
export const CAUSES: [Cause, string][] = [
  ["reads-from", "a read sees a write"],
  ["lock", "a lock is let go, or held"],
  ["wake", "a notification, a signal or a barrier lets a thread go on"],
  ["thread", "a thread is made, or has ended"],
];

const WAKES = /^(notify|set|clear|V\b|barrier)/;
const TAKES = /^(try)?(lock|rdlock|wrlock|relock)/;
/** What a blocked thread waits for, where that is no lock. */
const SIGNALS = /^((notify|set|V)\(|.*, \d+ of \d+$)/;

function causeOf(from: Row, to: Row): Cause {
  if (from.kind === "write") return "reads-from";
  if (from.kind === "thread" || to.kind === "thread") return "thread";
  if (WAKES.test(from.op)) return "wake";
  // Another thread has taken what the blocked one waits for, or has passed it by.
  if (to.kind === "blocked" && SIGNALS.test(to.value ?? "")) return /^P\b/.test(from.op) ? "wake" : "thread";
  // A wait lets its lock go: who takes that lock has it from there.
  if (TAKES.test(to.op)) return "lock";
  if (/^wait/.test(from.op)) return "wake";
  return from.kind === "synchronise" ? "lock" : "thread";
}

function textOf(from: Row, to: Row, cause: Cause, thread: string, row: number): string {
  const place = `in row ${row + 1}`;
  if (cause === "reads-from") return `sees what ${thread} wrote ${place}`;
  if (cause === "thread") return from.op === "fork" || from.op === "spawn" ? `made by ${thread} ${place}` : `after ${thread}, ${place}`;
  if (cause === "wake") return `after ${from.op} of ${thread} ${place}`;
  return TAKES.test(from.op) || to.kind === "blocked" ? `held by ${thread} since row ${row + 1}` : `let go by ${thread} ${place}`;
}

/** The arrows to a row from those of other threads. */
export function arrowsTo(execution: Execution, index: number): Arrow[] {
  const { rows, threads } = execution;
  const to = rows[index];
  const arrows: Arrow[] = [];
  for (const from of to?.after ?? []) {
    const row = rows[from];
    if (!to || !row || row.column === to.column) continue;
    const cause = causeOf(row, to);
    arrows.push({ from, to: index, cause, text: textOf(row, to, cause, threads[row.column] ?? "", from) });
  }
  return arrows;
}
