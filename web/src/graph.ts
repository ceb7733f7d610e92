// The flow graph in CSSAME form, to be moved and zoomed.

import type { Function, Report } from "./data";
import { html, svg } from "./dom";
import { draw, LINE, type Drawing, type Edge } from "./layout";
import { locksHeld } from "./locks";

/** Blocks that are laid out at once: it takes the time of a blink. */
const BLOCKS = 120;

function path(edge: Edge): string {
  const [first, ...rest] = edge.points;
  if (!first) return "";
  if (edge.kind === "pi") return `M${first.x} ${first.y}C${rest.map((point) => `${point.x} ${point.y}`).join(" ")}`;
  return `M${first.x} ${first.y}` + rest.map((point) => `L${point.x} ${point.y}`).join("");
}

function picture(drawing: Drawing): SVGElement {
  const whole = svg("g");
  for (const frame of drawing.frames) {
    const { x, y, width, height } = frame;
    whole.append(
      svg("rect", { class: `frame ${frame.kind}`, x, y, width, height, rx: 6 }),
      svg("text", { class: "frame-name", x: x + 8, y: y + 14 }, `${frame.name} (${frame.kind === "arm" ? "thread" : frame.kind})`),
    );
  }
  const edges = (kinds: string[]) =>
    drawing.edges
      .filter((edge) => kinds.includes(edge.kind))
      .map((edge) => svg("path", { class: `edge ${edge.kind}`, d: path(edge), "marker-end": `url(#g-${edge.kind})` }, edge.title !== "" && svg("title", {}, edge.title)));
  whole.append(...edges(["control", "fork"]));
  for (const box of drawing.boxes) {
    const held = locksHeld(box.of).get(box.block.id) ?? [];
    whole.append(svg("rect", { class: "block", x: box.x, y: box.y, width: box.width, height: box.height, rx: 3 }));
    box.lines.forEach((line, index) => {
      const y = box.y + 6 + index * LINE;
      const locks = [...(held[line.instruction] ?? [])];
      if (locks.length > 0) {
        whole.append(svg("rect", { class: "locked", x: box.x + 1, y, width: box.width - 2, height: LINE }, svg("title", {}, `holds ${locks.join(", ")}`)));
      }
      const place = box.block.instructions[line.instruction]?.line ?? 0;
      const text = svg("text", { class: line.merge ? "merge" : null, x: box.x + 10, y: y + 12 }, line.text);
      whole.append(place > 0 ? svg("a", { href: `#L${place}` }, svg("title", {}, `line ${place}`), text) : text);
    });
  }
  whole.append(...edges(["pi"]));
  return whole;
}

function tips(): SVGElement {
  const tip = (kind: string) =>
    svg("marker", { id: `g-${kind}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { d: "M0 0 8 4 0 8z", class: `tip ${kind}` }));
  return svg("defs", {}, ...["control", "fork", "pi"].map(tip));
}

/** A view of a drawing: buttons, the wheel with Ctrl, keys and dragging. */
function zoomable(drawing: Drawing): HTMLElement {
  const [fullWidth, fullHeight] = [Math.max(drawing.width, 1), Math.max(drawing.height, 1)];
  let scale = 1;
  const image = svg("svg", { class: "graph", role: "img", "aria-label": `flow graph: ${drawing.boxes.length} blocks in ${drawing.frames.length} functions and threads`, viewBox: `0 0 ${fullWidth} ${fullHeight}` }, tips(), picture(drawing));
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
  return html("div", {}, html("div", { class: "bar" }, button("+", "zoom in", "+"), button("−", "zoom out", "-"), button("fit", "fit to width", "0")), scroll);
}

function blocks(functions: Function[]): number {
  return functions.reduce((sum, of) => sum + of.blocks.length, 0);
}

/** The graph, whole or one function at a time. */
export function graphView(report: Report): HTMLElement {
  const functions = report.graph?.functions.filter((of) => of.blocks.length > 0) ?? [];
  const fits = blocks(functions) <= BLOCKS;
  const place = html("div");
  const show = (chosen: string) => place.replaceChildren(zoomable(draw(chosen === "all" ? functions : functions.filter((of) => String(of.id) === chosen))));
  const choice = html("select", { id: "graph-of", change: (event) => show((event.target as HTMLSelectElement).value) });
  if (fits) choice.append(html("option", { value: "all" }, "all functions and threads"));
  for (const of of functions) choice.append(html("option", { value: of.id }, `${of.name} (${of.kind === "arm" ? "thread" : of.kind})`));
  const first = functions[0];
  if (first) show(fits ? "all" : String(first.id));
  return html(
    "div",
    {},
    html("div", { class: "bar" }, html("label", { for: "graph-of" }, "show"), choice),
    fits ? null : html("p", { class: "note" }, `The graph has ${blocks(functions)} blocks: one function is shown at a time, and the pi edges between them are left out.`),
    place,
    html("p", { class: "key" }, html("span", { class: "swatch locked" }), " under a lock that the function has taken   ", html("span", { class: "swatch pi" }), " from a write to a pi function that may choose it   ", html("span", { class: "swatch fork" }), " fork or call"),
  );
}
