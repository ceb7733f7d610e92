// Inlay hints: behind each read of shared memory the writes that it may see.

import { LSPPlugin } from "@codemirror/lsp-client";
import { StateEffect, StateField, type Extension } from "@codemirror/state";
import { Decoration, EditorView, WidgetType, type DecorationSet } from "@codemirror/view";

interface Hint {
  position: { line: number; character: number };
  label: string | { value: string }[];
}

class HintView extends WidgetType {
  constructor(readonly text: string) {
    super();
  }
  override eq(other: HintView): boolean {
    return other.text === this.text;
  }
  toDOM(): HTMLElement {
    const view = document.createElement("span");
    view.className = "hint";
    view.textContent = this.text;
    return view;
  }
}

const setHints = StateEffect.define<DecorationSet>();

const field = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (hints, transaction) => {
    const set = transaction.effects.find((effect) => effect.is(setHints));
    return set ? (set.value as DecorationSet) : hints.map(transaction.changes);
  },
  provide: (of) => EditorView.decorations.from(of),
});

/** Asks for the hints of the text as it is now, and shows them. */
export async function refreshHints(view: EditorView): Promise<void> {
  const plugin = LSPPlugin.get(view);
  if (!plugin) return;
  plugin.client.sync();
  const { doc } = view.state;
  const range = { start: { line: 0, character: 0 }, end: { line: doc.lines, character: 0 } };
  const hints = await plugin.client.request<object, Hint[] | null>("textDocument/inlayHint", { textDocument: { uri: plugin.uri }, range });
  // The answer to another text is of no use: the next one is on its way.
  if (view.state.doc !== doc) return;
  const widgets = (hints ?? []).map(({ position, label }) => {
    const text = typeof label === "string" ? label : label.map((part) => part.value).join("");
    return Decoration.widget({ widget: new HintView(text), side: 1 }).range(plugin.fromPosition(position));
  });
  view.dispatch({ effects: setHints.of(Decoration.set(widgets, true)) });
}

export const hints: Extension = field;
