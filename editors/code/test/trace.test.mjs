// What the trace view makes of an execution.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { KEYS, move, stopOf, traceOf } from "../build/trace.mjs";

const answer = JSON.parse(readFileSync(new URL("deadlock.json", import.meta.url), "utf8"));
const trace = traceOf(answer);
const row = (given) => ({ step: 1, column: 0, line: 1, kind: "thread", op: "", object: null, value: null, ...given });
const texts = (...rows) => traceOf({ ...answer, rows: rows.map(row) }).rows.map((each) => each.text);

test("rows have a text in the column of their thread", () => {
  assert.deepEqual(trace.threads, ["main", "T1", "T2"]);
  assert.deepEqual(
    trace.rows.map(({ column, line, text }) => [column, line, text]),
    [
      [0, 8, "fork T1"],
      [0, 8, "fork T2"],
      [2, 13, "notify: nobody waits"],
      [1, 10, "wait"],
      [0, 14, "waits for T1"],
      [1, 10, "waits for notify()"],
    ],
  );
  assert.equal(trace.title, "deadlock, seed 3");
});

test("texts are those of `cssame run`", () => {
  assert.deepEqual(
    texts(
      { kind: "read", op: "read", object: "x", value: "0" },
      { kind: "choose", op: "choose", value: "2" },
      { kind: "synchronise", op: "trylock", object: "L", value: "is true" },
      { kind: "print", op: "print", value: "a  b" },
      { kind: "failure", op: "assert", value: "no" },
      { kind: "failure", op: "error" },
    ),
    ["read x = 0", "choose = 2", "trylock L is true", "print a  b", "assert: no", "error"],
  );
});

test("the rows of a step are one stop, and so are those who are blocked at the end", () => {
  assert.deepEqual(
    trace.stops.map(({ begin, end, lines }) => [begin, end, lines]),
    [
      [0, 2, [8]],
      [2, 3, [13]],
      [3, 4, [10]],
      [4, 6, [14, 10]],
    ],
  );
  assert.deepEqual(
    trace.rows.map((_, index) => stopOf(trace, index)),
    [0, 0, 1, 2, 3, 3],
  );
});

test("moves stay inside", () => {
  assert.equal(move(trace, 0, "back"), 0);
  assert.equal(move(trace, 0, "forward"), 1);
  assert.equal(move(trace, 3, "forward"), 3);
  assert.equal(move(trace, 3, "back"), 2);
  assert.equal(move(trace, 2, "first"), 0);
  assert.equal(move(trace, 0, "last"), 3);
  assert.equal(KEYS.ArrowDown, "forward");
});

test("an execution without steps can be shown", () => {
  const empty = traceOf({ ...answer, rows: [] });
  assert.deepEqual(empty.stops, []);
  assert.equal(move(empty, 0, "forward"), 0);
});

test("what is no execution is refused, and says why", () => {
  const diagnostic = { code: "CS0101", message: "unexpected `;`", file: "a.csm", line: 1 };
  assert.throws(() => traceOf({ schema: "cssame/1", diagnostics: [diagnostic] }), /a\.csm:1: unexpected `;` \(CS0101\)/);
  assert.throws(() => traceOf({ schema: "cssame/1", outcomes: [] }), /no execution/);
  assert.throws(() => traceOf(null), /no execution/);
});
