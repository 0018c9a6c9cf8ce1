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
  const across = (i: number) => (i / (values.length - 1)) * 98 + 1;
  const points = values
    .map((value, i) => (value === null ? null : `${across(i).toFixed(1)},${(22 - ((value - low) / (high - low || 1)) * 20).toFixed(1)}`))
    .filter((point) => point !== null);
  const lost = values[values.length - 1] === null ? values.lastIndexOf(finite[finite.length - 1]) + 1 : -1;
  const told = `curve from ${number(finite[0])} to ${number(finite[finite.length - 1])}${lost < 0 ? "" : ", then not finite"}`;
  return svg(
    "svg",
    { class: "spark", viewBox: "0 0 100 24", preserveAspectRatio: "none", role: "img", "aria-label": told },
    svg("polyline", { points: points.join(" "), fill: "none" }),
    ...(lost < 0 ? [] : [svg("line", { class: "lost", x1: across(lost), x2: 99, y1: 22, y2: 22 })]),
  );
}

/** "python train.py --lr 0.1": without the folders that stand before every name. */
function shortCommand(command: string): string {
  return command.replace(/(^|\s)\/\S*\/(?=\S)/g, "$1");
}

function toneOf(run: RunSummary): string {
  const tone = outcomeTone(run.outcome);
  return tone === "warn" && run.bad ? "bad" : tone;
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

interface Column {
  word: string;
  /** Numbers stand right; what a narrow screen has no room for is wide. */
  look: string;
  of: (run: RunSummary) => Node | string | null;
}

const COLUMNS: Column[] = [
  { word: "state", look: "", of: (run) => h("span", { class: `badge ${toneOf(run)}` }, run.outcome) },
  { word: "learning", look: "", of: (run) => (run.learning === "" ? null : h("span", { class: `badge ${learningTone(run.learning)}` }, run.learning)) },
  { word: "curve", look: "wide", of: (run) => sparkline(run.spark) },
  { word: "step", look: "num wide", of: progressOf },
  { word: "rate", look: "num wide", of: (run) => (run.steps_per_second !== null ? `${number(run.steps_per_second, 3)}/s` : "") },
  { word: "left", look: "num wide", of: (run) => (run.seconds_left !== null ? duration(run.seconds_left) : "") },
  { word: "cause", look: "wide", of: (run) => (run.cause === "" ? null : h("code", { class: "id" }, run.cause)) },
];

/** A column of which no run has anything to tell takes no room. */
function columnsOf(runs: RunSummary[]): Column[] {
  return COLUMNS.filter((column) => runs.some((run) => (column.of(run) ?? "") !== ""));
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
  const columns = columnsOf(runs);
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
        h("div", { class: "command", title: run.command }, shortCommand(run.command)),
        run.outcome === "unreadable" && h("div", { class: "reason" }, run.headline),
      ),
      ...columns.map((column) => h("td", { class: column.look }, column.of(run))),
    );
  });
  const head = [
    h("th", { scope: "col" }, h("span", { class: "sr" }, "compare")),
    h("th", { scope: "col" }, "run"),
    ...columns.map((column) => h("th", { scope: "col", class: column.look }, column.word)),
  ];
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
