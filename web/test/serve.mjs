// `cssame serve` in a browser: the editor, questions and their answers, stopping, saving, and addresses that can be kept.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertReadable, launch, problemsOf, program } from "./looking.mjs";

const scratch = mkdtempSync(join(tmpdir(), "cssame-serve-"));
const RACE = "int x;\nlock L;\ncobegin\n  T1: { lock(L); x = x + 1; }\n  T2: { lock(L); x = x + 1; unlock(L); }\ncoend\nassert(x == 2);\n";
const HOSTILE = 'int x; // <img src=x onerror=alert(1)>\ncobegin\n  T1: x = 1;\n  T2: assert(x == 0, "<img src=x onerror=alert(2)><script>alert(3)</script>");\ncoend\n';
const LONG = `int x;\ncobegin\n${Array.from({ length: 8 }, (_, arm) => `  T${arm}: { ${"x = x * 3 + 1; ".repeat(8)} }\n`).join("")}coend\nprint(x);\n`;
const EIGHT = `int x;\ncobegin\n${Array.from({ length: 8 }, (_, arm) => `  T${arm + 1}: x = x + 1;\n`).join("")}coend\nassert(x == 9);\n`;

/** What is shown while it is looked at: states and executions take turns. */
const PROGRESS = /^futures: .* (states|executions), /;

/** Starts a server; the address that it prints. */
function serve(...words) {
  const process = spawn(program, ["serve", ...words], { cwd: scratch, stdio: ["ignore", "pipe", "ignore"] });
  return new Promise((resolve, reject) => {
    process.on("error", reject);
    process.stdout.once("data", (line) => resolve({ process, address: String(line).split("\n")[0] }));
  });
}

async function open(browser, address, { width = 1280, theme = "light" } = {}) {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: theme });
  const own = new URL(address);
  const problems = problemsOf(page, (url) => new URL(url).host === own.host && new URL(url).pathname.startsWith(own.pathname));
  // Chromium calls a stream aborted that was read piece by piece, to its end.
  page.on("requestfailed", (request) => !request.url().endsWith("api/jobs") && problems.push(`${request.url()}: ${request.failure()?.errorText}`));
  await page.goto(address);
  // What the address names is open only when it has a name; what is typed before would be gone.
  await page.waitForFunction(() => !["", "Program"].includes(document.getElementById("program-title")?.textContent ?? ""));
  return { page, problems };
}

const textOf = (page) => page.locator(".cm-line").allInnerTexts().then((lines) => lines.join("\n"));

async function type(page, text) {
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(text);
}

async function ask(page, command) {
  await page.getByRole("button", { name: command, exact: true }).click();
  await page.waitForSelector(`.answer.of-${command}`, { timeout: 60_000 });
}

async function looks(browser, { address }) {
  for (const sample of ["bank_transfer_deadlock.csm", "classes/bank_account_broken.csm"]) {
    for (const [width, theme] of [[1280, "light"], [1280, "dark"], [400, "light"], [400, "dark"]]) {
      const { page, problems } = await open(browser, `${address}#sample=${encodeURIComponent(sample)}&ask=report&seconds=5`, { width, theme });
      await page.waitForSelector(".answer.of-report", { timeout: 60_000 });
      await page.getByText("bounds and options").click();
      await page.getByText(/\d (error|warning)/).first().waitFor();
      await assertReadable(page, `serve ${sample} ${width} ${theme}`);
      assert.deepEqual(problems, []);
      await page.close();
    }
  }
}

/** What the language server says is shown, and what it mends is mended. */
async function editing(browser, { address }) {
  const { page, problems } = await open(browser, address);
  await type(page, RACE);
  await page.getByText("1 error", { exact: false }).first().waitFor();
  await page.locator(".cm-lint-marker").first().waitFor();
  await page.locator(".hint").first().waitFor();
  assert.match(await page.locator(".hint").first().innerText(), /^← .*T2:5/);
  await page.locator(".cm-line", { hasText: "T1:" }).getByText("x", { exact: false }).first().hover();
  // The panel of diagnostics has what mends them.
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+Shift+M");
  const mend = page.locator(".cm-diagnosticAction").first();
  await mend.waitFor();
  await mend.click();
  await page.locator(".cm-line", { hasText: "T1:" }).getByText("unlock").waitFor();
  // Formatting is that of `cssame fmt`.
  await type(page, "int   x;void main( ){x=1 ;}");
  await page.getByRole("button", { name: "Format" }).click();
  await page.locator(".cm-line", { hasText: "void main() { x = 1; }" }).waitFor();
  // Names of the last text that compiled are completed; its finding says that it was looked at.
  await type(page, "int counter;\ncobegin\n  T1: counter = 1;\n  T2: counter = 2;\ncoend\n");
  await page.getByText(/^1 (error|warning)$/).waitFor();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("coun", { delay: 30 });
  await page.locator(".cm-tooltip-autocomplete li", { hasText: "counter" }).waitFor();
  assert.deepEqual(problems, []);
  await page.close();
}

