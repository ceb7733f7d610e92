// Where the program is looked for, and command lines.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, test } from "node:test";
import { argumentsOf, findProgram, recordOf } from "../build/program.mjs";

const scratch = mkdtempSync(join(tmpdir(), "cssame-"));
after(() => rmSync(scratch, { recursive: true }));
const bin = join(scratch, "bin");
const file = join(bin, "cssame");
mkdirSync(join(scratch, "first", "cssame"), { recursive: true });
mkdirSync(bin);
writeFileSync(file, "");
writeFileSync(join(bin, "text"), "");
chmodSync(file, 0o755);
chmodSync(join(bin, "text"), 0o644);

const path = [join(scratch, "nowhere"), join(scratch, "first"), bin].join(delimiter);
const find = (setting, folder = scratch) =>
  findProgram(setting, { path, home: scratch, folder, windows: process.platform === "win32" });

test("a name is looked up on the PATH, where folders and other files do not count", () => {
  assert.equal(find("cssame"), file);
  assert.equal(find("other"), undefined);
  if (process.platform !== "win32") assert.equal(find("text"), undefined);
});

test("a path is one", () => {
  assert.equal(find(file), file);
  assert.equal(find("bin/cssame"), file);
  assert.equal(find("./bin/cssame"), file);
  assert.equal(find("~/bin/cssame"), file);
  assert.equal(find("${workspaceFolder}/bin/cssame"), file);
  assert.equal(find(join(bin, "other")), undefined);
});

test("a command line may begin with the name of the program", () => {
  assert.deepEqual(argumentsOf(["cssame", "run", "a b.csm"]), ["run", "a b.csm"]);
  assert.deepEqual(argumentsOf(["futures", "a.csm"]), ["futures", "a.csm"]);
  assert.throws(() => argumentsOf("run a.csm"), /list of strings/);
});

test("a trace is named by a file and a schedule", () => {
  assert.deepEqual(recordOf({ file: "a.csm", schedule: "s.json" }), { file: "a.csm", schedule: "s.json", text: undefined });
  assert.deepEqual(recordOf({ file: "a.csm", text: "{}" }), { file: "a.csm", schedule: undefined, text: "{}" });
  for (const given of [null, "a.csm", {}, { schedule: "s.json" }, { file: "a.csm", schedule: 1 }, { file: "a.csm", text: 1 }]) {
    assert.throws(() => recordOf(given), /`file` and `schedule`/);
  }
});
