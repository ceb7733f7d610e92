// Makes the pictures of docs/pictures. CSSAME is the program; CHROMIUM the browser.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("..", import.meta.url));
const program = process.env.CSSAME ?? join(root, "target/debug/cssame");
const scratch = mkdtempSync(join(tmpdir(), "cssame-page-"));
const page = join(scratch, "report.html");
mkdirSync(join(root, "docs/pictures"), { recursive: true });
try {
  execFileSync(program, ["report", "samples/bank_transfer_deadlock.csm", "--quiet", "-o", page], { cwd: root, stdio: "pipe" });
} catch (error) {
  if (error.status !== 1) throw error;
}
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const view = await browser.newPage({ viewport: { width: 1280, height: 1110 }, colorScheme: "light" });
await view.goto(pathToFileURL(page).href);
await view.locator("button.show").first().click();
await view.keyboard.press("End");
await view.evaluate(() => scrollTo(0, 0));
await view.screenshot({ path: join(root, "docs/pictures/report.png") });

const server = spawn(program, ["serve"], { cwd: scratch, stdio: ["ignore", "pipe", "ignore"] });
const address = await new Promise((resolve) => server.stdout.once("data", (line) => resolve(String(line).split("\n")[0])));
await view.goto(`${address}#sample=bank_transfer_deadlock.csm&ask=futures`);
await view.locator("#found button.show").first().click();
await view.waitForSelector(".of-replay");
await view.locator(".hint").first().waitFor();
await view.keyboard.press("End");
await view.evaluate(() => scrollTo(0, 0));
await view.screenshot({ path: join(root, "docs/pictures/serve.png") });
server.kill("SIGINT");
await browser.close();
rmSync(scratch, { recursive: true });
