import { readFileSync } from "node:fs";
import { beforeEach, expect, test } from "vitest";
import { arrowsTo } from "../src/arrows";
import { chart, columns, rowY, WINDOW } from "../src/chart";
import { placeOf, rowPlace, verdicts, type Block, type Execution, type Function, type Report, type Row } from "../src/data";
import { cut, html } from "../src/dom";
import { formView } from "../src/form";
import { BLOCKS, views } from "../src/graph";
import { draw, linesOf } from "../src/layout";
import { locksHeld } from "../src/locks";
import { page } from "../src/page";
import { partsOf, PATTERNS } from "../src/sections/coverage";
import { findings } from "../src/sections/findings";
import { consequence } from "../src/sections/races";
import { coloured, readsByLine, sourceView } from "../src/source";
import { stepper } from "../src/stepper";
import { cycleRow, endOf, rowText, valuesAt } from "../src/steps";
import { compare, FIRST, table } from "../src/tables";

function row(column: number, kind: string, op: string, object: string | null, value: string | null, after: number[] = []): Row {
  return { step: 1, column, line: 3, kind, op, object, value, is_cause: true, after };
}

const execution: Execution = {
  status: "ok",
  message: null,
  line: null,
  facts: [],
  output: ["1"],
  blocked: [],
  cycle: null,
  threads: ["main", "T1"],
  rows: [row(0, "write", "write", "x", "1"), row(1, "read", "read", "x", "1", [0]), row(1, "synchronise", "lock", "L", null, [1])],
};

function report(parts: Partial<Report>): Report {
  const nothing = { pi: null, futures: null, races: null, correlate: null, coverage: null, graph: null, form: null };
  return { file: "p.csm", tool: "0", source: "", has_main: true, commands: [], bounds: [], findings: [], executions: [], left_out: [], ...nothing, ...parts };
}

beforeEach(() => document.body.replaceChildren());

test("a term that is feasible in one context is feasible", () => {
  const term = (feasible: boolean | null) => ({ read: "x@1:1", def: "x@2:1", feasible });
  const of = (...all: (boolean | null)[]) => verdicts({ decided: true, endless_complete: true, futures: 1, executions: 1, states: 1, outcomes: [], terms: all.map(term) }).get("x@1:1 x@2:1");
  expect(of(false, true, false)).toBe("feasible");
  expect(of(false, false)).toBe("impossible");
  expect(of(null)).toBe("not decided");
  expect([of(null, false), of(false, null)]).toEqual(["not decided", "not decided"]);
  expect(placeOf("a.b@12:7")).toEqual({ line: 12, column: 7 });
  expect(placeOf("x@initial")).toBeNull();
});

test("a row of another file has its name", () => {
  const [first] = execution.rows;
  expect([rowPlace(first!), rowPlace({ ...first!, file: "queue.c" })]).toEqual([String(first!.line), `queue.c:${first!.line}`]);
  expect(placeOf("n@queue.c:3:5")).toBeNull();
});

test("an execution is told row by row", () => {
  expect(execution.rows.map(rowText)).toEqual(["write x = 1", "read x → 1", "lock L"]);
  expect([...valuesAt(execution, 1)]).toEqual([["x", "1"]]);
  expect(arrowsTo(execution, 1)).toEqual([{ from: 0, to: 1, cause: "reads-from", text: "sees what main wrote in row 1" }]);
  expect(arrowsTo(execution, 2)).toEqual([]);
});

test("keys step through an execution", () => {
  const lines: number[] = [];
  const view = stepper(execution, (line) => lines.push(line));
  document.body.append(view);
  const said = () => view.querySelector(".said")?.textContent;
  const press = (key: string) => view.querySelector(".charted")?.dispatchEvent(new KeyboardEvent("keydown", { key }));
  expect(said()).toBe("1 of 3: main, line 3: write x = 1");
  press("ArrowRight");
  expect(said()).toBe("2 of 3: T1, line 3: read x → 1; sees what main wrote in row 1");
  expect(view.querySelector("ul.values .now")?.textContent).toBe("x = 1");
  press("ArrowRight");
  press("ArrowRight");
  expect(said()).toBe("3 of 3: T1, line 3: lock L");
  press("Home");
  press("ArrowLeft");
  expect(said()).toMatch(/^1 of 3/);
  expect(lines.length).toBe(6);
});

test("texts of a program are never markup", () => {
  const evil = `</script><img src=x onerror="alert(1)">`;
  const finding = { command: "check", code: "CS0401", severity: "warning", message: evil, line: 1, column: 1, labels: [{ line: 1, column: 1, message: evil }], notes: [evil], help: evil, suppressed: false, execution: null };
  document.body.append(page(report({ file: evil, source: `int x; // ${evil}\n`, findings: [finding] })));
  expect(document.querySelectorAll("img, script").length).toBe(0);
  expect(document.querySelector("h1")?.textContent).toBe(evil);
});

