// The colours of texts stand out from what they are written on, in both themes.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const style = readFileSync("src/style.css", "utf8");

/** By name: light and dark. */
const colours = new Map([...style.matchAll(/--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map((one) => [one[1]!, [one[2]!, one[3]!] as const]));

function luminance(colour: string): number {
  const channel = (at: number) => {
    const value = parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

/** The contrast of WCAG 2. */
function contrast(one: string, other: string): number {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

function lowest(text: string, ground: string): number {
  const [one, other] = [colours.get(text)!, colours.get(ground)!];
  return Math.min(contrast(one[0], other[0]), contrast(one[1], other[1]));
}

const TEXTS: Record<string, string[]> = {
  text: ["ground", "raised", "read-ground", "write-ground", "bad-ground", "current", "locked", "cycle", "good-ground"],
  soft: ["ground", "raised", "current", "cycle"],
  link: ["ground", "raised", "current"],
  error: ["ground", "raised"],
  warning: ["ground", "raised"],
  note: ["ground", "raised"],
  good: ["good-ground"],
  pi: ["ground", "locked"],
};

test("texts have a contrast of 4.5, lines that mean something one of 3", () => {
  for (const [text, grounds] of Object.entries(TEXTS)) {
    for (const ground of grounds) expect(lowest(text, ground), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
  }
  for (const line of ["link", "pi", "good", "soft", "error"]) expect(lowest(line, "ground"), line).toBeGreaterThanOrEqual(3);
});
