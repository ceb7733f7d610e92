// The scopes of the TextMate grammar.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";

const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
const wasm = createRequire(import.meta.url).resolve("vscode-oniguruma/release/onig.wasm");
await oniguruma.loadWASM(readFileSync(wasm).buffer);
const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async () => textmate.parseRawGrammar(read("../syntaxes/csm.tmLanguage.json"), "csm.tmLanguage.json"),
});
const grammar = await registry.loadGrammar("source.csm");

/** All tokens of a text but blanks, each with its innermost scope without the ending of the language. */
function tokens(text) {
  let state = textmate.INITIAL;
  return text.split("\n").flatMap((line) => {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    return tokens
      .map(({ startIndex, endIndex, scopes }) => [line.slice(startIndex, endIndex), scopes.at(-1).replace(/\.csm$/, "")])
      .filter(([word]) => word.trim() !== "");
  });
}

/** The scopes of words in a text, by the word. */
function scopes(text) {
  return Object.fromEntries(tokens(text).map(([word, scope]) => [word.trim(), scope]));
}

test("comments and strings hide what stands in them", () => {
  assert.deepEqual(tokens('int /* int\nlock */ x; // "if"'), [
    ["int", "storage.type.primitive"],
    ["/*", "comment.block"],
    [" int", "comment.block"],
    ["lock ", "comment.block"],
    ["*/", "comment.block"],
    ["x", "variable.other"],
    [";", "punctuation.terminator.statement"],
    ['// "if"', "comment.line.double-slash"],
  ]);
  assert.deepEqual(tokens('"if \\n\\q // no";'), [
    ['"', "string.quoted.double"],
    ["if ", "string.quoted.double"],
    ["\\n", "constant.character.escape"],
    ["\\q", "invalid.illegal.escape"],
    [" // no", "string.quoted.double"],
    ['"', "string.quoted.double"],
    [";", "punctuation.terminator.statement"],
  ]);
  assert.equal(scopes('s = "open\nint x;').int, "storage.type.primitive");
});

test("words of synchronisation are types before a name, and functions before a parenthesis", () => {
  assert.equal(scopes("lock L;").lock, "storage.type.synchronisation");
  assert.equal(scopes("  lock (L);").lock, "support.function");
  assert.equal(scopes("x = sem;").sem, "variable.other");
  assert.equal(scopes("reentrant lock L;").reentrant, "storage.modifier");
  assert.equal(scopes("reentrant = 1;").reentrant, "variable.other");
  assert.equal(scopes("barrier meet(3);").barrier, "storage.type.synchronisation");
  assert.equal(scopes("barrier(2);").barrier, "support.function");
});

test("labels of arms are no operands of a conditional", () => {
  assert.equal(scopes("  T1: x = 1;").T1, "entity.name.label");
  assert.equal(scopes("cobegin T1: skip; coend").T1, "entity.name.label");
  assert.equal(scopes("x = a ? b : c;").b, "variable.other");
  assert.equal(scopes("  default: skip;").default, "keyword.control.conditional");
  assert.equal(scopes("  public:").public, "storage.modifier");
});

test("names of functions, classes and fields", () => {
  const found = scopes("class Queue { Queue(int n) { this.used = n; other.add(work(1)); } }\nBuffer b;");
  assert.equal(found.class, "storage.type");
  assert.equal(found.Queue, "entity.name.function");
  assert.equal(found.this, "variable.language");
  assert.equal(found.used, "variable.other.member");
  assert.equal(found.add, "entity.name.function.member");
  assert.equal(found.work, "entity.name.function");
  assert.equal(found.Buffer, "entity.name.type");
  assert.equal(found.b, "variable.other");
  assert.equal(scopes("enum State { IDLE };").State, "entity.name.type");
});

test("an atomic block and an atomic variable", () => {
  assert.equal(scopes("atomic { x = 1; }").atomic, "keyword.control.thread");
  assert.equal(scopes("atomic int x;").atomic, "storage.modifier");
});

