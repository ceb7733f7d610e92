// The trace view in the editor: a panel with the table, and the lines of the current step in the source.
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { dirname } from "node:path";
import * as vscode from "vscode";
import { traceOf, type Trace } from "./trace";

/** The answer of `cssame run` on a file, by a schedule if there is one. */
export function runOf(program: string, source: string, schedule: string | undefined): Promise<unknown> {
  const followed = schedule === undefined ? [] : ["--schedule", schedule];
  const words = ["run", source, ...followed, "--format", "json"];
  return new Promise((done, failed) => {
    // An execution that fails has an exit status of its own, and an answer all the same.
    execFile(program, words, { cwd: dirname(source), maxBuffer: 1 << 30 }, (error, stdout, stderr) => {
      try {
        done(JSON.parse(stdout));
      } catch {
        failed(new Error(stderr.trim() || error?.message || "`cssame run` has written no JSON"));
      }
    });
  });
}

/** The one panel; a new trace takes the place of the one before. */
export class TraceView implements vscode.Disposable {
  private panel: vscode.WebviewPanel | undefined;
  private trace: Trace | undefined;
  private source: vscode.Uri | undefined;
  private at = 0;
  private readonly mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.stackFrameHighlightBackground"),
    overviewRulerColor: new vscode.ThemeColor("editor.stackFrameHighlightBackground"),
  });
  private readonly changed = vscode.window.onDidChangeVisibleTextEditors(() => this.markLines());

  constructor(private readonly extension: vscode.Uri) {}

  dispose(): void {
    this.changed.dispose();
    this.panel?.dispose();
    this.mark.dispose();
  }

  /** Shows an answer of `cssame run`. */
  show(source: string, answer: unknown): void {
    this.trace = traceOf(answer);
    this.source = vscode.Uri.file(source);
    this.at = 0;
    const isNew = this.panel === undefined;
    const panel = (this.panel ??= this.open());
    panel.title = `Trace of ${vscode.workspace.asRelativePath(this.source)}`;
    panel.reveal(undefined, false);
    // A new page asks for the trace when it has been loaded.
    if (!isNew) this.send();
  }

  private send(): void {
    void this.panel?.webview.postMessage({ trace: this.trace, at: this.at });
  }

  private open(): vscode.WebviewPanel {
    const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: false };
    const folder = vscode.Uri.joinPath(this.extension, "dist");
    const panel = vscode.window.createWebviewPanel("cssame.trace", "Trace", place, {
      enableScripts: true,
      localResourceRoots: [folder],
    });
    panel.webview.onDidReceiveMessage((message: { ready?: true; at?: number }) => {
      if (message.ready) this.send();
      if (message.at !== undefined) {
        this.at = message.at;
        void this.reveal();
      }
    });
    panel.onDidDispose(() => {
      this.panel = undefined;
      this.trace = undefined;
      this.markLines();
    });
    panel.webview.html = page(panel.webview, vscode.Uri.joinPath(folder, "view.js"));
    return panel;
  }

  /** Shows the lines of the current step, and leaves the focus in the panel. */
  private async reveal(): Promise<void> {
    const line = this.lines()[0];
    if (this.source === undefined || line === undefined) return;
    const shown = vscode.window.visibleTextEditors.find((editor) => this.isSource(editor));
    const editor =
      shown ??
      (await vscode.window.showTextDocument(this.source, { viewColumn: vscode.ViewColumn.One, preserveFocus: true }));
    editor.revealRange(range(line), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    this.markLines();
  }

  private markLines(): void {
    for (const editor of vscode.window.visibleTextEditors) {
      editor.setDecorations(this.mark, this.isSource(editor) ? this.lines().map(range) : []);
    }
  }

  private isSource(editor: vscode.TextEditor): boolean {
    return editor.document.uri.toString() === this.source?.toString();
  }

  private lines(): number[] {
    return this.trace?.stops[this.at]?.lines ?? [];
  }
}

function range(line: number): vscode.Range {
  return new vscode.Range(line - 1, 0, line - 1, 0);
}

function page(webview: vscode.Webview, script: vscode.Uri): string {
  const nonce = randomBytes(16).toString("hex");
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'">
<style nonce="${nonce}">
  body { padding: 0 1em; }
  header { position: sticky; top: 0; padding: 0.5em 0; background: var(--vscode-editor-background); }
  button {
    border: none; padding: 0.2em 0.8em; color: var(--vscode-button-foreground);
    background: var(--vscode-button-background);
  }
  button:hover { background: var(--vscode-button-hoverBackground); }
  table { border-collapse: collapse; font-family: var(--vscode-editor-font-family); }
  th, td { text-align: left; padding: 0.1em 1.5em 0.1em 0.3em; white-space: pre; }
  th { border-bottom: 1px solid var(--vscode-editorWidget-border); }
  .line { color: var(--vscode-editorLineNumber-foreground); text-align: right; }
  tr { cursor: pointer; }
  tr.aside td { opacity: 0.5; }
  tr.current { background: var(--vscode-editor-stackFrameHighlightBackground); }
  .failure, .blocked { color: var(--vscode-errorForeground); }
</style>
</head>
<body>
<header>
  <strong id="title"></strong>
  <ul id="facts"></ul>
  <button data-move="first" title="First step (Home)">|◀</button>
  <button data-move="back" title="Step back (↑ or ←)">◀</button>
  <button data-move="forward" title="Step forward (↓ or →)">▶</button>
  <button data-move="last" title="Last step (End)">▶|</button>
  <span id="place"></span>
</header>
<table><thead></thead><tbody></tbody></table>
<ul id="output"></ul>
<script nonce="${nonce}" src="${webview.asWebviewUri(script)}"></script>
</body>
</html>`;
}
