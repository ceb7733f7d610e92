// The list of programs: in groups, narrowed by a search, no program twice.

import { html } from "../dom";

/** What a program is: a served file, a sample, or a new one. */
export interface Listed {
  kind: "file" | "sample" | "text";
  name: string;
}

export interface Programs {
  view: HTMLElement;
  /** Shows which one is open. */
  select: (program: Listed) => void;
}

const GROUPS: [string, RegExp][] = [
  ["samples: classes under test", /^classes\//],
  ["samples: programs of the papers", /^(cssame|setiadi|sen|jannesari|map|coverage)_/],
  ["samples: races", /^races_/],
];

/** The groups, each sorted; a sample that is served as a file is in the list as that file. */
export function groups(files: string[], samples: string[]): Map<string, Listed[]> {
  const all = new Map<string, Listed[]>([["", [{ kind: "text", name: "new program" }]]]);
  const add = (group: string, program: Listed) => all.set(group, [...(all.get(group) ?? []), program]);
  const folder = (name: string) => name.split("/").slice(0, -1).join("/");
  for (const name of [...new Set(files)].sort()) add(folder(name) === "" ? "files" : `files: ${folder(name)}`, { kind: "file", name });
  const others = samples.filter((name) => !files.some((file) => file === name || file.endsWith(`samples/${name}`)));
  for (const group of ["samples", ...GROUPS.map(([group]) => group)]) {
    for (const name of others) if ((GROUPS.find(([, names]) => names.test(name))?.[0] ?? "samples") === group) add(group, { kind: "sample", name });
  }
  return all;
}

/** The list with its search; `open` is called with what is chosen. Enter in the search opens the first that is left. */
export function programs(files: string[], samples: string[], open: (program: Listed) => void): Programs {
  const all = groups(files, samples);
  const value = ({ kind, name }: Listed) => `${kind} ${name}`;
  const of = new Map([...all.values()].flat().map((program) => [value(program), program]));
  let current = "text new program";
  const openValue = (key = "") => {
    const program = of.get(key);
    if (program) open(program);
  };
  const choice = html("select", { id: "program", change: () => openValue(choice.value) }) as HTMLSelectElement;
  const search = html("input", { type: "search", id: "program-search", placeholder: "search", "aria-label": "search programs", spellcheck: "false", input: () => fill(), keydown: (event) => (event as KeyboardEvent).key === "Enter" && openValue(matching()[0]) }) as HTMLInputElement;
  const isWanted = ({ name }: Listed) => search.value.toLowerCase().split(/\s+/).every((word) => name.toLowerCase().includes(word));
  const matching = () => [...of].filter(([, program]) => isWanted(program)).map(([key]) => key);
  const fill = () => {
    const options = ([group, listed]: [string, Listed[]]) => {
      // What is open stays in the list, so that the list says so.
      const shown = listed.filter((program) => isWanted(program) || value(program) === current);
      const each = shown.map((program) => html("option", { value: value(program) }, program.name));
      return group === "" || each.length === 0 ? each : [html("optgroup", { label: group }, ...each)];
    };
    choice.replaceChildren(...[...all].flatMap(options));
    choice.value = current;
  };
  fill();
  return {
    view: html("span", { class: "programs" }, choice, search),
    select: (program) => {
      current = program.kind === "text" ? "text new program" : value(program);
      fill();
    },
  };
}