test("a line keeps its text when it is coloured", () => {
  for (const line of ['int x = 1; // a "b"', 'print("a // b", x/2);', "/* open", "a/b*c //", "", '"open']) {
    expect(coloured(line).map((node) => node.textContent).join("")).toBe(line);
  }
});

test("reads of all contexts stand in their line", () => {
  const read = (context: string, thread: string) => ({ read: "x@2:3", context, variable: "x", thread: "T", line: 2, terms: [{ def: "x@1:1", thread, line: 1 }, { def: "x@initial", thread: "main", line: 1 }] });
  const reads = readsByLine(report({ pi: { pis: [read("a", "T1"), read("b", "T2"), read("c", "T1")], single: [{ ...read("", "T3"), read: "y@4:1", variable: "y" }] } }));
  expect(reads.get(2)?.map((one) => one.terms.map((term) => term.label))).toEqual([["T1:1", "initial", "T2:1"]]);
  expect(reads.get(4)?.map((one) => one.text)).toEqual(["y"]);
});

function block(id: number, texts: string[], successors: number[] = []): Block {
  return { id, reachable: true, instructions: texts.map((text) => ({ text, line: 1 })), successors };
}

test("locks are held on all ways or not at all", () => {
  const of: Function = { id: 0, name: "f", kind: "function", blocks: [block(0, ["lock L", "branch"], [1, 2]), block(1, ["unlock L"], [3]), block(2, ["skip"], [3]), block(3, ["skip"], [0])] };
  const held = locksHeld(of);
  expect(held.get(2)?.map((locks) => [...locks])).toEqual([["L"]]);
  expect(held.get(3)?.map((locks) => [...locks])).toEqual([[]]);
});

test("blocks stand in the frame of their function and apart", () => {
  const functions: Function[] = [0, 1].map((id) => ({ id, name: `f${id}`, kind: "arm", blocks: [block(0, ["a", "b"], [1]), block(1, ["c"])] }));
  functions[0]!.blocks[0]!.instructions[0]!.write = { at: "x@1:1", version: "x_1" };
  functions[1]!.blocks[1]!.instructions[0]!.before = [{ function: "pi", version: "x_2", arguments: [{ version: "x_1", at: "x@1:1" }] }];
  const drawing = draw(functions);
  expect(drawing.frames.length).toBe(2);
  expect(drawing.edges.filter((edge) => edge.kind === "pi").map((edge) => edge.title)).toEqual(["x_2 may be x_1"]);
  for (const box of drawing.boxes) {
    const frame = drawing.frames.find((one) => one.name === box.of.name)!;
    expect(box.x).toBeGreaterThanOrEqual(frame.x);
    expect(box.y + box.height).toBeLessThanOrEqual(frame.y + frame.height);
    for (const other of drawing.boxes.filter((one) => one !== box)) {
      const apart = box.x + box.width <= other.x || other.x + other.width <= box.x || box.y + box.height <= other.y || other.y + other.height <= box.y;
      expect(apart).toBe(true);
    }
  }
  expect(linesOf(block(0, Array.from({ length: 99 }, () => "x"))).at(-1)?.text).toBe("… 76 more lines");
});

test("columns sort by numbers and by texts", () => {
  expect(["x@10:1", "x@9:1"].sort(compare)).toEqual(["x@9:1", "x@10:1"]);
  const view = table("t", ["n"], [[10], [9]]);
  const column = () => [...view.querySelectorAll("td")].map((cell) => cell.textContent);
  const head = view.querySelector("button")!;
  head.click();
  expect(column()).toEqual(["9", "10"]);
  head.click();
  expect(column()).toEqual(["10", "9"]);
  expect(cut("abcdef", 3)).toBe("ab…");
  expect(html("p", { hidden: true }, "x").outerHTML).toBe('<p hidden="">x</p>');
});

function two(from: Partial<Row>, to: Partial<Row>): Execution {
  return { ...execution, rows: [{ ...row(0, "synchronise", "", "L", null), ...from }, { ...row(1, "synchronise", "", "L", null, [0]), ...to }] };
}

