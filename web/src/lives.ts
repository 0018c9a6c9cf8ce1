// The processes of the job, each a line from its start to its end.
import type { Life, Run } from "./data";
import { h } from "./dom";
import { bytes, clock, duration } from "./format";

/** Parents before their children, children under their parent. */
function treeOf(lives: Life[]): [Life, number][] {
  const known = new Set(lives.map((life) => life.pid));
  const out: [Life, number][] = [];
  const seen = new Set<Life>();
  const add = (life: Life, depth: number) => {
    if (seen.has(life)) return;
    seen.add(life);
    out.push([life, depth]);
    for (const child of lives) if (child.parent === life.pid && child !== life) add(child, Math.min(depth + 1, 6));
  };
  for (const life of lives) if (!known.has(life.parent) || life.job) add(life, 0);
  for (const life of lives) add(life, 0);
  return out;
}

export function lifeLines(run: Run): HTMLElement | null {
  if (run.processes.length === 0) return null;
  const end = Math.max(run.seconds, 1e-9);
  const rows = treeOf(run.processes).map(([life, depth]) => {
    const to = life.to ?? end;
    const bar = h("span", { class: `bar${life.grave ? " bad" : ""}${life.to === undefined ? " alive" : ""}` });
    bar.style.marginLeft = `${Math.min(99, (100 * life.from) / end)}%`;
    bar.style.width = `${Math.max(0.5, (100 * (to - life.from)) / end)}%`;
    const name = h("span", { class: "proc" }, life.name || "?", h("span", { class: "muted" }, ` ${life.pid}`));
    name.style.paddingLeft = `${depth * 12}px`;
    const how = life.to === undefined ? (run.ended ? "not seen to end" : "alive") : life.how;
    return h(
      "tr",
      {},
      h("th", { scope: "row", title: life.command || life.name }, name),
      h(
        "td",
        { class: "lane", title: `${clock(life.from)} to ${clock(to)}` },
        bar,
        h("span", { class: "sr" }, `from ${clock(life.from)} to ${clock(to)}`),
      ),
      h("td", { class: life.grave ? "bad-text" : "" }, how),
      h("td", { class: "num wide" }, duration(to - life.from)),
      h("td", { class: "num wide" }, life.rss ? bytes(life.rss) : ""),
    );
  });
  const head = ["process", "life", "end", "for", "peak memory"].map((word, i) =>
    h("th", { scope: "col", class: i > 2 ? "num wide" : i === 1 ? "lane" : "" }, word),
  );
  return h(
    "div",
    {},
    h("table", { class: "lives" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows)),
    run.processes_left_out > 0 && h("p", { class: "muted" }, `${run.processes_left_out} more are not shown`),
  );
}