test("numbers", () => {
  const expected = {
    42: "decimal", "7L": "decimal", 0: "decimal", "0x2A": "hexadecimal", 1.5: "double", ".5": "double", "1e-3": "double",
  };
  for (const [number, kind] of Object.entries(expected)) {
    assert.deepEqual(tokens(`x = ${number};`)[2], [number, `constant.numeric.${kind}`]);
  }
  assert.equal(tokens("x = 010;")[2][1], "invalid.illegal.number");
  assert.deepEqual(tokens("in 0..3").map(([word]) => word), ["in", "0", "..", "3"]);
});

test("every operation on a synchronisation object has a scope", () => {
  const operations = [...read("../../../src/ir/sync/table.rs").matchAll(/\bword: "(\w+)"/g)].map((found) => found[1]);
  assert.ok(operations.length > 15, "the table was read");
  for (const word of operations) assert.equal(tokens(`${word}(x);`)[0][1], "support.function", word);
});

/** The texts of the tokens of the lexer. */
const words = [...read("../../../src/front/csm/syntax/lexer.rs").matchAll(/#\[token\("([^"]+)"\)\]/g)].map((found) => found[1]);

test("every word and sign of the lexer has a scope", () => {
  assert.ok(words.length > 60, "the lexer was read");
  for (const word of words) {
    const found = tokens(` ${word} `);
    assert.equal(found.length, 1, `${word} is one token: ${JSON.stringify(found)}`);
    const expected = /^[a-z]/.test(word)
      ? /^(keyword\.control|storage\.|constant\.language|variable\.language)/
      : /^(keyword\.operator|punctuation)/;
    assert.match(found[0][1], expected, word);
    // A reserved word is no name of a function, whatever follows.
    if (/^[a-z]/.test(word)) assert.doesNotMatch(tokens(`${word} (x)`)[0][1], /function/, word);
  }
});

test("every word and sign of the lexer has a colour in the queries for tree-sitter", () => {
  const queries = read("../../tree-sitter-csm/queries/highlights.scm").replace(/^\s*;.*$/gm, "");
  // What is a node of its own, such as `primitive_type`, has the colour of the node.
  const { rules } = JSON.parse(read("../../tree-sitter-csm/src/grammar.json"));
  const coloured = Object.keys(rules).filter((node) => queries.includes(`(${node})`));
  const inNodes = coloured.flatMap((node) => (rules[node].members ?? [rules[node]]).map(({ value }) => value));
  for (const word of words) assert.ok(queries.includes(`"${word}"`) || inNodes.includes(word), word);
});

test("nothing in the samples is invalid", () => {
  const samples = new URL("../../../samples/", import.meta.url);
  for (const name of readdirSync(samples).filter((name) => name.endsWith(".csm"))) {
    for (const [word, scope] of tokens(readFileSync(new URL(name, samples), "utf8"))) {
      assert.doesNotMatch(scope, /^(invalid|source)/, `${name}: ${word}`);
    }
  }
});

test("snippets and the configuration of the language can be read", () => {
  for (const { prefix, body } of Object.values(JSON.parse(read("../snippets/csm.json")))) {
    assert.ok(prefix && body.length > 0);
  }
  const { indentationRules, onEnterRules } = JSON.parse(read("../language-configuration.json"));
  const more = new RegExp(indentationRules.increaseIndentPattern);
  const less = new RegExp(indentationRules.decreaseIndentPattern);
  for (const line of ["cobegin", "  T1:", "while (x) {", "  case -1:", "switch (x) { // so", "void f() {"]) {
    assert.match(line, more);
  }
  for (const line of ["// so {", "{ x = 1; }", "x = a ? b : c;", 'print("{");', "T1: x = 1;", "cobegin T: skip; coend"]) {
    assert.doesNotMatch(line, more);
  }
  assert.match("  coend", less);
  assert.match("}", less);
  assert.doesNotMatch("coending = 1;", less);
  for (const rule of onEnterRules) new RegExp(rule.beforeText);
});
