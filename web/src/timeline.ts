// What happened, in order. What came again and again is one line.
import type { Mark, Run } from "./data";
import { h } from "./dom";
import { clock, count } from "./format";

const SHOWN = 14;

interface Happening {
  mark: Mark;
  times: number;
  last: Mark;
}

function when(mark: Mark): string {
  return mark.t !== undefined ? clock(mark.t) : mark.step !== undefined ? `step ${count(mark.step)}` : "";
}

/** The same event again and again ("eval" after every epoch) stands where it came first. */
function folded(marks: Mark[]): Happening[] {
  const found = new Map<string, Happening>();
  for (const mark of marks) {
    const key = JSON.stringify([mark.kind, mark.text, mark.grave]);
    const known = found.get(key);
    if (known === undefined) found.set(key, { mark, times: 1, last: mark });
    else {
      known.times += 1;
      known.last = mark;
    }
  }
  return [...found.values()];
}

function item({ mark, times, last }: Happening): HTMLElement {
  const again = times > 1 && h("span", { class: "muted" }, ` ${count(times)} times${when(last) === "" ? "" : `, last at ${when(last)}`}`);
  return h(
    "li",
    { class: mark.grave ? "grave" : "" },
    h("span", { class: "when" }, when(mark)),
    h("span", { class: "kind" }, mark.kind),
    h("span", { class: "what" }, h("span", { class: "event" }, mark.text), again),
  );
}

export function timeline(run: Run): HTMLElement | null {
  const happened = folded(run.marks.filter((mark) => mark.kind !== "epoch"));
  if (happened.length === 0) return null;
  const timed = happened.some(({ mark }) => when(mark) !== "");
  const kind = timed ? "timeline" : "timeline timeless";
  const list = h("ol", { class: kind }, ...happened.slice(0, SHOWN).map(item));
  if (happened.length <= SHOWN) return list;
  return h(
    "div",
    {},
    list,
    h(
      "details",
      { class: "more" },
      h("summary", {}, `${happened.length - SHOWN} more`),
      h("ol", { class: kind }, ...happened.slice(SHOWN).map(item)),
    ),
  );
}
