// Which locks a function holds at each instruction, as far as the function itself takes them.

import type { Block, Function, Instruction } from "./data";

const TAKES = /^(?:lock|rdlock|wrlock) (.+)$/;
const RELEASES = /^unlock (.+)$/;

function after(held: Set<string>, instruction: Instruction): Set<string> {
  const taken = TAKES.exec(instruction.text)?.[1];
  const released = RELEASES.exec(instruction.text)?.[1];
  const next = new Set(held);
  if (taken) next.add(taken);
  if (released) next.delete(released);
  return next;
}

/** For each block and instruction the locks that are held on all ways to it; what the callers hold is not among them. */
export function locksHeld(of: Function): Map<number, Set<string>[]> {
  const entry = new Map<number, Set<string>>();
  const first = of.blocks[0];
  if (!first) return new Map();
  entry.set(first.id, new Set());
  const blocks = new Map<number, Block>(of.blocks.map((block) => [block.id, block]));
  const work = [first.id];
  while (work.length > 0) {
    const block = blocks.get(work.pop()!);
    if (!block) continue;
    const out = block.instructions.reduce(after, entry.get(block.id)!);
    for (const successor of block.successors) {
      const known = entry.get(successor);
      const met = known ? new Set([...known].filter((lock) => out.has(lock))) : out;
      if (!known || met.size < known.size) {
        entry.set(successor, met);
        work.push(successor);
      }
    }
  }
  const held = new Map<number, Set<string>[]>();
  for (const block of of.blocks) {
    let now = entry.get(block.id) ?? new Set<string>();
    held.set(
      block.id,
      block.instructions.map((instruction) => {
        const before = now;
        now = after(now, instruction);
        return new Set([...before, ...now]);
      }),
    );
  }
  return held;
}
