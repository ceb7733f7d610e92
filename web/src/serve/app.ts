// The page of `cssame serve`: an editor, questions, and their answers.

import type { Replay, Step } from "../data";
import { html } from "../dom";
import { themeSwitch } from "../theme";
import { LONGEST, parsed, written, type Address } from "./address";
import { answerView } from "./answers";
import { COMMANDS, controls } from "./controls";
import { editor } from "./editor";
import { save } from "./package";
import { programs, type Listed } from "./programs";
import * as server from "./server";
import { verdict } from "./verdict";

/** What a new program begins with. */
const BEGIN = "int x;\ncobegin\n  T1: x = x + 1;\n  T2: x = x + 1;\ncoend\nassert(x == 2);\n";

/** What is open, and the text that it had when it was opened or saved last. */
interface Opened {
  kind: "file" | "sample" | "text";
  name: string;
  hash: string;
  text: string;
}

export function app(place: HTMLElement, of: server.Served): void {
  let opened: Opened = { kind: "text", name: "new program", hash: "", text: "" };
  let job: number | null = null;
  let asked: string | undefined;
  /** The program that the answers are about. */
  let answered: string | null = null;
  const said = html("p", { class: "said", "aria-live": "polite" }, "Ask something: nothing was looked at yet but what the editor shows.");
  const found = html("p", { class: "told", "aria-live": "polite" });
  const answers = html("div", { class: "answers" });
  const stale = html("p", { class: "open stale", hidden: true }, "The program has changed since. Its old answer is hidden: ask again.");
  const title = html("h2", { id: "program-title" }, "Program");
  const listed = programs(of.files, of.samples, (program) => choose(program));
  const saving = html("button", { type: "button", title: "Ctrl-S", click: () => void store() }, "Save");
  const formatting = html("button", { type: "button", title: "Shift-Alt-F", click: () => edit.format() }, "Format");
  const window = html("div", { class: "editor" });
  const form = controls(of.most, (command) => void ask(command), () => job !== null && void server.stop(job), () => remember());

  const edit = editor(window, {
    changed: () => {
      age();
      remember();
      name();
    },
    told: (text) => (found.textContent = text),
    save: () => void store(),
    ask: (command) => void ask(command),
  });

  const complain = (error: unknown) => (said.textContent = error instanceof Error ? error.message : String(error));
  const isChanged = () => edit.text() !== opened.text;

  /** An answer is about one text: of another one it says nothing, so its verdict goes. It is there again where the text is. */
  function age(): void {
    const isOld = answered !== null && edit.text() !== answered;
    answers.hidden = isOld;
    stale.hidden = !isOld;
    if (job === null) said.hidden = isOld;
  }

  function name(): void {
    const mark = isChanged() && opened.kind !== "text" ? " (changed)" : "";
    title.textContent = opened.name + mark;
    document.title = `${opened.name}${mark} – cssame`;
    saving.textContent = opened.kind === "file" ? "Save" : "Download";
    listed.select(opened);
  }

  function show(next: Opened): void {
    opened = next;
    asked = undefined;
    answered = null;
    answers.replaceChildren();
    said.textContent = "Nothing was asked about this program.";
    // The name of a file says which configuration holds.
    const uri = next.kind === "file" ? `file://${encodeURI(next.name.startsWith("/") ? next.name : `${of.directory}/${next.name}`)}` : `untitled:${encodeURIComponent(next.name)}`;
    edit.open(uri, next.text);
    age();
    name();
  }

  async function load(program: Address["program"]): Promise<void> {
    if (program.kind === "text") show({ kind: "text", name: "new program", hash: "", text: program.text });
    else if (program.kind === "sample") show({ kind: "sample", name: program.name, hash: "", text: await server.sample(program.name) });
    else show({ kind: "file", name: program.name, ...(await server.open(program.name)) });
  }

  function choose({ kind, name: called }: Listed): void {
    const program: Address["program"] = kind === "text" ? { kind, text: BEGIN } : { kind, name: called };
    history.pushState(null, "", location.href);
    load(program).then(() => remember(), complain);
  }

  async function store(): Promise<void> {
    const text = edit.text();
    if (opened.kind !== "file") {
      const base = opened.name.split("/").pop() ?? "";
      save(base.endsWith(".csm") ? base : "program.csm", text, "text/plain");
      return;
    }
    try {
      opened = { ...opened, hash: await server.write(opened.name, opened.hash, text), text };
      said.textContent = `wrote ${opened.name}`;
      name();
      remember();
    } catch (error) {
      complain(error);
    }
  }

  /** The address names what is open and what was asked, so that it can be kept or sent. */
  function remember(): void {
    const { kind, name: called } = opened;
    const program: Address["program"] = kind === "text" || isChanged() ? { kind: "text", text: edit.text() } : { kind, name: called };
    const address = written({ program, ...(asked === undefined ? {} : { ask: asked }), options: form.options() });
    history.replaceState(null, "", address.length > LONGEST ? location.pathname : `#${address}`);
  }

  async function ask(command: string, execution: { steps?: Step[]; cycle?: number } = {}): Promise<void> {
    if (job !== null) return;
    const text = edit.text();
    const began = performance.now();
    const question = { ...form.question(command), ...execution, text, ...(opened.kind === "file" ? { file: opened.name } : {}) };
    if (command !== "replay") {
      asked = command;
      remember();
    }
    job = -1;
    form.busy(command);
    said.hidden = false;
    said.textContent = `${command} …`;
    try {
      const ended = await server.ask(question, (number) => (job = number), (line) => (said.textContent = `${command}: ${line}`));
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      said.textContent = `${command}${ended.stopped ? " was stopped" : ""} after ${seconds} s: ${verdict(ended)}`;
      const view = answerView(command, ended, { text, follow: edit.follow, replay });
      // An execution of an answer stands above it.
      if (command === "replay") answers.querySelector(".of-replay")?.remove();
      else answers.replaceChildren();
      answers.prepend(view);
      answered = text;
      if (command === "replay") view.querySelector<HTMLElement>(".charted")?.focus();
    } catch (error) {
      complain(error);
    } finally {
      job = null;
      form.busy(null);
      age();
    }
  }

  const replay: Replay = (steps, cycle) => void ask("replay", { steps, ...(cycle === undefined ? {} : { cycle }) });

  /** Opens what the address names, and asks what it asks. */
  async function restore(): Promise<void> {
    const address = parsed(location.hash);
    form.set(address?.options ?? {});
    try {
      const [first] = of.files;
      await load(address?.program ?? (first === undefined ? { kind: "text", text: BEGIN } : { kind: "file", name: first }));
      if (COMMANDS.some((command) => command === address?.ask)) await ask(address?.ask ?? "");
    } catch (error) {
      complain(error);
    }
  }

  /** Links lead to places of this page; the address is that of the program. */
  function follow(event: MouseEvent): void {
    const target = (event.target as Element | null)?.closest("a[href^='#']")?.getAttribute("href");
    if (!target) return;
    event.preventDefault();
    const line = /^#L(\d+)$/.exec(target)?.[1];
    if (line !== undefined) edit.follow(Number(line));
    else document.getElementById(target.slice(1))?.scrollIntoView();
  }

  const header = html("header", {}, html("h1", {}, "cssame"), themeSwitch(), html("p", { class: "bar" }, html("label", { for: "program" }, "open"), listed.view, saving, formatting));
  const program = html("section", { class: "program", "aria-labelledby": "program-title" }, title, window, found);
  const asking = html("section", { "aria-labelledby": "answers-title" }, html("h2", { id: "answers-title" }, "Questions"), form.view, said, stale, answers);
  place.append(header, html("main", {}, html("div", { class: "beside" }, program, asking)), html("footer", {}, html("p", {}, `cssame ${of.tool}`)));
  document.addEventListener("click", follow);
  addEventListener("popstate", () => void restore());
  void restore();
}
