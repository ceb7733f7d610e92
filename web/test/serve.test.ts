import { expect, test } from "vitest";
import { LONGEST, parsed, written, type Address } from "../src/serve/address";
import { answerView, type Shown } from "../src/serve/answers";
import { COMMANDS, controls } from "../src/serve/controls";
import { reader } from "../src/serve/events";
import { packageView, zipped } from "../src/serve/package";
import { groups, programs } from "../src/serve/programs";
import { verdict } from "../src/serve/verdict";
import { sanitized } from "../src/serve/sanitize";
import type { Ended } from "../src/serve/server";

test("events come in pieces", () => {
  const text = 'event: started\ndata: 7\n\n: still here\n\nevent: progress\r\ndata: 1 state\r\n\r\ndata: a\ndata: b\n\nevent: answer\ndata: {"x":1}\n\n';
  const all = [
    { event: "started", data: "7" },
    { event: "progress", data: "1 state" },
    { event: "message", data: "a\nb" },
    { event: "answer", data: '{"x":1}' },
  ];
  for (const size of [1, 2, 3, 7, 1000]) {
    const events = reader();
    const found = [];
    for (let at = 0; at < text.length; at += size) found.push(...events(text.slice(at, at + size)));
    expect(found).toEqual(all);
  }
});

test("an address names a program and a question", () => {
  const program = "int x; // é ← </script> 𝔸\n".repeat(40);
  const addresses: Address[] = [
    { program: { kind: "text", text: program }, ask: "futures", options: { seconds: "2.5", inputs: "n=1 m=0..4" } },
    { program: { kind: "text", text: "" }, options: {} },
    { program: { kind: "sample", name: "classes/x&y.csm" }, options: { seed: "7" } },
    { program: { kind: "file", name: "a b/#c.csm" }, ask: "run", options: {} },
  ];
  for (const address of addresses) expect(parsed(`#${written(address)}`)).toEqual(address);
  expect(written(addresses[0]!).length).toBeLessThan(program.length / 4);
  expect(written(addresses[0]!)).toMatch(/^[\w%=&.+-]*$/);
});

test("what is no address is none", () => {
  for (const text of ["", "#", "#ask=run", "#text=%%%", "#text=AAAA", "#L3", "#finding-1"]) expect(parsed(text)).toBeNull();
  expect(LONGEST).toBeGreaterThan(8000);
});

test("a text that unpacks to far more than a program is refused", () => {
  const large = written({ program: { kind: "text", text: "x".repeat(8 << 20) }, options: {} });
  expect(parsed(`#${large}`) === null).toBe(true);
});

test("of what the language server says, nothing does anything", () => {
  expect(sanitized("<p><code>x</code> <strong>y</strong></p>")).toBe("<p><code>x</code> <strong>y</strong></p>");
  const hostile = '<p onclick="f()">a<img src=x onerror=f()><script>f()</script><a href="javascript:f()">b</a><svg><a xlink:href="x">c</a></svg><iframe srcdoc="<p>d">e</iframe></p>';
  const left = new DOMParser().parseFromString(sanitized(hostile), "text/html");
  expect(left.querySelectorAll("script, img, svg, iframe, [onclick], [href]").length).toBe(0);
  expect(left.body.textContent).toContain("a");
});

const ended: Ended = { status: 1, answer: null, complaint: "", stopped: false, files: [] };

function shown(replayed: unknown[] = []): Shown {
  return { text: "int x;\n", follow: () => undefined, replay: (steps, cycle) => replayed.push([steps.length, cycle]) };
}

test("failures, deadlocks and executions without end have their executions", () => {
  const blocked = { thread: "T1", line: 3, waits_for: "lock", object: "L", holder: "T2" };
  const answer = {
    ...{ complete: false, decided: false, bound: "timeout", futures: null, executions: 3, states: 9, merged: false, endless_complete: false },
    failures: [{ status: "assert", message: "it is open", line: 2, thread: "T2", facts: ["x is 1"], schedule: [{}, {}] }],
    deadlocks: [{ threads: [blocked], schedule: [{}] }],
    endless: [{ kind: "no-end", threads: [{ thread: "T1", line: 3 }], schedule: [{}, {}], cycle: [{}] }],
    terms: [
      { read: "x@2:3", def: "x@1:1", feasible: true, schedule: [{}, {}, {}, {}] },
      { read: "x@2:3", def: "x@initial", feasible: false, schedule: null },
    ],
    outcomes: [{ output: ["1"], status: "ok", message: null, schedule: [{}, {}, {}, {}, {}] }],
  };
  const replayed: unknown[] = [];
  const view = answerView("futures", { ...ended, answer }, shown(replayed));
  expect(view.textContent).toContain("assert in T2: it is open (x is 1), line 2");
  expect(view.textContent).toContain("deadlock: T1 waits for L, held by T2");
  expect(view.textContent).toContain("A bound was hit (timeout)");
  view.querySelectorAll<HTMLElement>("button.show").forEach((button) => button.click());
  expect(replayed).toEqual([[2, undefined], [1, undefined], [3, 2], [4, undefined], [5, undefined]]);
});

