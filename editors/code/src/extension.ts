// The extension: starts `cssame lsp`, starts it again when settings change, and does the commands of its code lenses.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import { argumentsOf, findProgram, recordOf, type Record } from "./program";
import { runOf, TraceView } from "./traceView";

let client: LanguageClient | undefined;
/** Starts and stops of the server come one after the other. */
let queue: Promise<void> = Promise.resolve();

export function activate(context: vscode.ExtensionContext): void {
  const view = new TraceView(context.extensionUri);
  const output = vscode.window.createOutputChannel("cssame", { log: true });
  const restart = () => {
    queue = queue.then(stop).then(() => start(output));
    return queue;
  };
  context.subscriptions.push(
    view,
    output,
    vscode.commands.registerCommand("cssame.restart", restart),
    vscode.commands.registerCommand("cssame.run", reporting(run)),
    vscode.commands.registerCommand(
      "cssame.trace",
      reporting((record?: unknown) => trace(view, record)),
    ),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("cssame")) void restart();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
  );
  void restart();
}

export function deactivate(): Promise<void> {
  return queue.then(stop);
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  // A server that has ended by itself cannot be stopped; that is no news.
  await running?.dispose().catch(() => undefined);
}

async function start(output: vscode.LogOutputChannel): Promise<void> {
  if (!vscode.workspace.isTrusted) return;
  const program = await findOrExplain();
  if (program === undefined) return;
  const settings = vscode.workspace.getConfiguration("cssame");
  client = new LanguageClient(
    "cssame",
    "cssame",
    { command: program, args: ["lsp"] },
    {
      documentSelector: [{ language: "csm" }],
      outputChannel: output,
      initializationOptions: {
        inlayHints: settings.get("inlayHints"),
        explore: settings.get("explore"),
        exploreSeconds: settings.get("exploreSeconds"),
        // The server has code lenses only for clients that know their commands.
        commands: true,
      },
    },
  );
  try {
    await client.start();
  } catch (error) {
    const log = "Show Log";
    const text = `\`${program} lsp\` does not start: ${message(error)}. The language server needs cssame 0.2.0 or later.`;
    void vscode.window.showErrorMessage(text, log).then((chosen) => {
      if (chosen === log) output.show();
    });
  }
}

/** The program, or nothing after a message that says what to do. */
async function findOrExplain(): Promise<string | undefined> {
  const setting = vscode.workspace.getConfiguration("cssame").get("path", "cssame");
  const program = findProgram(setting, {
    path: process.env["PATH"] ?? "",
    home: homedir(),
    folder: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath,
    windows: process.platform === "win32",
  });
  if (program === undefined) {
    const settings = "Open Settings";
    const text =
      `The program \`${setting}\` was not found. Build it with \`cargo install --path . --locked\` in the repository of ` +
      "cssame, or set `cssame.path` to where it is. Until then there are colours and snippets only.";
    void vscode.window.showErrorMessage(text, settings).then((chosen) => {
      if (chosen === settings) void vscode.commands.executeCommand("workbench.action.openSettings", "cssame.path");
    });
  }
  return program;
}

/** Does a command, and shows what goes wrong. */
function reporting<Given extends unknown[]>(command: (...given: Given) => Promise<void>) {
  return (...given: Given) =>
    command(...given).catch((error: unknown) => void vscode.window.showErrorMessage(`cssame: ${message(error)}`));
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The program in the active editor, saved. */
async function activeProgram(): Promise<string> {
  const document = vscode.window.activeTextEditor?.document;
  if (document?.languageId !== "csm" || document.isUntitled) throw new Error("open and save a `.csm` file first");
  await document.save();
  return document.fileName;
}

/** Runs a command line `cssame …` in a terminal; without one, the program in the active editor. */
async function run(commandLine?: unknown): Promise<void> {
  const words = commandLine === undefined ? ["run", await activeProgram()] : argumentsOf(commandLine);
  const program = await findOrExplain();
  if (program === undefined) return;
  const document = vscode.window.activeTextEditor?.document;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const cwd = folder ?? (document?.uri.scheme === "file" ? dirname(document.fileName) : homedir());
  // A task starts the program itself, so that no shell reads the words.
  const task = new vscode.Task(
    { type: "cssame" },
    vscode.TaskScope.Workspace,
    `cssame ${words.join(" ")}`,
    "cssame",
    new vscode.ProcessExecution(program, words, { cwd }),
    [],
  );
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, panel: vscode.TaskPanelKind.Shared, clear: false };
  await vscode.tasks.executeTask(task);
}

/** Shows the execution that a schedule records; without one, that of the program in the active editor with seed 0. */
async function trace(view: TraceView, record?: unknown): Promise<void> {
  const { file, schedule, text }: Record = record === undefined ? { file: await activeProgram() } : recordOf(record);
  // The program reads the file, not the editor.
  await vscode.workspace.textDocuments.find((document) => document.fileName === file)?.save();
  const program = await findOrExplain();
  if (program === undefined) return;
  if (text === undefined) return view.show(file, await runOf(program, file, schedule));
  const scratch = await mkdtemp(join(tmpdir(), "cssame-"));
  try {
    const path = join(scratch, "schedule.json");
    await writeFile(path, text);
    view.show(file, await runOf(program, file, path));
  } finally {
    await rm(scratch, { recursive: true });
  }
}
