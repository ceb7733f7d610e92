// The editor: CodeMirror over the language server.

import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import { findReferencesKeymap, formatDocument, formatKeymap, hoverTooltips, jumpToDefinitionKeymap, LSPClient, renameKeymap, serverCompletion, type Transport } from "@codemirror/lsp-client";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, StateEffect, StateField, type Extension } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, type DecorationSet } from "@codemirror/view";
import { diagnostics } from "./diagnostics";
import { hints, refreshHints } from "./hints";
import { language } from "./language";
import { sanitized } from "./sanitize";

/** How long the page waits before it connects anew. */
const AGAIN = 1000;

/** A text has changed for good when nothing has followed for that long. */
const QUIET = 300;

/** Seconds of the explorations of the language server; the buttons ask for more. */
const EXPLORE_SECONDS = 5;

const setLine = StateEffect.define<number | null>();

/** The line that an execution is at. */
const followed = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marks, transaction) => {
    const set = transaction.effects.find((effect) => effect.is(setLine));
    if (!set) return marks.map(transaction.changes);
    const line = set.value as number | null;
    if (line === null || line < 1 || line > transaction.state.doc.lines) return Decoration.none;
    return Decoration.set(Decoration.line({ class: "followed" }).range(transaction.state.doc.line(line).from));
  },
  provide: (of) => EditorView.decorations.from(of),
});

export interface Editor {
  view: EditorView;
  text: () => string;
  /** Opens another program under a name of its own. */
  open: (uri: string, text: string) => void;
  /** Shows a line, and marks it. */
  follow: (line: number) => void;
  format: () => void;
}

export interface Listeners {
  changed: () => void;
  /** What the language server has found, or why it cannot be asked. */
  told: (text: string) => void;
  save: () => void;
  ask: (command: string) => void;
}

function counted(severities: number[]): string {
  const words = ["error", "warning", "note"];
  const parts = words.map((word, index) => [severities.filter((one) => one === index + 1).length, word] as const);
  const text = parts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}${count === 1 ? "" : "s"}`).join(", ");
  return text || "nothing found by the editor so far";
}

/** Keeps the client connected: a language server that ends is followed by another one. */
function connect(client: LSPClient, told: (text: string) => void): void {
  const address = new URL("lsp", location.href);
  address.protocol = "ws:";
  address.hash = "";
  const socket = new WebSocket(address);
  const handlers = new Set<(message: string) => void>();
  const transport: Transport = {
    send: (message) => socket.send(message),
    subscribe: (handler) => void handlers.add(handler),
    unsubscribe: (handler) => void handlers.delete(handler),
  };
  socket.addEventListener("message", ({ data }) => handlers.forEach((handler) => handler(String(data))));
  socket.addEventListener("open", () => client.connect(transport));
  socket.addEventListener("close", () => {
    if (client.connected) client.disconnect();
    told("the language server is gone; connecting anew …");
    setTimeout(() => connect(client, told), AGAIN);
  });
}

/** The editor in `place`. */
export function editor(place: HTMLElement, listeners: Listeners): Editor {
  const client = new LSPClient({
    initializationOptions: { inlayHints: "feasible", exploreSeconds: EXPLORE_SECONDS },
    timeout: 10_000,
    sanitizeHTML: sanitized,
    extensions: [serverCompletion(), hoverTooltips(), diagnostics((all) => listeners.told(counted(all.map((found) => found.severity ?? 1))))],
  });
  const command = (name: string) => () => (listeners.ask(name), true);
  const own = [
    { key: "Mod-s", preventDefault: true, run: () => (listeners.save(), true) },
    { key: "Mod-Enter", run: command("report") },
  ];
  let timer = 0;
  const changed = EditorView.updateListener.of((update) => {
    if (!update.docChanged) return;
    listeners.changed();
    clearTimeout(timer);
    timer = setTimeout(() => refreshHints(view).catch(() => undefined), QUIET);
  });
  const extensions: Extension[] = [
    [lineNumbers(), lintGutter(), history(), drawSelection(), indentOnInput(), bracketMatching(), closeBrackets(), autocompletion(), highlightActiveLine(), highlightSelectionMatches()],
    keymap.of([...own, ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap, ...formatKeymap, ...renameKeymap, ...jumpToDefinitionKeymap, ...findReferencesKeymap]),
    [language, indentUnit.of("  "), hints, followed, changed, EditorView.lineWrapping],
    EditorView.contentAttributes.of({ "aria-label": "program" }),
  ];
  const view = new EditorView({ parent: place, state: EditorState.create({ extensions }) });
  connect(client, listeners.told);
  const show = (line: number) => {
    const { doc } = view.state;
    const at = doc.line(Math.max(1, Math.min(doc.lines, line))).from;
    view.dispatch({ effects: [setLine.of(line), EditorView.scrollIntoView(at, { y: "center" })] });
  };
  return {
    view,
    text: () => view.state.doc.toString(),
    open: (uri, text) => view.setState(EditorState.create({ doc: text, extensions: [extensions, client.plugin(uri, "cssame")] })),
    follow: show,
    format: () => void formatDocument(view),
  };
}
