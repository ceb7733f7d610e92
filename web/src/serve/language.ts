// The colours of the language. What names mean, the language server knows.

import { HighlightStyle, StreamLanguage, syntaxHighlighting, type StreamParser } from "@codemirror/language";
import { tags } from "@lezer/highlight";
import { WORDS } from "../source";

const parser: StreamParser<{ inComment: boolean }> = {
  name: "cssame",
  startState: () => ({ inComment: false }),
  token(stream, state) {
    if (state.inComment) {
      state.inComment = !stream.skipTo("*/");
      if (state.inComment) stream.skipToEnd();
      else stream.match("*/");
      return "comment";
    }
    if (stream.eatSpace()) return null;
    if (stream.match("//")) {
      stream.skipToEnd();
      return "comment";
    }
    if (stream.match("/*")) {
      state.inComment = true;
      return "comment";
    }
    if (stream.match(/"(?:[^"\\]|\\.)*"?/)) return "string";
    if (stream.match(/\d[\w.]*/)) return "number";
    const word = stream.match(/[A-Za-z_]\w*/);
    if (word) return WORDS.has(stream.current()) ? "keyword" : null;
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: "//", block: { open: "/*", close: "*/" } }, closeBrackets: { brackets: ["(", "[", "{", '"'] } },
};

const style = HighlightStyle.define([
  { tag: tags.keyword, class: "word" },
  { tag: tags.string, class: "text" },
  { tag: tags.number, class: "number" },
  { tag: tags.comment, class: "comment" },
]);

export const language = [StreamLanguage.define(parser), syntaxHighlighting(style)];
