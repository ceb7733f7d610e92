// The flow graph in CSSAME form, to be moved and zoomed.

import type { Function, Report } from "./data";
import { html, svg } from "./dom";
import { draw, LINE, type Drawing, type Edge } from "./layout";
import { locksHeld } from "./locks";

/** Blocks that are laid out at once: that takes about half a second. */
export const BLOCKS = 250;

/** What can be shown at once: all, one function or thread, or a part of a long one. */
export interface View {
  name: string;
  functions: Function[];
}

/** The views of a graph: the whole where it is small, then each function or thread, in parts of at most [`BLOCKS`] blocks. */
export function views(functions: Function[]): View[] {
  const all: View[] = blocks(functions) <= BLOCKS ? [{ name: "all functions and threads", functions }] : [];
  for (const of of functions) {
    const name = `${of.name} (${of.kind === "arm" ? "thread" : of.kind})`;
    const count = of.blocks.length;
    for (let first = 0; first < count; first += BLOCKS) {
      const part = of.blocks.slice(first, first + BLOCKS);
      const shown = count > BLOCKS ? `${name}, blocks ${first + 1} to ${first + part.length} of ${count}` : name;
      all.push({ name: shown, functions: [{ ...of, blocks: part }] });
    }
  }
  return all;
}

function path(edge: Edge): string {
  const [first, ...rest] = edge.points;
  if (!first) return "";
  if (edge.kind === "pi") return `M${first.x} ${first.y}C${rest.map((point) => `${point.x} ${point.y}`).join(" ")}`;
  return `M${first.x} ${first.y}` + rest.map((point) => `L${point.x} ${point.y}`).join("");
}

/** By function and block, for each instruction the locks that are held. */
type Held = Map<number, Map<number, Set<string>[]>>;

function picture(drawing: Drawing, locks: Held): SVGElement {
  const whole = svg("g");
  for (const { kind, x, y, width, height } of drawing.frames) {
    whole.append(svg("rect", { class: `frame ${kind}`, x, y, width, height, rx: 6 }));
  }
  const edges = (kinds: string[]) =>
    drawing.edges
      .filter((edge) => kinds.includes(edge.kind))
      .map((edge) => svg("path", { class: `edge ${edge.kind}`, d: path(edge), "marker-end": `url(#g-${edge.kind})` }, edge.title !== "" && svg("title", {}, edge.title)));
  // Edges lie below the blocks and the names, so that none crosses a text.
  whole.append(...edges(["control", "fork", "pi"]));
  for (const { name, kind, x, y } of drawing.frames) {
    whole.append(svg("text", { class: "frame-name", x: x + 8, y: y + 15 }, `${name} (${kind === "arm" ? "thread" : kind})`));
  }
  for (const box of drawing.boxes) {
    const held = locks.get(box.of.id)?.get(box.block.id) ?? [];
    whole.append(svg("rect", { class: "block", x: box.x, y: box.y, width: box.width, height: box.height, rx: 3 }));
    box.lines.forEach((line, index) => {
      const y = box.y + 6 + index * LINE;
      const names = [...(held[line.instruction] ?? [])];
      if (names.length > 0) {
        whole.append(svg("rect", { class: "locked", x: box.x + 1, y, width: box.width - 2, height: LINE }, svg("title", {}, `holds ${names.join(", ")}`)));
      }
      const place = box.block.instructions[line.instruction]?.line ?? 0;
      const text = svg("text", { class: line.merge ? "merge" : null, x: box.x + 10, y: y + 12 }, line.text);
      whole.append(place > 0 ? svg("a", { href: `#L${place}` }, svg("title", {}, `line ${place}`), text) : text);
    });
  }
  return whole;
}

