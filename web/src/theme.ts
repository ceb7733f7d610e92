// Light and dark: as the system has it, until the reader chooses.

import { html } from "./dom";

const NAMES = ["auto", "light", "dark"] as const;

/** A choice of the colours. */
export function themeSwitch(): HTMLElement {
  const choice = html("select", { id: "theme", change: (event) => set((event.target as HTMLSelectElement).value) });
  for (const name of NAMES) choice.append(html("option", { value: name }, name));
  const set = (name: string) => {
    if (name === "auto") document.documentElement.removeAttribute("data-theme");
    else document.documentElement.setAttribute("data-theme", name);
  };
  return html("p", { class: "theme" }, html("label", { for: "theme" }, "colours"), " ", choice);
}