async function asking(browser, { address }) {
  const { page, problems } = await open(browser, `${address}#sample=bank_transfer_deadlock.csm`);
  await ask(page, "futures");
  await page.locator("#found button.show").first().click();
  await page.waitForSelector(".of-replay");
  assert.match(await page.locator(".stepper .said").innerText(), /^1 of \d+: main, line 26: write a\.balance = 100$/);
  await page.keyboard.press("End");
  assert.match(await page.locator(".stepper .said").innerText(), /waits for a\.guard \(T1\); held by T1 since row \d+$/);
  assert.match(await page.locator(".cm-line.followed").innerText(), /lock\(to\.guard\)/);
  // Another one takes its place, and the answer stays.
  await page.locator("#futures button.show").first().click();
  await page.getByText("It ends in a deadlock").waitFor({ state: "hidden" });
  assert.equal(await page.locator(".of-replay").count(), 1);
  // Links lead to lines of the editor, and leave the address alone.
  const before = page.url();
  await page.locator("#futures a.line", { hasText: "a.balance@34:9" }).first().click();
  assert.match(await page.locator(".cm-line.followed").innerText(), /print\(a\.balance/);
  assert.equal(page.url(), before);
  await ask(page, "races");
  await page.getByText("bounds and options").click();
  await page.getByLabel("seed of run").fill("7");
  await ask(page, "run");
  await ask(page, "drive");
  await page.getByText("tests/futures.rs").click();
  await page.locator("details pre", { hasText: "#[test]" }).first().waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: /save all/ }).click()]);
  assert.equal(download.suggestedFilename(), "package.zip");
  // The answer to what does not compile.
  await type(page, "int x = ;\n");
  await page.getByText("The program has changed since.").waitFor();
  await ask(page, "futures");
  await page.getByRole("heading", { name: "There is no answer" }).waitFor();
  assert.ok((await page.locator("#found li").innerText()).startsWith("error CS0101"));
  await type(page, HOSTILE);
  await ask(page, "report");
  await page.locator(".cm-line", { hasText: "assert" }).getByText("x", { exact: false }).first().hover();
  // The editor itself puts images without a source around the hints behind reads.
  assert.equal(await page.locator("img:not(.cm-widgetBuffer), script:not([src])").count(), 0);
  assert.deepEqual(problems, []);
  await page.close();
}