test("why there is no answer is said", () => {
  const text = (of: Partial<Ended>) => answerView("run", { ...ended, ...of }, shown()).textContent;
  expect(text({ stopped: true })).toContain("stopped before it knew");
  expect(text({ status: null, complaint: "killed" })).toMatch(/took more than it may.*killed/);
  const diagnostics = [{ severity: "error", code: "CS0101", message: "<b>expected</b>", line: 1 }];
  const view = answerView("run", { ...ended, answer: { diagnostics } }, shown());
  expect(view.textContent).toContain("error CS0101: <b>expected</b>, line 1");
  expect(view.querySelector("b")).toBeNull();
});

test("a package is shown and saved whole", () => {
  const files = [
    { path: "Cargo.toml", text: "[package]\n" },
    { path: "src/lib.rs", text: "// ←\n" },
  ];
  const test = { name: "lost", end: "ok", output: ["1"], shows: ["x@1:1=x@2:2"] };
  const view = packageView({ tests: [test] }, files);
  expect(view.textContent).toContain("save all 2 files");
  const details = view.querySelectorAll("details")[1]!;
  details.open = true;
  details.dispatchEvent(new Event("toggle"));
  expect(details.textContent).toContain("// ←");
  expect(zipped(files)).toEqual(zipped(files));
  expect(new TextDecoder().decode(zipped(files))).toContain("package/src/lib.rs");
});

test("the form asks within bounds, and an address carries what differs", () => {
  const asked: string[] = [];
  const form = controls({ seconds: 5, megabytes: 256, text_bytes: 1 }, (command) => asked.push(command), () => asked.push("stop"), () => undefined);
  expect(form.options()).toEqual({});
  expect(form.question("run")).toEqual({ command: "run", inputs: [], target: "rust", spurious_wakeups: false, prefer_writers: false, seconds: 5, megabytes: 256, seed: 0 });
  const options = { seconds: "2", inputs: "n=3, m=0..4", writers: "yes", target: "java", states: "100" };
  form.set(options);
  expect(form.options()).toEqual(options);
  expect(form.question("drive")).toMatchObject({ seconds: 2, inputs: ["n=3", "m=0..4"], prefer_writers: true, target: "java", max_states: 100 });
  form.set({});
  expect(form.options()).toEqual({});
  form.view.querySelectorAll<HTMLElement>("button.ask").forEach((button) => button.click());
  expect(asked).toEqual([...COMMANDS]);
  form.busy("run");
  expect([...form.view.querySelectorAll("button")].map((button) => button.disabled)).toEqual([...COMMANDS.map(() => true), false]);
  form.view.querySelector<HTMLElement>("button.stop")!.click();
  expect(asked.at(-1)).toBe("stop");
});

test("a verdict says what was found", () => {
  const said = (of: Partial<Ended>) => verdict({ ...ended, ...of });
  expect(said({ answer: { failures: [], deadlocks: [{}], endless: [] } })).toBe("1 deadlock");
  expect(said({ status: 3, answer: { failures: [{}, {}], deadlocks: [{}], endless: [{}, {}] } })).toBe("2 failures, 1 deadlock, 2 executions without end; not all is decided");
  const finding = (code: string, suppressed = false) => ({ code, suppressed });
  expect(said({ answer: { findings: [finding("CS0412"), finding("CS0402"), finding("CS0401"), finding("CS0410", true)] } })).toBe("1 deadlock, 1 race, 1 warning");
  expect(said({ answer: { potential: [{ status: "real" }, { status: "unconfirmed" }], failures: [], deadlocks: [] } })).toBe("1 race");
  expect([said({ answer: { status: "deadlock" } }), said({ status: 0, answer: { status: "ok" } })]).toEqual(["1 deadlock", "it came to its end"]);
  expect([said({ status: 0, text: "" }), said({ status: 2 }), said({ status: null })]).toEqual(["nothing was found", "there is no answer", "it was ended"]);
});

test("programs are in groups, each once, and a search narrows them", () => {
  const files = ["samples/peterson.csm", "own.csm", "own.csm"];
  const samples = ["peterson.csm", "sen_fig1.csm", "classes/once.csm", "races_pool.csm", "dekker.csm"];
  const names = [...groups(files, samples)].map(([group, all]) => [group, all.map(({ name }) => name).join()]);
  expect(names).toEqual([
    ["", "new program"],
    ["files", "own.csm"],
    ["files: samples", "samples/peterson.csm"],
    ["samples", "dekker.csm"],
    ["samples: classes under test", "classes/once.csm"],
    ["samples: programs of the papers", "sen_fig1.csm"],
    ["samples: races", "races_pool.csm"],
  ]);
  const opened: string[] = [];
  const list = programs(files, samples, ({ kind, name }) => opened.push(`${kind} ${name}`));
  const search = list.view.querySelector("input")!;
  search.value = "PO ra";
  search.dispatchEvent(new Event("input"));
  expect([...list.view.querySelectorAll("option")].map((option) => option.textContent)).toEqual(["new program", "races_pool.csm"]);
  search.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  expect(opened).toEqual(["sample races_pool.csm"]);
});

test("what a command prints is shown as it is printed", () => {
  const view = answerView("pi", { ...ended, text: "a = pi(<b>a_0</b>)\n" }, shown());
  expect(view.querySelector("pre")?.textContent).toBe("a = pi(<b>a_0</b>)");
});
