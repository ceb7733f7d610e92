// What the page is given: the parts of docs/json.md that it shows.

export interface Label {
  line: number;
  column: number;
  message: string;
}

export interface Finding {
  command: string;
  code: string;
  severity: string;
  message: string;
  line: number | null;
  column: number | null;
  labels: Label[];
  notes: string[];
  help: string | null;
  suppressed: boolean;
  execution: number | null;
}

export interface Row {
  step: number;
  column: number;
  /** The file of the line, where it is not the one that was named. */
  file?: string;
  line: number;
  kind: string;
  op: string;
  object: string | null;
  value: string | null;
  is_cause: boolean;
  after: number[];
}

export interface Blocked {
  thread: string;
  line: number;
  waits_for: string;
  object: string | null;
  holder: string | null;
  threads?: string[];
}

export interface Execution {
  status: string;
  message: string | null;
  line: number | null;
  facts: string[];
  output: string[];
  blocked: Blocked[];
  cycle: { start: number } | null;
  threads: string[];
  rows: Row[];
}

export interface PiTerm {
  def: string;
  thread: string;
  line: number;
}

export interface PiRead {
  read: string;
  context: string | null;
  variable: string;
  thread: string;
  line: number;
  terms: PiTerm[];
}

/** A step of a schedule, as docs/schedule.md has it. */
export type Step = object;

/** What shows an execution that an answer has: its steps, and how many stand before those that repeat. */
export type Replay = (steps: Step[], cycle?: number) => void;

export interface Term {
  read: string;
  def: string;
  feasible: boolean | null;
  schedule?: Step[] | null;
}

export interface Outcome {
  output: string[];
  status: string;
  message: string | null;
  schedule?: Step[] | null;
}

export interface Futures {
  decided: boolean;
  endless_complete: boolean;
  futures: number | string | null;
  executions: number;
  states: number;
  terms: Term[];
  outcomes: Outcome[];
}

export interface Race {
  a: string;
  b: string;
  variable: string;
  kinds: string[];
  status: string;
  proof: string | null;
  harmful: boolean;
  benign: boolean;
  outcomes_differ: boolean | null;
  hits: number;
  trials: number;
  driver?: string;
  schedule?: Step[] | null;
}

export interface Correlation {
  variables: string[];
  probability: number;
  writes_in_pattern: number;
  writes: number;
}

export interface Pair {
  methods: string[];
  rank: number;
  endangered: number;
  selected: boolean;
}

export interface Covered {
  total: number;
  feasible: number | null;
  infeasible: number | null;
  covered: number;
}

export interface Missing {
  pattern: number;
  steps: { thread: string; access: string; kind: string }[];
  reason: string | null;
}

export interface Coverage {
  complete: boolean;
  executions: number;
  patterns: Covered & { by_pattern: Record<string, Covered> };
  variables: { variable: string; reads: number; writes: number; total: number; covered: number }[];
  missing: Missing[];
  missing_omitted: number;
  pi_terms: { static: number; feasible: number | null; covered: number } | null;
  method_pairs: { total: number; covered: number; pairs: { methods: string[]; covered: boolean; executions: number }[] };
}

export interface Access {
  at: string;
  version?: string;
}

export interface Merge {
  function: string;
  version: string;
  arguments: { version: string; at?: string }[];
}

export interface Instruction {
  text: string;
  line: number;
  before?: Merge[];
  after?: Merge[];
  read?: Access;
  write?: Access;
  functions?: number[];
}

export interface Block {
  id: number;
  reachable: boolean;
  merges?: Merge[];
  instructions: Instruction[];
  successors: number[];
}

export interface Function {
  id: number;
  name: string;
  kind: string;
  blocks: Block[];
}

export interface LeftOut {
  what: string;
  shown: number;
  total: number;
}

export interface Report {
  file: string;
  tool: string;
  source: string;
  has_main: boolean;
  commands: { command: string; complete: boolean; findings: number }[];
  bounds: { message: string; notes: string[] }[];
  findings: Finding[];
  pi: { pis: PiRead[]; single: PiRead[] } | null;
  futures: Futures | null;
  races: { potential: Race[] } | null;
  correlate: { correlations: Correlation[]; pairs: Pair[] } | null;
  coverage: Coverage | null;
  graph: { functions: Function[] } | null;
  form: string[] | null;
  executions: Execution[];
  left_out: LeftOut[];
}

export type Verdict = "feasible" | "impossible" | "not decided";

/** What is known of a place is what is known of the context that leaves most open: what can happen in one of them can happen. */
const STRENGTH: Record<Verdict, number> = { feasible: 2, "not decided": 1, impossible: 0 };

/** The verdict of each term, by its read and its write. */
export function verdicts(futures: Futures | null): Map<string, Verdict> {
  const all = new Map<string, Verdict>();
  for (const term of futures?.terms ?? []) {
    const verdict = term.feasible === null ? "not decided" : term.feasible ? "feasible" : "impossible";
    const key = `${term.read} ${term.def}`;
    const known = all.get(key);
    if (known === undefined || STRENGTH[verdict] > STRENGTH[known]) all.set(key, verdict);
  }
  return all;
}

/** `12`, or `queue.c:12` in another file than the one that was named. */
export function rowPlace(row: Row): string {
  return row.file === undefined ? String(row.line) : `${row.file}:${row.line}`;
}

/** Line and column of a place such as `x@3:5`; nothing for the initial value, and in another file. */
export function placeOf(name: string): { line: number; column: number } | null {
  const found = /@(\d+):(\d+)/.exec(name);
  return found ? { line: Number(found[1]), column: Number(found[2]) } : null;
}

/** `1 thread`, `2 threads` */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
