// The package of `drive`: what its tests show, its files, and all of them as one to save.

import { strToU8, zipSync } from "fflate";
import { html, section } from "../dom";
import { table, type Cell } from "../tables";

interface Test {
  name: string;
  end: string;
  output: string[];
  shows: string[];
}

/** Starts a download: where it goes, the browser asks or knows. */
export function save(name: string, content: BlobPart, type: string): void {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = html("a", { href: address, download: name }) as HTMLAnchorElement;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** All files in one archive; the same bytes for the same files. */
export function zipped(files: { path: string; text: string }[]): Uint8Array<ArrayBuffer> {
  const entries = files.map(({ path, text }) => [`package/${path}`, strToU8(text)] as const);
  return new Uint8Array(zipSync(Object.fromEntries(entries), { mtime: new Date(1980, 0, 1) }));
}

export function packageView(answer: Record<string, unknown>, files: { path: string; text: string }[]): HTMLElement {
  const tests = (Array.isArray(answer.tests) ? answer.tests : []) as Test[];
  const rows = tests.map((test): Cell[] => [test.name, (test.shows ?? []).join(", "), test.end ?? "", (test.output ?? []).join(" ⏎ ")]);
  const download = () => save("package.zip", zipped(files), "application/zip");
  const texts = files.map(({ path, text }) => {
    const place = html("div");
    const fill = () => {
      if (!place.hasChildNodes()) place.append(html("pre", { class: "scroll", tabindex: 0, role: "region", "aria-label": path }, text));
    };
    return html("details", { toggle: fill }, html("summary", {}, path), place);
  });
  return section(
    "package",
    "Tests",
    rows.length > 0 ? table("Tests of the package", ["test", "shows", "end", "output"], rows) : html("p", {}, "There is no test."),
    files.length > 0 ? html("p", {}, html("button", { type: "button", click: download }, `save all ${files.length} files (package.zip)`)) : html("p", { class: "open" }, "No package was written."),
    ...texts,
  );
}