test("arrows say why", () => {
  const cause = (from: Partial<Row>, to: Partial<Row>) => arrowsTo(two(from, to), 1).map((arrow) => [arrow.cause, arrow.text])[0];
  expect(cause({ op: "unlock" }, { op: "lock" })).toEqual(["lock", "let go by main in row 1"]);
  expect(cause({ op: "wait" }, { op: "lock" })).toEqual(["lock", "let go by main in row 1"]);
  expect(cause({ op: "lock" }, { kind: "blocked", op: "waits for" })).toEqual(["lock", "held by main since row 1"]);
  expect(cause({ op: "notify" }, { op: "relock" })).toEqual(["wake", "after notify of main in row 1"]);
  expect(cause({ op: "notify" }, { kind: "blocked", op: "waits for" })).toEqual(["wake", "after notify of main in row 1"]);
  expect(cause({ op: "relock" }, { kind: "blocked", op: "waits for", value: "notify(c)" })).toEqual(["thread", "after main, in row 1"]);
  expect(cause({ op: "unlock" }, { kind: "blocked", op: "waits for", value: "b, 1 of 2" })).toEqual(["thread", "after main, in row 1"]);
  expect(cause({ op: "P" }, { kind: "blocked", op: "waits for", value: "V(s)" })).toEqual(["wake", "after P of main in row 1"]);
  expect(cause({ op: "V" }, { op: "P" })).toEqual(["wake", "after V of main in row 1"]);
  expect(cause({ kind: "thread", op: "fork" }, { op: "lock" })).toEqual(["thread", "made by main in row 1"]);
  expect(cause({ op: "barrier" }, { kind: "read", op: "read" })).toEqual(["wake", "after barrier of main in row 1"]);
});

test("an execution tells how it ends", () => {
  const blocked = [{ thread: "T1", line: 1, waits_for: "lock", object: "L", holder: "T2" }, { thread: "main", line: 2, waits_for: "threads", object: null, holder: null, threads: ["T1"] }];
  expect(endOf({ ...execution, status: "deadlock", blocked })).toBe("It ends in a deadlock: T1 waits for L, held by T2; main waits for T1.");
  expect(endOf({ ...execution, status: "assert", message: "open", facts: ["x is 1"] })).toBe("It ends with a failure: open (x is 1).");
  const endless = { ...execution, status: "endless", cycle: { start: 0 } };
  expect([cycleRow(endless), endOf(endless)]).toEqual([0, "From row 1 on its steps repeat for ever."]);
  expect(endOf({ ...endless, cycle: { start: 7 } })).toMatch(/nothing in its cycle/);
});

test("columns are wide enough for their rows, which do not overlap", () => {
  const long = { ...execution, rows: [row(0, "write", "write", "a_long_name", "123456789"), row(1, "read", "read", "a_long_name", "123456789", [0])] };
  const { x, width } = columns(long);
  expect(x[1]! - x[0]!).toBeGreaterThan("write a_long_name = 123456789".length * 7.2);
  expect(width).toBeGreaterThan(x[1]!);
  expect(rowY(1, 0) - rowY(0, 0)).toBeGreaterThanOrEqual(24);
  expect(chart(long, 0, () => {}).querySelectorAll(".arrow.reads-from").length).toBe(1);
});

test("many threads stand close, and their texts are cut to what is left", () => {
  const threads = ["main", ...Array.from({ length: 8 }, (_, index) => `thread ${index + 1}`)];
  const rows = threads.map((_, column) => row(column, "write", "write", "a_long_name", "123456789"));
  const { x, longest, names, width } = columns({ ...execution, threads, rows });
  expect(width).toBeLessThanOrEqual(560);
  expect(x.every((left, column) => left + longest[column]! * 7.3 + 24 <= width)).toBe(true);
  expect([Math.min(...longest), Math.min(...names)].map((least) => least >= 5)).toEqual([true, true]);
});

test("a long execution is drawn in parts", () => {
  const rows = Array.from({ length: 2 * WINDOW + 5 }, () => row(0, "write", "write", "x", "1"));
  const view = stepper({ ...execution, rows }, () => {});
  expect(view.querySelectorAll(".row").length).toBe(WINDOW);
  view.querySelector(".charted")?.dispatchEvent(new KeyboardEvent("keydown", { key: "End" }));
  expect(view.querySelectorAll(".row").length).toBe(5);
  expect(view.querySelector(".row.current title")?.textContent).toMatch(/^row 605,/);
});

test("the text in CSSAME form marks what merges versions", () => {
  const view = formView(["int a_0 = 0;", "  a_4 = pi(a_0, a_2)", "  print(a_4);"]);
  expect([...view.querySelectorAll(".merge")].map((line) => line.textContent)).toEqual(["  a_4 = pi(a_0, a_2)\n"]);
});

test("a large graph has parts", () => {
  const of = (id: number, count: number): Function => ({ id, name: `f${id}`, kind: "function", blocks: Array.from({ length: count }, (_, at) => block(at, ["x"])) });
  expect(views([of(0, 2), of(1, 3)]).map((view) => view.name)).toEqual(["all functions and threads", "f0 (function)", "f1 (function)"]);
  const parts = views([of(0, 2 * BLOCKS + 1)]);
  expect(parts.map((view) => view.functions[0]?.blocks.length)).toEqual([BLOCKS, BLOCKS, 1]);
  expect(parts[2]?.name).toBe(`f0 (function), blocks ${2 * BLOCKS + 1} to ${2 * BLOCKS + 1} of ${2 * BLOCKS + 1}`);
});

