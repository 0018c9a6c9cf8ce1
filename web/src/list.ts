// The list of runs: state, progress, rate, time left, a small curve; two can be ticked and compared.
import type { RunSummary } from "./data";
import { h, svg } from "./dom";
import { count, duration, number } from "./format";
import { keep, kept } from "./keep";
import { learningTone, outcomeTone } from "./verdict";

export function sparkline(values: (number | null)[]): SVGElement | null {
  const finite = values.filter((value): value is number => value !== null);
  if (finite.length < 2) return null;
  const low = Math.min(...finite);
  const high = Math.max(...finite);
  const points = values
    .map((value, i) =>
      value === null ? null : `${((i / (values.length - 1)) * 98 + 1).toFixed(1)},${(22 - ((value - low) / (high - low || 1)) * 20).toFixed(1)}`,
    )
    .filter((point) => point !== null);
  return svg(
    "svg",
    { class: "spark", viewBox: "0 0 100 24", role: "img", "aria-label": `loss from ${number(finite[0])} to ${number(finite[finite.length - 1])}` },
    svg("polyline", { points: points.join(" "), fill: "none" }),
  );
}

function progressOf(run: RunSummary): string {
  if (run.step !== null) return `${count(run.step)}${run.steps_planned !== null ? ` / ${count(run.steps_planned)}` : ""}`;
  if (run.epoch !== null) {
    return `epoch ${Math.floor(run.epoch)}${run.epochs_planned !== null ? ` / ${count(run.epochs_planned)}` : ""}`;
  }
  return "";
}

export interface ListActions {
  open: (id: string) => string;
  compare: (a: string, b: string) => void;
}

export function runList(runs: RunSummary[], ticked: Set<string>, actions: ListActions): HTMLElement {
  const button = h(
    "button",
    {
      type: "button",
      disabled: ticked.size !== 2,
      click: () => {
        const [a, b] = [...ticked];
        actions.compare(a, b);
      },
    },
    "compare the two ticked",
  );
  const rows = runs.map((run) => {
    const tick = h("input", {
      type: "checkbox",
      "aria-label": `compare ${run.id}`,
      checked: ticked.has(run.id),
      change: () => {
        if (tick.checked) ticked.add(run.id);
        else ticked.delete(run.id);
        button.disabled = ticked.size !== 2;
      },
    });
    return h(
      "tr",
      {},
      h("td", {}, tick),
      h(
        "th",
        { scope: "row" },
        h("a", { href: actions.open(run.id) }, run.id),
        h("div", { class: "command", title: run.command }, run.command),
      ),
      h("td", {}, h("span", { class: `badge ${run.bad && run.outcome !== "running" ? "bad" : outcomeTone(run.outcome)}` }, run.outcome)),
      h("td", {}, h("span", { class: `badge ${learningTone(run.learning)}` }, run.learning)),
      h("td", { class: "wide" }, sparkline(run.spark)),
      h("td", { class: "num wide" }, progressOf(run)),
      h("td", { class: "num wide" }, run.steps_per_second !== null ? `${number(run.steps_per_second, 3)}/s` : ""),
      h("td", { class: "num wide" }, run.seconds_left !== null ? duration(run.seconds_left) : ""),
      h("td", { class: "wide" }, run.cause && h("code", { class: "id" }, run.cause)),
    );
  });
  const words = ["", "run", "why it stopped", "learning", "loss", "step", "rate", "left", "cause"];
  const head = words.map((word, i) => h("th", { scope: "col", class: i > 3 ? (i > 4 && i < 8 ? "num wide" : "wide") : "" }, word));
  const apply = () => {
    keep("filter runs", filter.value);
    const wanted = filter.value.toLowerCase();
    for (const row of rows) row.hidden = !(row.textContent ?? "").toLowerCase().includes(wanted);
  };
  const filter = h("input", { type: "search", input: apply });
  filter.value = kept("filter runs", "");
  apply();
  return h(
    "section",
    { class: "card" },
    h("h2", {}, "Runs"),
    h("div", { class: "list-tools" }, h("label", { class: "filter" }, "filter ", filter), button),
    runs.length === 0
      ? h("p", { class: "muted" }, "No recording yet. Record one with: whystop run -- python train.py")
      : h("table", { class: "runs" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows)),
  );
}
