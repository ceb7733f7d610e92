// The report in a browser: what it shows, that keys and clicks work, and that it asks nothing of a network.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { assertReadable, launch, problemsOf, program, root } from "./looking.mjs";

const scratch = mkdtempSync(join(tmpdir(), "cssame-page-"));
// A deadlock, a lock made of variables, a lost notification, a race, a failure, a program without findings, a file without main.
const samples = ["bank_transfer_deadlock", "peterson", "lost_notify_cond", "counter_unlocked", "order_pool_broken", "order_pool", "classes/bank_account_broken"];

const texts = {
  endless: "atomic bool stop;\ncobegin\n  T1: while (!stop) skip;\n  T2: { stop = true; stop = false; }\ncoend\n",
  hostile: "int x; // </script><script>document.title = 'hit'</script> <!-- \u2028 <img src=x onerror=alert(1)>\ncobegin\n  T1: x = 1;\n  T2: assert(x == 0, \"</script><b>\");\ncoend\n",
  // 2,400 blocks in one function, and a long execution.
  large: `int x; int y; int n;\nlock L;\nvoid f(int k) {\n${Array.from({ length: 800 }, (_, at) => `  if (k == ${at}) n = ${at}; else n = 0;\n`).join("")}}\nvoid main() {\n  f(1);\n  for (int i = 0; i < 500; i++) { lock(L); unlock(L); }\n  cobegin\n    T1: { lock(L); x = 1; assert(y == 0); unlock(L); }\n    T2: y = 1;\n  coend\n}\n`,
};

const pages = new Map();

/** The page of a sample, or of one of the texts above. */
function report(name) {
  if (pages.has(name)) return pages.get(name);
  const page = join(scratch, `${name.replace("/", "-")}.html`);
  let source = `samples/${name}.csm`;
  if (texts[name] !== undefined) {
    source = join(scratch, `${name}.csm`);
    writeFileSync(source, texts[name]);
  }
  try {
    execFileSync(program, ["report", source, "--timeout", "5", "--quiet", "-o", page], { cwd: root, stdio: "pipe" });
  } catch (error) {
    // Findings are no failure.
    assert.ok(error.status === 1 || error.status === 3, `${name}: ${error.stderr}`);
  }
  pages.set(name, pathToFileURL(page).href);
  return pages.get(name);
}

/** A page that takes note of what must not happen. */
async function open(browser, name, { width = 1280, theme = "light" } = {}) {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme: theme });
  const url = report(name);
  const problems = problemsOf(page, (address) => address.split("#")[0] === url);
  await page.goto(url);
  await page.waitForSelector("main");
  return { page, problems };
}

async function look(browser, name, width, theme) {
  const { page, problems } = await open(browser, name, { width, theme });
  const label = `${name} ${width} ${theme}`;
  assert.ok((await page.locator("h1").innerText()).includes(`${name}.csm`), label);
  await assertReadable(page, label);
  assert.deepEqual(problems, [], label);
  await page.close();
}

/** Every control is reached by the key Tab, and shows that it is. */
async function keyboard(browser) {
  const { page } = await open(browser, "counter_unlocked");
  const controls = await page.evaluate(() => {
    const all = [...document.querySelectorAll("a[href], button, select, input, summary, [tabindex='0']")];
    all.forEach((one, index) => one.setAttribute("data-control", index));
    return all.length;
  });
  const reached = new Set();
  for (let press = 0; press < controls + 20; press++) {
    await page.keyboard.press("Tab");
    const [control, outline] = await page.evaluate(() => [document.activeElement?.getAttribute("data-control"), getComputedStyle(document.activeElement).outlineStyle]);
    if (control === null) continue;
    reached.add(control);
    assert.notEqual(outline, "none", `control ${control} does not show that it is chosen`);
  }
  assert.equal(reached.size, controls, "every control is reached by Tab");
  await page.close();
}