test("patterns are those of the documentation", () => {
  const rows = [...readFileSync("../docs/coverage.md", "utf8").matchAll(/^\| (\d+) \| ([^|]+) \| (\d*) ?\| ?([^|]*) ?\|$/gm)].flatMap((one) => [[one[1], one[2]], [one[3], one[4]]]);
  const named = new Map(rows.map(([number, text]) => [Number(number), text?.trim()]));
  expect(PATTERNS.length).toBe(17);
  PATTERNS.forEach((text, index) => expect(named.get(index + 1)).toBe(text));
});

test("what is covered, can be covered, and is not known adds up to what is not impossible", () => {
  const counts = (of: Parameters<typeof partsOf>[0]) => partsOf(of).map((part) => part.count);
  expect(counts({ total: 10, feasible: 5, infeasible: 5, covered: 3 })).toEqual([3, 2, 0]);
  expect(counts({ total: 10, feasible: null, infeasible: 4, covered: 3 })).toEqual([3, 0, 3]);
  expect(counts({ total: 10, feasible: null, infeasible: null, covered: 3 })).toEqual([3, 0, 7]);
});

test("what follows from a race is said only of real ones", () => {
  const race = { a: "x@1:1", b: "x@2:1", variable: "x", kinds: [], status: "real", proof: null, harmful: false, benign: false, outcomes_differ: null, hits: 0, trials: 0 };
  expect(consequence(race)).toBe("no failure is known");
  expect(consequence({ ...race, status: "unconfirmed" })).toBe("not decided");
  expect(consequence({ ...race, status: "impossible", proof: "a lock" })).toBe("a lock");
});

test("what is left out is said", () => {
  const left_out = ["findings", "executions", "races", "coverage", "graph"].map((what) => ({ what, shown: 1, total: 12345 }));
  document.body.append(page(report({ left_out, commands: [{ command: "races", complete: false, findings: 0 }] })));
  const items = [...document.querySelectorAll(".bounds li")].map((item) => item.textContent ?? "");
  expect(items.length).toBe(6);
  expect(items.filter((item) => item.includes("12,345")).length).toBe(5);
});

test("long lists show their first rows, and the others when asked", () => {
  const view = table("t", ["n"], Array.from({ length: FIRST + 7 }, (_, index) => [index]));
  expect(view.querySelectorAll("tbody tr").length).toBe(FIRST);
  view.querySelector<HTMLElement>(".more")?.click();
  expect(view.querySelectorAll("tbody tr").length).toBe(FIRST + 7);
  const finding = { command: "check", code: "CS0401", severity: "error", message: "m", line: 1, column: 1, labels: [], notes: [], help: null, suppressed: false, execution: null };
  const list = findings(report({ findings: Array.from({ length: 30 }, () => finding) }), () => {});
  expect(list.querySelectorAll("article").length).toBe(20);
  list.querySelector<HTMLElement>(".more")?.click();
  expect(list.querySelectorAll("article").length).toBe(30);
});

test("a read with many terms shows the first ones, and says how many there are", () => {
  const terms = Array.from({ length: 40 }, (_, at) => ({ def: `x@${at + 1}:1`, thread: "T1", line: at + 1 }));
  const view = sourceView(report({ source: "int x;\n", pi: { pis: [{ read: "x@1:5", context: null, variable: "x", thread: "T", line: 1, terms }], single: [] } }));
  expect(view.querySelectorAll(".term").length).toBe(12);
  expect(view.querySelector(".read")?.textContent).toMatch(/and 28 more$/);
});

test("a line that the file does not have is no link", () => {
  const finding = { command: "races", code: "CS0412", severity: "error", message: "m", line: 1, column: 1, labels: [{ line: 9, column: 1, message: "main waits" }], notes: [], help: null, suppressed: false, execution: null };
  const view = findings(report({ source: "int x;\n", findings: [finding] }), () => {});
  expect([...view.querySelectorAll("a")].map((one) => one.textContent)).toEqual(["line 1"]);
});

test("a line has a mark that leads to its gravest finding", () => {
  const finding = (severity: string, suppressed = false) => ({ command: "check", code: "CS0401", severity, message: "m", line: 1, column: 1, labels: [], notes: [], help: null, suppressed, execution: null });
  const mark = (...all: ReturnType<typeof finding>[]) => sourceView(report({ source: "int x;\n", findings: all })).querySelector(".mark");
  expect(mark(finding("note"), finding("error"), finding("warning"))?.getAttribute("href")).toBe("#finding-2");
  expect(mark(finding("note", true))).toBeNull();
});
