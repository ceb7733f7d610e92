// An execution in words: what its rows say, what variables hold, and how it ends.

import type { Blocked, Execution, Row } from "./data";

/** `write x = 1`, `read x → 1`, `waits for T1`, `assert: it is open` */
export function rowText(row: Row): string {
  const object = row.object === null ? "" : ` ${row.object}`;
  if (row.value === null) return `${row.op}${object}`;
  if (row.kind === "write" || row.kind === "choose") return `${row.op}${object} = ${row.value}`;
  if (row.kind === "read") return `${row.op}${object} → ${row.value}`;
  // A message, or whom a notification wakes.
  const isSentence = row.kind === "failure" || row.op.startsWith("notify");
  return `${row.op}${object}${isSentence ? ":" : ""} ${row.value}`;
}

/** What is known of the variables behind a row, by the reads and writes so far. */
export function valuesAt(execution: Execution, row: number): Map<string, string> {
  const values = new Map<string, string>();
  for (const one of execution.rows.slice(0, row + 1)) {
    if ((one.kind === "write" || one.kind === "read") && one.object !== null && one.value !== null) {
      values.set(one.object, one.value);
    }
  }
  return values;
}

/** The first row of the cycle of an execution without end. */
export function cycleRow(execution: Execution): number | null {
  const { cycle, rows } = execution;
  if (cycle === null) return null;
  const first = rows.findIndex((row) => row.step > cycle.start);
  return first < 0 ? null : first;
}

/** `T1 waits for b.guard, held by T2` */
export function waits(blocked: Blocked): string {
  const what = blocked.threads && blocked.threads.length > 0 ? blocked.threads.join(", ") : (blocked.object ?? blocked.waits_for);
  return `${blocked.thread} waits for ${what}${blocked.holder === null ? "" : `, held by ${blocked.holder}`}`;
}

/** How an execution ends. */
export function endOf(execution: Execution): string {
  const { status, message, facts } = execution;
  const why = facts.length > 0 ? ` (${facts.join(", ")})` : "";
  if (status === "ok") return "It comes to its end.";
  if (status === "stopped") return "It is followed as far as the finding needs.";
  if (status === "deadlock") return `It ends in a deadlock: ${execution.blocked.map(waits).join("; ")}.`;
  if (status === "endless") {
    const row = cycleRow(execution);
    return row === null ? "It goes on for ever; nothing in its cycle can be seen by other threads." : `From row ${row + 1} on its steps repeat for ever.`;
  }
  return `It ends with a failure: ${message ?? status.replaceAll("-", " ")}${why}.`;
}