async function steps(browser) {
  const { page, problems } = await open(browser, "bank_transfer_deadlock");
  await page.locator("button.show").first().click();
  const said = page.locator(".said");
  assert.match(await said.innerText(), /^1 of \d+: main, line 26: write a\.balance = 100$/);
  await page.keyboard.press("ArrowRight");
  assert.match(await said.innerText(), /^2 of .*b\.balance = 200$/);
  assert.equal(await page.locator(".source tr.current").getAttribute("id"), "L27");
  assert.equal(await page.locator(".values .now").innerText(), "b.balance = 200");
  await page.keyboard.press("End");
  assert.match(await said.innerText(), /waits for a\.guard \(T1\); held by T1 since row \d+$/);
  assert.equal(await page.locator(".row.later").count(), 0);
  assert.ok((await page.locator(".arrow.lock.current").count()) > 0 && (await page.locator(".arrow.thread").count()) >= 2);
  await page.keyboard.press("Home");
  await page.getByRole("button", { name: "step forward" }).click();
  assert.match(await said.innerText(), /^2 of /);
  await page.locator(".row").nth(3).click();
  assert.match(await said.innerText(), /^4 of /);
  await page.getByLabel("row of the execution").fill("3");
  assert.match(await said.innerText(), /^3 of /);
  await page.getByText("all rows in words").click();
  await page.locator("details tbody tr").nth(8).waitFor();
  // A term leads to the write, a mark to the finding.
  await page.locator(".terms a.term").first().click();
  assert.equal(await page.locator("tr:target").count(), 1);
  await page.locator("a.mark.error").first().click();
  assert.match(await page.locator("article:target").innerText(), /deadlock/);
  // Tables sort, both ways.
  const first = () => page.locator("#futures tbody tr").first().innerText();
  const head = page.locator("#futures th button").first();
  await head.click();
  const ascending = await first();
  await head.click();
  assert.notEqual(await first(), ascending);
  assert.deepEqual(problems, []);
  await page.close();
}

async function graph(browser) {
  const { page, problems } = await open(browser, "bank_transfer_deadlock");
  assert.ok((await page.locator(".frame.arm").count()) >= 2 && (await page.locator(".edge.pi").count()) > 0 && (await page.locator(".locked").count()) > 1);
  const width = () => page.locator("svg.graph").getAttribute("width").then(Number);
  const before = await width();
  await page.getByRole("button", { name: "zoom in" }).click();
  const larger = await width();
  assert.ok(larger > before);
  await page.locator(".graphed").focus();
  await page.keyboard.press("-");
  assert.ok((await width()) < larger);
  await page.keyboard.press("+");
  await page.keyboard.press("+");
  const box = await page.locator(".graphed").boundingBox();
  const left = () => page.locator(".graphed").evaluate((one) => one.scrollTop);
  await page.mouse.move(box.x + 300, box.y + 300);
  await page.mouse.down();
  await page.mouse.move(box.x + 300, box.y + 200, { steps: 4 });
  await page.mouse.up();
  assert.ok((await left()) > 0, "dragging moves the graph");
  await page.getByLabel("show", { exact: true }).selectOption({ label: "T1 (thread)" });
  assert.equal(await page.locator(".frame").count(), 1);
  // The colours of the reader's choice win over those of the system.
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByLabel("colours").selectOption("dark");
  assert.notEqual(await ground(), light);
  assert.deepEqual(problems, []);
  await page.close();
}

async function others(browser) {
  const hostile = await open(browser, "hostile");
  assert.match(await hostile.page.title(), /hostile\.csm/);
  assert.equal(await hostile.page.locator("img, b, .source script").count(), 0);
  assert.ok((await hostile.page.locator("#L1").innerText()).includes("</script><script>document.title"));
  assert.deepEqual(hostile.problems, []);
  const endless = await open(browser, "endless");
  assert.match(await endless.page.locator(".end").innerText(), /^From row 5 on its steps repeat for ever/);
  assert.equal(await endless.page.locator(".chart .cycle").count(), 1);
  const began = Date.now();
  const large = await open(browser, "large");
  assert.ok(Date.now() - began < 10_000, "a large report is there soon");
  assert.ok((await large.page.locator(".row").count()) <= 300);
  await large.page.locator(".charted").focus();
  await large.page.keyboard.press("End");
  assert.match(await large.page.locator(".said").innerText(), /^(\d+) of \1: .*assert/);
  const options = await large.page.locator("#graph-of option").allInnerTexts();
  assert.ok(options.some((name) => /f \(function\), blocks 1 to 250 of 2401/.test(name)), options.join());
  assert.deepEqual([...endless.problems, ...large.problems], []);
}

const browser = await launch();
try {
  for (const name of samples) {
    for (const [width, theme] of [[1280, "light"], [1280, "dark"], [400, "light"], [400, "dark"]]) await look(browser, name, width, theme);
  }
  await keyboard(browser);
  await steps(browser);
  await graph(browser);
  await others(browser);
  console.log(`${pages.size} reports looked at`);
} finally {
  await browser.close();
  rmSync(scratch, { recursive: true });
}
