/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/** Elements. Texts only ever become text nodes and attributes: nothing here reads markup. */

export type Child = Node | string | number | null | undefined | false | Child[];
type Handler = (event: never) => void;
export type Attributes = Record<string, string | number | boolean | null | undefined | Handler>;

const SVG = "http://www.w3.org/2000/svg";

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  dress(element, attributes);
  append(element, children);
  return element;
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  dress(element, attributes);
  append(element, children);
  return element;
}

function dress(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child instanceof Node) element.append(child);
    else if (child !== null && child !== undefined && child !== false) element.append(String(child));
  }
}

export const byId = (id: string): HTMLElement => document.getElementById(id)!;

/** Says something to those who listen to the page instead of looking at it. */
export function announce(text: string): void {
  const region = byId("announcer");
  if (region.textContent !== text) region.textContent = text;
}

/**
 * Puts new content in place of the old: what had the focus keeps it, what was unfolded stays so, and what was not there
 * before is marked for a moment. All by `data-key`.
 */
export function replaceKeeping(place: HTMLElement, content: Node[], marksNew: boolean): void {
  const before = keyed(place);
  const focused = document.activeElement?.closest("[data-key]")?.getAttribute("data-key");
  const hadFocus = place.contains(document.activeElement);
  place.replaceChildren(...content);
  const after = keyed(place);
  for (const [key, element] of after) {
    const old = before.get(key);
    if (element instanceof HTMLDetailsElement && old instanceof HTMLDetailsElement) element.open = old.open;
    if (key === focused && element instanceof HTMLInputElement && old instanceof HTMLInputElement)
      keepTyping(old, element);
    if (marksNew && !old && element.hasAttribute("data-fresh")) element.classList.add("fresh");
  }
  if (hadFocus && focused) after.get(focused)?.focus({ preventScroll: true });
}

/** Letters may have come while the answer to the ones before was on its way. */
function keepTyping(old: HTMLInputElement, element: HTMLInputElement): void {
  element.value = old.value;
  element.setSelectionRange(old.selectionStart, old.selectionEnd);
}

function keyed(place: HTMLElement): Map<string, HTMLElement> {
  const all = place.querySelectorAll<HTMLElement>("[data-key]");
  return new Map([...all].map((element) => [element.dataset.key ?? "", element]));
}
