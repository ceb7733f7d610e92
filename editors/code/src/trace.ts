// The trace of an execution: from the JSON of `cssame run --format json` to rows of text, stops and moves between them.
// Nothing here knows an editor or a page. What the keys mean stands in docs/json.md.

/** A row as the JSON has it. */
interface RunRow {
  step: number;
  column: number;
  line: number;
  kind: string;
  op: string;
  object: string | null;
  value: string | null;
  is_cause: boolean;
}

interface Run {
  file: string;
  status: string;
  seed: number | null;
  message: string | null;
  facts: string[];
  by_thread: { thread: string; output: string[] }[];
  threads: string[];
  rows: RunRow[];
}

/** A row of the table: a text in the column of a thread. */
export interface Row {
  column: number;
  line: number;
  kind: string;
  text: string;
  /** Whether the end of the execution depends on it. */
  isCause: boolean;
}

/** Where one can stop: the rows from `begin` up to `end`, which are shown as one step. */
export interface Stop {
  begin: number;
  end: number;
  /** The source lines of its rows, from 1, each once. */
  lines: number[];
}

export interface Trace {
  /** How the execution ended, in a few words. */
  title: string;
  /** What explains the end. */
  facts: string[];
  threads: string[];
  rows: Row[];
  stops: Stop[];
  output: { thread: string; lines: string[] }[];
}

/** What moves between the stops; those of `KEYS`, and the buttons. */
export type Move = "first" | "back" | "forward" | "last";

/** The moves of the keys, by the name that a page has for a key. */
export const KEYS: Readonly<Record<string, Move>> = {
  ArrowDown: "forward",
  ArrowRight: "forward",
  ArrowUp: "back",
  ArrowLeft: "back",
  Home: "first",
  End: "last",
};

/**
 * The trace of an answer of `cssame run --format json`, as an object. Throws an error, with a message for people, where it
 * is another answer.
 */
export function traceOf(answer: unknown): Trace {
  const run = executionOf(answer);
  return {
    title: title(run),
    facts: run.facts,
    threads: run.threads,
    rows: run.rows.map((row) => ({
      column: row.column,
      line: row.line,
      kind: row.kind,
      text: text(row),
      isCause: row.is_cause,
    })),
    stops: stops(run.rows),
    output: run.by_thread.map(({ thread, output }) => ({ thread, lines: output })),
  };
}

/** The stop that a move leads to from the stop `at`. */
export function move(trace: Trace, at: number, by: Move): number {
  const last = Math.max(trace.stops.length - 1, 0);
  const wanted = { first: 0, back: at - 1, forward: at + 1, last }[by];
  return Math.min(Math.max(wanted, 0), last);
}

/** The stop that a row belongs to. */
export function stopOf(trace: Trace, row: number): number {
  return Math.max(
    trace.stops.findIndex((stop) => row < stop.end),
    0,
  );
}

function executionOf(answer: unknown): Run {
  const given = (typeof answer === "object" && answer !== null ? answer : {}) as Record<string, unknown>;
  const diagnostics = given["diagnostics"];
  if (Array.isArray(diagnostics) && diagnostics.length > 0) {
    const { code, message, file, line } = diagnostics[0];
    throw new Error(`${file && line ? `${file}:${line}: ` : ""}${message} (${code})`);
  }
  if (given["schema"] !== "cssame/1" || !Array.isArray(given["rows"]) || !Array.isArray(given["threads"])) {
    throw new Error("this is no execution that `cssame run --format json` has written");
  }
  return given as unknown as Run;
}

function title(run: Run): string {
  const seed = run.seed === null ? "" : `, seed ${run.seed}`;
  return `${run.status}${run.message === null ? "" : `: ${run.message}`}${seed}`;
}

/** `read x = 0`, `lock L`, `notify c: nobody waits`: the words that `cssame run` has for a row. */
function text(row: RunRow): string {
  const named = row.object === null ? row.op : `${row.op} ${row.object}`;
  if (row.value === null) return named;
  if (["read", "write", "choose"].includes(row.kind)) return `${named} = ${row.value}`;
  const isSentence = row.kind === "failure" || row.op.startsWith("notify");
  return `${named}${isSentence ? ":" : ""} ${row.value}`;
}

/** A step is one stop, and so are all threads that are blocked at the end. */
function stops(rows: RunRow[]): Stop[] {
  const found: Stop[] = [];
  rows.forEach((row, index) => {
    const before = rows[index - 1];
    const stop = found.at(-1);
    const isBlocked = row.kind === "blocked";
    if (stop && before && before.step === row.step && (before.kind === "blocked") === isBlocked) {
      stop.end = index + 1;
      if (!stop.lines.includes(row.line)) stop.lines.push(row.line);
    } else {
      found.push({ begin: index, end: index + 1, lines: [row.line] });
    }
  });
  return found;
}
