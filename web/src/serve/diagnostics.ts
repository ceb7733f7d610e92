// Diagnostics of the language server, with their codes, and what mends them.

import { setDiagnostics, type Action, type Diagnostic } from "@codemirror/lint";
import { LSPPlugin, serverDiagnostics, type LSPClient, type LSPClientExtension } from "@codemirror/lsp-client";
import type { EditorView } from "@codemirror/view";
import { refreshHints } from "./hints";

interface Range {
  start: { line: number; character: number };
  end: { line: number; character: number };
}

interface Found {
  range: Range;
  severity?: number;
  code?: string | number;
  message: string;
}

interface CodeAction {
  title: string;
  edit?: { changes?: Record<string, { range: Range; newText: string }[]> };
}

const SEVERITIES = ["error", "error", "warning", "info", "hint"] as const;

/** Diagnostics whose mends are asked for. */
const MENDED = 30;

function actionOf(plugin: LSPPlugin, { title, edit }: CodeAction): Action[] {
  // Each document is a program of its own: an edit changes no other one.
  const edits = Object.values(edit?.changes ?? {}).flat();
  if (edits.length === 0) return [];
  const apply = (view: EditorView) => {
    const changes = edits.map(({ range, newText }) => ({ from: plugin.fromPosition(range.start), to: plugin.fromPosition(range.end), insert: newText }));
    view.dispatch({ changes, userEvent: "input.mend" });
    view.focus();
  };
  return [{ name: title, apply }];
}

async function mendsOf(plugin: LSPPlugin, found: Found): Promise<Action[]> {
  const context = { diagnostics: [found] };
  const actions = await plugin.client.request<object, CodeAction[] | null>("textDocument/codeAction", { textDocument: { uri: plugin.uri }, range: found.range, context });
  return (actions ?? []).flatMap((action) => actionOf(plugin, action));
}

async function show(view: EditorView, all: Found[], told: (all: Found[]) => void): Promise<void> {
  const plugin = LSPPlugin.get(view);
  if (!plugin) return;
  const { doc } = view.state;
  const diagnostics = all.map((found): Diagnostic => ({
    from: plugin.unsyncedChanges.mapPos(plugin.fromPosition(found.range.start, plugin.syncedDoc)),
    to: plugin.unsyncedChanges.mapPos(plugin.fromPosition(found.range.end, plugin.syncedDoc)),
    severity: SEVERITIES[found.severity ?? 1] ?? "error",
    source: `${found.code ?? ""}`,
    message: found.message,
  }));
  view.dispatch(setDiagnostics(view.state, diagnostics));
  told(all);
  const mends = await Promise.all(all.slice(0, MENDED).map((found) => mendsOf(plugin, found).catch(() => [])));
  if (view.state.doc !== doc || mends.every((actions) => actions.length === 0)) return;
  view.dispatch(setDiagnostics(view.state, diagnostics.map((one, index) => ({ ...one, actions: mends[index] ?? [] }))));
}

/** Shows what the server publishes; `told` gets it as well. */
export function diagnostics(told: (all: Found[]) => void): LSPClientExtension {
  const publish = (client: LSPClient, params: { uri: string; version?: number; diagnostics: Found[] }) => {
    const file = client.workspace.getFile(params.uri);
    const view = file?.getView();
    if (!file || !view || (params.version !== undefined && params.version !== file.version)) return false;
    const problem = (error: unknown) => console.warn(String(error));
    show(view, params.diagnostics, told).catch(problem);
    // What the server has found out since, it tells together with its diagnostics.
    refreshHints(view).catch(problem);
    return true;
  };
  return { ...serverDiagnostics(), notificationHandlers: { "textDocument/publishDiagnostics": publish } };
}
