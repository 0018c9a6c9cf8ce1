// Everything on the page is made here, from text. No text is ever read as markup.

type Child = Node | string | null | undefined | false;
type Props = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

// Controls, and marks that turn the direction of writing around: a name could pretend to be another with them.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/** Text of others, safe to be looked at. */
export function clean(text: string): string {
  return text.replace(UNSEEN, "\ufffd");
}

function fill<T extends Element>(element: T, props: Props, children: Child[]): T {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name, value as unknown as EventListener);
    } else {
      element.setAttribute(name, value === true ? "" : clean(String(value)));
    }
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === "string" ? clean(child) : child);
  }
  return element;
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), props, children);
}

export function svg(tag: string, props: Props = {}, ...children: Child[]): SVGElement {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

/** Sentences of the verdict: what stands in backticks is code. */
export function words(text: string): (Node | string)[] {
  return text
    .split(/(`[^`]+`)/)
    .filter((part) => part !== "")
    .map((part) => (part.startsWith("`") && part.length > 2 ? h("code", {}, part.slice(1, -1)) : part));
}

/** A colour of the style sheet, as a canvas needs it. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
