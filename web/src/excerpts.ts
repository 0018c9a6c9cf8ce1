// Lines of the log and of the source, with those that the verdict points at.
import type { Excerpt } from "./data";
import { clean, h } from "./dom";
import { keep, kept } from "./keep";

function lines(excerpt: Excerpt): HTMLElement {
  const marked = new Set(excerpt.marked);
  const body = h("div", { class: "code", tabindex: 0, role: "region", "aria-label": excerpt.file });
  let before = 0;
  for (const [number, text] of excerpt.lines) {
    if (before !== 0 && number > before + 1) body.append(h("div", { class: "gap" }, "…"));
    before = number;
    const row = h(
      "div",
      { class: marked.has(number) ? "row marked" : "row" },
      h("span", { class: "no", "aria-hidden": "true" }, String(number)),
      h("span", { class: "line" }, text),
    );
    body.append(row);
  }
  return body;
}

/** Opens at the first line that the verdict names, or else at the end. */
function settle(body: HTMLElement): void {
  const first = body.querySelector<HTMLElement>(".marked");
  requestAnimationFrame(() => {
    body.scrollTop = first ? Math.max(0, first.offsetTop - body.clientHeight / 3) : body.scrollHeight;
  });
}

export function logs(excerpts: Excerpt[]): HTMLElement[] {
  return excerpts
    .filter((excerpt) => excerpt.lines.length > 0)
    .map((excerpt) => {
      const body = lines(excerpt);
      const name = `filter ${excerpt.file}`;
      const apply = () => {
        keep(name, filter.value);
        const wanted = filter.value.toLowerCase();
        for (const row of body.querySelectorAll<HTMLElement>(".row, .gap")) {
          row.hidden = wanted !== "" && !(row.textContent ?? "").toLowerCase().includes(wanted);
        }
      };
      const filter = h("input", { type: "search", input: apply });
      filter.value = kept(name, "");
      apply();
      settle(body);
      return h(
        "div",
        { class: "excerpt" },
        h("div", { class: "excerpt-head" }, h("h3", {}, excerpt.file), h("label", { class: "filter" }, "filter ", filter)),
        body,
      );
    });
}

export function sources(excerpts: Excerpt[]): HTMLElement[] {
  return excerpts.map((excerpt) =>
    h(
      "div",
      { class: "excerpt" },
      h(
        "div",
        { class: "excerpt-head" },
        h("h3", {}, `${clean(excerpt.file)}:${excerpt.marked[0] ?? excerpt.lines[0][0]}`),
        excerpt.note !== "" && h("span", { class: "chip" }, excerpt.note),
      ),
      lines(excerpt),
    ),
  );
}