/** Eight threads have room at 1280 pixels; what was said of a program goes when it changes, and is back where that is undone. */
async function eightThreads(browser, { address }) {
  const { page, problems } = await open(browser, address);
  await type(page, EIGHT);
  await ask(page, "run");
  const said = page.locator("section > .said");
  assert.match(await said.innerText(), /^run after .* s: 1 failure$/);
  const room = await page.locator(".charted").evaluate((one) => [one.scrollWidth, one.clientWidth]);
  assert.ok(room[0] <= room[1], `the lanes of eight threads take ${room[0]} of ${room[1]} pixels`);
  await assertReadable(page, "serve eight threads");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.insertText("// other\n");
  await page.getByText("The program has changed since.").waitFor();
  assert.deepEqual([await said.isVisible(), await page.locator(".answer").isVisible()], [false, false]);
  await page.keyboard.press("Control+z");
  await page.locator(".answer.of-run").waitFor();
  assert.equal(await said.isVisible(), true);
  // What has no view of its own is shown as in a terminal.
  await ask(page, "ir");
  assert.match(await page.locator(".terminal").innerText(), /x_\d+ = pi\(x_0, /);
  // The list is searched.
  await page.getByLabel("search programs").fill("peterson");
  assert.deepEqual(await page.locator("#program option").allInnerTexts(), ["new program", "peterson.csm", "peterson_broken.csm"]);
  await page.getByLabel("search programs").press("Enter");
  await page.locator(".cm-line", { hasText: "Peterson" }).first().waitFor();
  assert.equal(await page.locator(".answer").count(), 0);
  assert.deepEqual(problems, []);
  await page.close();
}

async function stopping(browser, { address }) {
  const { page, problems } = await open(browser, address);
  await type(page, LONG);
  await page.getByRole("button", { name: "futures", exact: true }).click();
  await page.getByText(PROGRESS).waitFor();
  assert.ok(await page.getByRole("button", { name: "run", exact: true }).isDisabled());
  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByText(/^futures was stopped after .* s: not all is decided$/).waitFor();
  await page.getByText("Not all was looked at").waitFor();
  // A page that goes away takes its question with it; the next one is answered.
  await page.getByRole("button", { name: "futures", exact: true }).click();
  await page.getByText(PROGRESS).waitFor();
  await page.reload();
  await page.waitForSelector(".cm-content");
  assert.deepEqual(problems, []);
  await page.close();
}

async function addresses(browser, { address }) {
  const { page } = await open(browser, address);
  await type(page, RACE);
  await page.getByText("bounds and options").click();
  await page.getByLabel(/^seconds/).fill("3");
  await ask(page, "races");
  const kept = page.url();
  assert.match(kept, /#text=[\w-]+&ask=races&seconds=3$/);
  await page.close();
  // The same program and the same question, in another window.
  const { page: other, problems } = await open(browser, kept);
  await other.waitForSelector(".answer.of-races", { timeout: 60_000 });
  assert.equal(await textOf(other).then((text) => text.replace(/← .*?(?=[;\n ])/g, "").includes("lock L;")), true);
  // What was there before another program was opened is there again.
  await other.getByLabel("open").selectOption("sample peterson.csm");
  await other.locator(".cm-line", { hasText: "Peterson" }).first().waitFor();
  assert.match(other.url(), /#sample=peterson\.csm/);
  await other.goBack();
  await other.waitForSelector(".answer.of-races", { timeout: 60_000 });
  assert.match(other.url(), /#text=/);
  assert.deepEqual(problems, []);
  await other.close();
}

async function saving(browser) {
  const file = join(scratch, "own.csm");
  writeFileSync(file, RACE);
  const server = await serve(".");
  const { page, problems } = await open(browser, server.address);
  assert.equal(await page.locator("#program-title").innerText(), "own.csm");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.insertText("// changed\n");
  await page.getByText("own.csm (changed)").waitFor();
  assert.equal(readFileSync(file, "utf8"), RACE, "nothing is written before it is saved");
  await page.keyboard.press("Control+s");
  await page.getByText("wrote own.csm").waitFor();
  assert.equal(readFileSync(file, "utf8"), `// changed\n${RACE}`);
  writeFileSync(file, "int other;\n");
  await page.keyboard.insertText("// again\n");
  await page.keyboard.press("Control+s");
  await page.getByText("the file has changed on disk since it was opened").waitFor();
  assert.equal(readFileSync(file, "utf8"), "int other;\n");
  // The browser tells of an answer that is none.
  assert.deepEqual(problems.filter((text) => !text.includes("409")), []);
  await page.close();
  server.process.kill("SIGINT");
}

/** Every control is reached by the key Tab, also behind the editor. */
async function keyboard(browser, { address }) {
  const { page } = await open(browser, `${address}#sample=counter_unlocked.csm&ask=futures`);
  await page.waitForSelector(".answer.of-futures");
  const controls = await page.evaluate(() => {
    const shown = (one) => one.checkVisibility() && !one.disabled && !one.closest(".cm-editor");
    const all = [...document.querySelectorAll("a[href], button, select, input, summary, [tabindex='0']")].filter(shown);
    all.forEach((one, index) => one.setAttribute("data-control", index));
    return all.length;
  });
  const reached = new Set();
  for (let press = 0; press < controls + 20; press++) {
    await page.keyboard.press("Tab");
    const control = await page.evaluate(() => document.activeElement?.getAttribute("data-control"));
    if (control !== null) reached.add(control);
  }
  assert.equal(reached.size, controls, "every control is reached by Tab");
  await page.keyboard.press("Control+Home");
  await page.close();
}

const browser = await launch();
const server = await serve();
try {
  await looks(browser, server);
  await editing(browser, server);
  await asking(browser, server);
  await eightThreads(browser, server);
  await stopping(browser, server);
  await addresses(browser, server);
  await saving(browser);
  await keyboard(browser, server);
  console.log("the page of `cssame serve` was looked at");
} finally {
  await browser.close();
  server.process.kill("SIGINT");
  rmSync(scratch, { recursive: true });
}
