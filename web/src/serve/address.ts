// The permanent address: what stands behind `#` names a program and a question, for any server.

import { strFromU8, strToU8, deflateSync, inflateSync } from "fflate";

/** What an address names: a served file, a sample, or the text itself; and what is asked of it. */
export interface Address {
  program: { kind: "file" | "sample"; name: string } | { kind: "text"; text: string };
  ask?: string;
  options: Record<string, string>;
}

/** Characters of an address that browsers and mail can be trusted with. */
export const LONGEST = 30_000;

/** Bytes of a program that an address may stand for. */
const MOST = 1 << 20;

function packed(text: string): string {
  const bytes = deflateSync(strToU8(text), { level: 9 });
  return btoa(strFromU8(bytes, true)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function unpacked(text: string): string {
  const bytes = strToU8(atob(text.replaceAll("-", "+").replaceAll("_", "/")), true);
  // What is larger than any program that the server takes is not unpacked.
  const unpacked = inflateSync(bytes, { out: new Uint8Array(MOST + 1) });
  if (unpacked.length > MOST) throw new Error("too large");
  return strFromU8(unpacked);
}

/** The text behind `#`. */
export function written({ program, ask, options }: Address): string {
  const of = new URLSearchParams();
  if (program.kind === "text") of.set("text", packed(program.text));
  else of.set(program.kind, program.name);
  if (ask !== undefined) of.set("ask", ask);
  for (const [name, value] of Object.entries(options)) of.set(name, value);
  return of.toString();
}

/** What a text behind `#` names; nothing if it names no program. */
export function parsed(fragment: string): Address | null {
  const of = new URLSearchParams(fragment.replace(/^#/, ""));
  const { file, sample, text, ask, ...options } = Object.fromEntries(of);
  const rest = { ...(ask === undefined ? {} : { ask }), options };
  if (file !== undefined) return { program: { kind: "file", name: file }, ...rest };
  if (sample !== undefined) return { program: { kind: "sample", name: sample }, ...rest };
  if (text === undefined) return null;
  try {
    return { program: { kind: "text", text: unpacked(text) }, ...rest };
  } catch {
    return null;
  }
}
