import { beforeEach, expect, test } from "vitest";
import { arrowsTo, rowText, stepper, valuesAt } from "../src/chart";
import { placeOf, verdicts, type Block, type Execution, type Function, type Report, type Row } from "../src/data";
import { cut, html } from "../src/dom";
import { draw, linesOf } from "../src/layout";
import { locksHeld } from "../src/locks";
import { page } from "../src/page";
import { coloured, readsByLine } from "../src/source";
import { compare, table } from "../src/tables";

function row(column: number, kind: string, op: string, object: string | null, value: string | null, after: number[] = []): Row {
  return { step: 1, column, line: 3, kind, op, object, value, is_cause: true, after };
}

const execution: Execution = {
  status: "ok",
  message: null,
  output: ["1"],
  threads: ["main", "T1"],
  rows: [row(0, "write", "write", "x", "1"), row(1, "read", "read", "x", "1", [0]), row(1, "synchronise", "lock", "L", null, [1])],
};

function report(parts: Partial<Report>): Report {
  const nothing = { pi: null, futures: null, races: null, correlate: null, coverage: null, graph: null };
  return { file: "p.csm", tool: "0", source: "", has_main: true, commands: [], bounds: [], findings: [], executions: [], ...nothing, ...parts };
}

beforeEach(() => document.body.replaceChildren());

test("a term that is feasible in one context is feasible", () => {
  const term = (feasible: boolean | null) => ({ read: "x@1:1", def: "x@2:1", feasible });
  const of = (...all: (boolean | null)[]) => verdicts({ futures: 1, executions: 1, states: 1, outcomes: [], terms: all.map(term) }).get("x@1:1 x@2:1");
  expect(of(false, true, false)).toBe("feasible");
  expect(of(false, false)).toBe("impossible");
  expect(of(null)).toBe("not decided");
  expect(placeOf("a.b@12:7")).toEqual({ line: 12, column: 7 });
  expect(placeOf("x@initial")).toBeNull();
});

test("an execution is told row by row", () => {
  expect(execution.rows.map(rowText)).toEqual(["write x = 1", "read x → 1", "lock L"]);
  expect([...valuesAt(execution, 1)]).toEqual([["x", "1"]]);
  expect(arrowsTo(execution, 1)).toEqual([0]);
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
  const reads = readsByLine(report({ pi: { pis: [read("a", "T1"), read("b", "T2"), read("c", "T1")], single: [] } }));
  expect(reads.get(2)?.map((one) => one.terms.map((term) => term.label))).toEqual([["T1:1", "initial", "T2:1"]]);
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