function tips(): SVGElement {
  const tip = (kind: string) =>
    svg("marker", { id: `g-${kind}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, svg("path", { d: "M0 0 8 4 0 8z", class: `tip ${kind}` }));
  return svg("defs", {}, ...["control", "fork", "pi"].map(tip));
}

/** A view of a drawing: buttons, the wheel with Ctrl, keys and dragging. */
function zoomable(drawing: Drawing, locks: Held): HTMLElement {
  const [fullWidth, fullHeight] = [Math.max(drawing.width, 1), Math.max(drawing.height, 1)];
  let scale = 1;
  const image = svg("svg", { class: "graph", role: "img", "aria-label": `flow graph: ${drawing.boxes.length} blocks in ${drawing.frames.length} functions and threads`, viewBox: `0 0 ${fullWidth} ${fullHeight}` }, tips(), picture(drawing, locks));
  const set = (next: number) => {
    scale = Math.max(0.1, Math.min(3, next));
    image.setAttribute("width", String(fullWidth * scale));
    image.setAttribute("height", String(fullHeight * scale));
  };
  const fit = () => set(Math.min(1, Math.max(0.25, (scroll.clientWidth - 8) / fullWidth)));
  const keys: Record<string, () => void> = { "+": () => set(scale * 1.25), "-": () => set(scale / 1.25), "0": fit };
  const onKey = (event: Event) => keys[(event as KeyboardEvent).key]?.();
  const onWheel = (event: Event) => {
    const wheel = event as WheelEvent;
    if (!wheel.ctrlKey) return;
    event.preventDefault();
    set(scale * (wheel.deltaY < 0 ? 1.1 : 1 / 1.1));
  };
  const onDrag = (event: Event) => {
    const moved = event as PointerEvent;
    if (moved.buttons === 1) scroll.scrollBy(-moved.movementX, -moved.movementY);
  };
  const scroll = html("div", { class: "scroll graphed", tabindex: 0, role: "region", "aria-label": "flow graph: + and - zoom, 0 fits, arrow keys move", keydown: onKey, wheel: onWheel, pointermove: onDrag }, image);
  const button = (text: string, label: string, key: string) => html("button", { type: "button", "aria-label": label, click: () => keys[key]?.() }, text);
  set(1);
  requestAnimationFrame(fit);
  return html("div", {}, html("div", { class: "bar" }, button("+", "zoom in", "+"), button("−", "zoom out", "-"), button("fit", "fit to width", "0"), html("span", { class: "note" }, "or the keys + − 0 and the arrows, the wheel with Ctrl, and dragging")), scroll);
}

function blocks(functions: Function[]): number {
  return functions.reduce((sum, of) => sum + of.blocks.length, 0);
}

/** The graph, whole or one function at a time. */
export function graphView(report: Report): HTMLElement {
  const functions = report.graph?.functions.filter((of) => of.blocks.length > 0) ?? [];
  const all = views(functions);
  const whole = blocks(functions) <= BLOCKS;
  // Of whole functions: a part does not know what was taken before it.
  const locks: Held = new Map(functions.map((of) => [of.id, locksHeld(of)]));
  const place = html("div");
  const show = (chosen: number) => {
    const view = all[chosen];
    if (view) place.replaceChildren(zoomable(draw(view.functions), locks));
  };
  const choice = html("select", { id: "graph-of", change: (event) => show(Number((event.target as HTMLSelectElement).value)) });
  all.forEach((view, index) => choice.append(html("option", { value: index }, view.name)));
  show(0);
  const note = `The graph has ${blocks(functions)} blocks: a part is shown at a time, without the edges between parts.`;
  const key = [
    ["locked", "under a lock that the function has taken"],
    ["line pi", "from a write to a pi function that may choose it"],
    ["line fork", "fork or call"],
  ];
  return html(
    "div",
    {},
    html("div", { class: "bar" }, html("label", { for: "graph-of" }, "show"), choice),
    !whole && html("p", { class: "note" }, note),
    place,
    html("ul", { class: "key" }, ...key.map(([kind, text]) => html("li", {}, html("span", { class: `swatch ${kind}` }), text!))),
  );
}
