// What the tests in a browser share. CHROMIUM is the browser; with SCREENSHOTS, a directory, pages are pictured there.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const program = process.env.CSSAME ?? join(root, "target/debug/cssame");

const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: flags });
}

/** Takes note of what must not happen on a page; requests are allowed where `isOwn` says so. */
export function problemsOf(page, isOwn) {
  const problems = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("dialog", (dialog) => problems.push(dialog.message()));
  page.on("request", (request) => !isOwn(request.url()) && !request.url().startsWith("data:") && problems.push(request.url()));
  return problems;
}

/** Every text against the ground it stands on, by the formula of WCAG 2. */
function contrasts() {
  const channel = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
  const ground = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = rgb(getComputedStyle(one).backgroundColor);
      if (colour[3] > 0) return colour;
    }
    return [255, 255, 255, 255];
  };
  const low = new Set();
  for (const element of document.querySelectorAll("body *:not(svg *):not(script):not(option)")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== "");
    if (!own || element.closest(".hidden, noscript")) continue;
    const [one, two] = [light(rgb(getComputedStyle(element).color)), light(ground(element))];
    const ratio = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (ratio < 4.5) low.add(`${element.tagName}.${element.className} ${element.textContent.slice(0, 20)}: ${ratio.toFixed(2)}`);
  }
  return [...low];
}

/** Headings in order, nothing wider than the window, contrast, each id once; and a picture. */
export async function assertReadable(page, label) {
  const levels = await page.$$eval("h1, h2, h3", (all) => all.map((one) => Number(one.tagName[1])));
  levels.reduce((before, level) => (assert.ok(level <= before + 1, `${label}: a heading of level ${level} behind ${before}`), level), 0);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${label}: the page is ${wide} pixels too wide`);
  assert.deepEqual(await page.evaluate(contrasts), [], label);
  const ids = await page.$$eval("[id]", (all) => all.map((one) => one.id));
  assert.equal(new Set(ids).size, ids.length, `${label}: an id stands twice`);
  const pictures = process.env.SCREENSHOTS;
  if (pictures) {
    mkdirSync(pictures, { recursive: true });
    await page.screenshot({ path: join(pictures, `${label.replaceAll(/[ /]/g, "-")}.png`), fullPage: true });
  }
}
