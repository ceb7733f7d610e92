// The report in a browser: what it shows, that keys and clicks work, and that it asks nothing of a network.
//
// CSSAME is the program; CHROMIUM the browser. With SCREENSHOTS, a directory, each page is pictured there.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, existsSync, mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = process.env.CSSAME ?? join(root, "target/debug/cssame");
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const pictures = process.env.SCREENSHOTS;
const scratch = mkdtempSync(join(tmpdir(), "cssame-page-"));
const samples = ["bank_transfer_deadlock", "peterson", "lost_notify_cond", "counter_unlocked", "order_pool", "classes/log4j_hierarchy"].filter((name) =>
  existsSync(join(root, `samples/${name}.csm`)),
);

function report(name) {
  const page = join(scratch, `${name.replace("/", "-")}.html`);
  try {
    execFileSync(program, ["report", `samples/${name}.csm`, "--timeout", "20", "--quiet", "-o", page], { cwd: root, stdio: "pipe" });
  } catch (error) {
    // Findings are no failure.
    assert.ok(error.status === 1 || error.status === 3, `${name}: ${error.stderr}`);
  }
  return pathToFileURL(page).href;
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

async function look(page, name, width, theme) {
  const problems = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("request", (request) => request.url().startsWith("http") && problems.push(request.url()));
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme: theme });
  await page.goto(report(name));
  await page.waitForSelector("main");
  const label = `${name} ${width} ${theme}`;
  assert.ok((await page.locator("h1").innerText()).includes(`${name}.csm`), label);
  const levels = await page.$$eval("h1, h2, h3", (all) => all.map((one) => Number(one.tagName[1])));
  levels.reduce((before, level) => (assert.ok(level <= before + 1, `${label}: a heading of level ${level} behind ${before}`), level), 0);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `${label}: the page is ${wide} pixels too wide`);
  assert.deepEqual(await page.evaluate(contrasts), [], label);
  if (pictures) {
    mkdirSync(pictures, { recursive: true });
    await page.screenshot({ path: join(pictures, `${name.replace("/", "-")}-${width}-${theme}.png`), fullPage: true });
  }
  assert.deepEqual(problems, [], label);
}

async function steps(page) {
  await page.goto(report("bank_transfer_deadlock"));
  await page.locator("button.show").first().click();
  const said = page.locator(".said");
  assert.match(await said.innerText(), /^1 of \d+: main, line 26: write a\.balance = 100$/);
  await page.keyboard.press("ArrowRight");
  assert.match(await said.innerText(), /^2 of .*b\.balance = 200$/);
  assert.equal(await page.locator(".source tr.current").getAttribute("id"), "L27");
  await page.keyboard.press("End");
  assert.match(await said.innerText(), /waits for/);
  assert.equal(await page.locator(".row.later").count(), 0);
  await page.keyboard.press("Home");
  await page.getByRole("button", { name: "step forward" }).click();
  assert.match(await said.innerText(), /^2 of /);
  await page.locator(".row").nth(3).click();
  assert.match(await said.innerText(), /^4 of /);
  assert.ok((await page.locator(".arrow").count()) >= 2, "arrows between threads");
  // Tables sort, both ways.
  const first = () => page.locator("#futures tbody tr").first().innerText();
  const head = page.locator("#futures th button").first();
  await head.click();
  const ascending = await first();
  await head.click();
  assert.notEqual(await first(), ascending);
  // The graph: threads as frames, pi edges, zoom.
  assert.ok((await page.locator(".frame.arm").count()) >= 2 && (await page.locator(".edge.pi").count()) > 0);
  const width = () => page.locator("svg.graph").getAttribute("width").then(Number);
  const before = await width();
  await page.getByRole("button", { name: "zoom in" }).click();
  assert.ok((await width()) > before);
  // The colours of the reader's choice win over those of the system.
  await page.emulateMedia({ colorScheme: "light" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByLabel("colours").selectOption("dark");
  assert.notEqual(await ground(), light);
}

const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath, args: flags });
try {
  for (const name of samples) {
    for (const [width, theme] of [[1280, "light"], [400, "dark"], ...(name === samples[0] ? [[1280, "dark"], [400, "light"]] : [])]) {
      const page = await browser.newPage();
      await look(page, name, width, theme);
      await page.close();
    }
  }
  await steps(await browser.newPage());
  console.log(`${samples.length} reports looked at`);
} finally {
  await browser.close();
  rmSync(scratch, { recursive: true });
}
