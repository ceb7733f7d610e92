// Where the blocks of a flow graph stand: threads and functions as frames, by dagre.

import { Graph, layout } from "@dagrejs/dagre";
import type { Block, Function, Instruction, Merge } from "./data";
import { cut } from "./dom";

export const LINE = 16;
const CHARACTER = 6.7;
const LONGEST = 58;
const LINES = 24;
/** More room above the blocks of a frame, for its name. */
const TITLE = 10;

export interface Line {
  text: string;
  /** The instruction that it shows, or that a merge stands before. */
  instruction: number;
  merge: boolean;
}

export interface Box {
  key: string;
  block: Block;
  of: Function;
  lines: Line[];
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Edge {
  kind: "control" | "fork" | "pi";
  points: { x: number; y: number }[];
  title: string;
}

export interface Drawing {
  boxes: Box[];
  frames: { name: string; kind: string; x: number; y: number; width: number; height: number }[];
  edges: Edge[];
  width: number;
  height: number;
}

function mergeText(merge: Merge): string {
  return `${merge.version} = ${merge.function}(${merge.arguments.map((one) => one.version).join(", ")})`;
}

/** The lines of a block: its merges and its instructions. */
export function linesOf(block: Block): Line[] {
  const lines: Line[] = [];
  const add = (text: string, instruction: number, merge: boolean) => lines.push({ text: cut(text, LONGEST), instruction, merge });
  for (const merge of block.merges ?? []) add(mergeText(merge), 0, true);
  block.instructions.forEach((instruction: Instruction, index) => {
    for (const merge of instruction.before ?? []) add(mergeText(merge), index, true);
    add(instruction.text, index, false);
    for (const merge of instruction.after ?? []) add(mergeText(merge), index, true);
  });
  if (lines.length <= LINES) return lines;
  const left = lines.length - LINES + 1;
  return [...lines.slice(0, LINES - 1), { text: `… ${left} more lines`, instruction: -1, merge: false }];
}

function box(of: Function, block: Block): Box {
  const lines = linesOf(block);
  const longest = Math.max(8, ...lines.map((line) => line.text.length));
  return { key: `${of.id}.${block.id}`, block, of, lines, x: 0, y: 0, width: longest * CHARACTER + 20, height: Math.max(1, lines.length) * LINE + 12 };
}

/** Lays out functions. */
export function draw(functions: Function[]): Drawing {
  const graph = new Graph({ compound: true, multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 28, ranksep: 34, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  const boxes = new Map<string, Box>();
  for (const of of functions) {
    graph.setNode(`f${of.id}`, {});
    for (const block of of.blocks.filter((one) => one.reachable)) {
      const one = box(of, block);
      boxes.set(one.key, one);
      graph.setNode(one.key, { width: one.width, height: one.height });
      graph.setParent(one.key, `f${of.id}`);
    }
  }
  const kinds = new Map<string, Edge["kind"]>();
  const edge = (from: string, to: string, kind: Edge["kind"]) => {
    if (!boxes.has(from) || !boxes.has(to)) return;
    graph.setEdge(from, to, {}, kind);
    kinds.set(`${from} ${to} ${kind}`, kind);
  };
  const entries = new Map(functions.map((of) => [of.id, `${of.id}.${of.blocks[0]?.id}`]));
  for (const { key, block, of } of boxes.values()) {
    for (const successor of block.successors) edge(key, `${of.id}.${successor}`, "control");
    for (const instruction of block.instructions) {
      for (const callee of instruction.functions ?? []) edge(key, entries.get(callee) ?? "", "fork");
    }
  }
  layout(graph);
  for (const one of boxes.values()) {
    const node = graph.node(one.key) as unknown as { x: number; y: number };
    Object.assign(one, { x: node.x - one.width / 2, y: node.y - one.height / 2 });
  }
  const edges: Edge[] = graph.edges().map((of) => {
    const { points } = graph.edge(of) as unknown as { points: { x: number; y: number }[] };
    const kind = (of.name ?? "control") as Edge["kind"];
    return { kind, points, title: kind === "fork" ? "fork or call" : "" };
  });
  const frames = functions.flatMap((of) => {
    const node = graph.node(`f${of.id}`) as unknown as { x: number; y: number; width: number; height: number } | undefined;
    if (!node || Number.isNaN(node.x)) return [];
    const { width, height } = node;
    return [{ name: of.name, kind: of.kind, x: node.x - width / 2, y: node.y - height / 2 - TITLE, width, height: height + TITLE }];
  });
  const size = graph.graph() as unknown as { width?: number; height?: number };
  return { boxes: [...boxes.values()], frames, edges: [...edges, ...piEdges([...boxes.values()])], width: size.width ?? 0, height: size.height ?? 0 };
}

/** Where a line of a box stands. */
function lineAt(one: Box, index: number): number {
  return one.y + 6 + LINE * (index + 0.5);
}

/** A curve from a line of a box to one of another box, beside both: its ends, and between them where it turns. */
function between(from: Box, y1: number, to: Box, y2: number): { x: number; y: number }[] {
  const [right, left] = [(one: Box) => one.x + one.width, (one: Box) => one.x];
  if (right(from) < left(to)) return curve(right(from), y1, left(to), y2, (right(from) + left(to)) / 2);
  if (right(to) < left(from)) return curve(left(from), y1, right(to), y2, (left(from) + right(to)) / 2);
  // One above the other: past both on the right.
  return curve(right(from), y1, right(to), y2, Math.max(right(from), right(to)) + 24 + Math.abs(y2 - y1) / 16);
}

function curve(x1: number, y1: number, x2: number, y2: number, turn: number): { x: number; y: number }[] {
  return [{ x: x1, y: y1 }, { x: turn, y: y1 }, { x: turn, y: y2 }, { x: x2, y: y2 }];
}

/** From each write to the pi functions that may choose it. */
export function piEdges(boxes: Box[]): Edge[] {
  // By their places: two variables of one name may have versions of one number.
  const writes = new Map<string, { one: Box; y: number }>();
  for (const one of boxes) {
    one.lines.forEach((line, index) => {
      const write = line.merge ? undefined : one.block.instructions[line.instruction]?.write;
      if (write) writes.set(write.at, { one, y: lineAt(one, index) });
    });
  }
  const edges: Edge[] = [];
  for (const one of boxes) {
    one.lines.forEach((line, index) => {
      const instruction = one.block.instructions[line.instruction];
      const pi = line.merge ? instruction?.before?.find((merge) => merge.function === "pi" && cut(mergeText(merge), LONGEST) === line.text) : undefined;
      for (const argument of pi?.arguments ?? []) {
        const write = writes.get(argument.at ?? "");
        if (!write || write.one.of.id === one.of.id) continue;
        const title = `${pi!.version} may be ${argument.version}`;
        edges.push({ kind: "pi", points: between(write.one, write.y, one, lineAt(one, index)), title });
      }
    });
  }
  return edges;
}
