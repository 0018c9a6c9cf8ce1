// A run that goes on is drawn anew every few seconds; what the reader has opened, set, typed, scrolled or focused stays.

const settings = new Map<string, unknown>();

/** Remembers how something was set, by its name on the page. */
export function keep(name: string, value: unknown): void {
  settings.set(name, value);
}

export function kept<T>(name: string, otherwise: T): T {
  return settings.has(name) ? (settings.get(name) as T) : otherwise;
}

/** Another run is looked at. */
export function forget(): void {
  settings.clear();
}

let pressed = false;
addEventListener("pointerdown", () => (pressed = true));
addEventListener("pointerup", () => (pressed = false));
addEventListener("pointercancel", () => (pressed = false));

/** Somebody draws a zoom or has marked text to copy: not the moment to put new elements in place of the old ones. */
export function isBusy(place: HTMLElement): boolean {
  const selection = getSelection();
  return pressed || (selection !== null && !selection.isCollapsed && place.contains(selection.anchorNode));
}

type Path = number[];

/** Where an element stands, as the numbers of the children on the way to it. */
function pathTo(place: Element, element: Element): Path {
  const path: Path = [];
  for (let at = element; at !== place; at = at.parentElement!) {
    path.unshift([...at.parentElement!.children].indexOf(at));
  }
  return path;
}

function follow(place: Element, path: Path): HTMLElement | null {
  let at: Element | null = place;
  for (const i of path) at = at?.children[i] ?? null;
  return at instanceof HTMLElement ? at : null;
}

const ATTACHED = 4; // Pixels from the end within which a reader wants to see what is added.

/** Puts `fresh` where the old drawing stood. */
export function redraw(place: HTMLElement, fresh: HTMLElement): void {
  const all = (selector: string) => [...place.querySelectorAll<HTMLElement>(selector)];
  const open = all("details[open]").map((one) => pathTo(place, one));
  const scrolled = all(".code, .scroll, .heat-box")
    .filter((one) => one.scrollTop + one.clientHeight < one.scrollHeight - ATTACHED)
    .map((one): [Path, number] => [pathTo(place, one), one.scrollTop]);
  const focused = document.activeElement;
  const focus = focused && focused !== place && place.contains(focused) ? pathTo(place, focused) : null;
  const caret = focused instanceof HTMLInputElement && focused.type === "search" ? focused.selectionStart : null;
  const at = scrollY;
  place.replaceChildren(fresh);
  for (const path of open) {
    const details = follow(place, path);
    if (details instanceof HTMLDetailsElement) details.open = true;
  }
  const again = focus && follow(place, focus);
  if (again && again.tagName === focused?.tagName) {
    again.focus({ preventScroll: true });
    if (again instanceof HTMLInputElement && caret !== null) again.setSelectionRange(caret, caret);
  }
  scrollTo({ top: at, behavior: "instant" });
  requestAnimationFrame(() => {
    for (const [path, top] of scrolled) {
      const element = follow(place, path);
      if (element) element.scrollTop = top;
    }
  });
}
