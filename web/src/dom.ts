// Elements. Texts become text nodes, never markup.

import { placeOf, type Replay, type Step } from "./data";

type Attribute = string | number | boolean | null | undefined | ((event: Event) => void);
type Child = Node | string | null | undefined | false;

function fill<E extends Element>(element: E, attributes: Record<string, Attribute>, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** An element of HTML; an attribute that is a function is a listener. */
export function html(tag: string, attributes: Record<string, Attribute> = {}, ...children: Child[]): HTMLElement {
  return fill(document.createElement(tag), attributes, children);
}

/** An element of SVG. */
export function svg(tag: string, attributes: Record<string, Attribute> = {}, ...children: Child[]): SVGElement {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** A text that is cut to a number of characters. */
export function cut(text: string, length: number): string {
  return text.length > length ? text.slice(0, length - 1) + "…" : text;
}

/** A part of the page with a heading that links can lead to. */
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return html("section", { id, "aria-labelledby": `${id}-title` }, html("h2", { id: `${id}-title` }, title), ...children);
}

/** A link to a line of the source. */
export function toLine(line: number, text = `line ${line}`): HTMLElement {
  return html("a", { href: `#L${line}`, class: "line" }, text);
}

/** The name of a place such as `x@3:5`, with a link to its line. */
export function toPlace(name: string): Node {
  const found = placeOf(name);
  return found ? toLine(found.line, name) : document.createTextNode(name);
}

/** A button that shows an execution; nothing where there is none. */
export function toExecution(replay: Replay, steps: Step[] | null | undefined): Node {
  return steps ? html("button", { type: "button", class: "show", click: () => replay(steps) }, "show") : document.createTextNode("");
}

/** Views one below the other: the first ones, and a button that shows the rest. They are made when they are shown. */
export function inParts(views: (() => HTMLElement)[], first: number, noun: string): HTMLElement {
  const place = html("div", {}, ...views.slice(0, first).map((view) => view()));
  if (views.length <= first) return place;
  const all = () => {
    const more = views.slice(first).map((view) => view());
    button.replaceWith(...more);
    more[0]?.setAttribute("tabindex", "-1");
    more[0]?.focus();
  };
  const button = html("button", { type: "button", class: "more", click: all }, `show all ${views.length} ${noun}`);
  place.append(button);
  return place;
}
