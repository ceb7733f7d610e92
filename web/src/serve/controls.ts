// The form above the answers: what is asked, and within which bounds.

import { html } from "../dom";
import type { Question, Served } from "./server";

export const COMMANDS = ["report", "run", "futures", "races", "hunt", "check", "pi", "ir", "paths", "coverage", "correlate", "drive"] as const;

const TITLES: Record<string, string> = {
  report: "all that is known: findings with executions, terms, races, coverage, the graph (Ctrl-Enter)",
  run: "one execution, chosen by the seed",
  futures: "which writes reads may see, outcomes, failures, deadlocks",
  races: "which accesses race, and what follows",
  hunt: "an execution that fails, looked for fast",
  check: "what the text alone shows: errors, warnings, how to mend them",
  pi: "which writes each read may see, and which not, with the reasons",
  ir: "the program in CSSAME form, with pi and phi functions",
  paths: "orders of accesses that change which way branches go, as tests",
  coverage: "which patterns of accesses executions have shown",
  correlate: "variables that belong together, and methods that take them apart",
  drive: "a package of deterministic tests",
};

const TARGETS = ["rust", "java", "aspectj"];

/** What the form says, as texts that an address can carry. */
export type Options = Record<string, string>;

export interface Controls {
  view: HTMLElement;
  options: () => Options;
  set: (options: Options) => void;
  /** What is asked, but for the program. */
  question: (command: string) => Omit<Question, "text">;
  /** Whether a question is being answered. */
  busy: (command: string | null) => void;
}

type Field = HTMLInputElement | HTMLSelectElement;

function numbered(text: string): number | undefined {
  const value = Number(text);
  return text.trim() !== "" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function whole(text: string): number | undefined {
  const value = numbered(text);
  return value === undefined ? undefined : Math.floor(value);
}

/** The form; `ask` and `stop` are its buttons, `changed` is told of each change of an option. */
export function controls(most: Served["most"], ask: (command: string) => void, stop: () => void, changed: () => void): Controls {
  const seconds = Math.min(10, most.seconds);
  const fields: Record<string, Field> = {
    seconds: html("input", { type: "number", min: 0.1, max: most.seconds, step: "any", value: seconds }) as HTMLInputElement,
    megabytes: html("input", { type: "number", min: 1, max: most.megabytes, value: Math.min(512, most.megabytes) }) as HTMLInputElement,
    states: html("input", { type: "number", min: 1, placeholder: "as many" }) as HTMLInputElement,
    seed: html("input", { type: "number", min: 0, value: 0 }) as HTMLInputElement,
    inputs: html("input", { type: "text", placeholder: "n=3 m=0..4", spellcheck: "false" }) as HTMLInputElement,
    target: html("select", {}, ...TARGETS.map((target) => html("option", { value: target }, target))) as HTMLSelectElement,
    spurious: html("input", { type: "checkbox" }) as HTMLInputElement,
    writers: html("input", { type: "checkbox" }) as HTMLInputElement,
  };
  const labels: Record<string, string> = {
    ...{ seconds: `seconds a search (at most ${most.seconds})`, megabytes: `megabytes (at most ${most.megabytes})`, states: "states", seed: "seed of run" },
    ...{ inputs: "inputs", target: "tests of drive in", spurious: "spurious wakeups", writers: "writers first" },
  };
  const initial = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, valueOf(field)]));
  const rows = Object.entries(fields).map(([name, field]) => {
    field.id = `option-${name}`;
    field.addEventListener("change", changed);
    return html("p", {}, html("label", { for: field.id }, labels[name] ?? name), field);
  });
  const buttons = COMMANDS.map((command) => html("button", { type: "button", class: "ask", title: TITLES[command] ?? "", click: () => ask(command) }, command) as HTMLButtonElement);
  const stopping = html("button", { type: "button", class: "stop", disabled: true, click: stop }, "Stop") as HTMLButtonElement;
  const value = (name: string) => valueOf(fields[name]!);
  return {
    view: html("div", { class: "controls" }, html("div", { class: "bar", role: "toolbar", "aria-label": "questions" }, ...buttons, stopping), html("details", {}, html("summary", {}, "bounds and options"), html("div", { class: "options" }, ...rows))),
    options: () => Object.fromEntries(Object.keys(fields).filter((name) => value(name) !== initial[name]).map((name) => [name, value(name)])),
    set: (options) => {
      for (const [name, field] of Object.entries(fields)) setValue(field, options[name] ?? initial[name] ?? "");
    },
    question: (command) => {
      const inputs = value("inputs").split(/[\s,]+/).filter((input) => input !== "");
      const numbers = { seconds: numbered(value("seconds")), megabytes: whole(value("megabytes")), max_states: whole(value("states")), seed: whole(value("seed")) };
      const given = Object.fromEntries(Object.entries(numbers).filter(([, number]) => number !== undefined));
      return { command, inputs, target: value("target"), spurious_wakeups: value("spurious") === "yes", prefer_writers: value("writers") === "yes", ...given };
    },
    busy: (command) => {
      for (const button of buttons) {
        button.disabled = command !== null;
        button.classList.toggle("asked", button.textContent === command);
      }
      stopping.disabled = command === null;
    },
  };
}

function valueOf(field: Field): string {
  return field instanceof HTMLInputElement && field.type === "checkbox" ? (field.checked ? "yes" : "no") : field.value;
}

function setValue(field: Field, value: string): void {
  if (field instanceof HTMLInputElement && field.type === "checkbox") field.checked = value === "yes";
  else field.value = value;
}
