// Two runs side by side: the answers, then the same series on one chart.
import { Chart, ChartGroup, PALETTE } from "./chart";
import { constantOf, decidingSeries, isPrintedTwin, lineOf } from "./curve";
import type { Run, Series } from "./data";
import { h, words } from "./dom";
import { bytes, count, duration, number } from "./format";
import { learningTone, outcomeTone } from "./verdict";

const CHARTS_MAX = 12;

function column(run: Run, name: string, tint: string): HTMLElement {
  const verdict = run.verdict;
  const cause = (question: string) => verdict.causes.find((one) => one.answers === question && one.role === "root");
  const answer = (question: string, badge: string, tone: string, text: string) => {
    const found = cause(question);
    return h(
      "div",
      { class: "compared" },
      h("p", { class: "verdict" }, h("span", { class: `badge ${tone}` }, badge), ...words(text)),
      found && h("p", { class: "rest" }, ...words(found.title || found.id), " ", h("code", { class: "id" }, found.id)),
    );
  };
  return h(
    "section",
    { class: "card", "aria-label": `run ${name}` },
    h("h2", {}, h("span", { class: `swatch ${tint}` }), `${name}: ${verdict.run}`),
    h("p", { class: "command" }, verdict.command.join(" ") || verdict.sources.join(", ")),
    answer("stop", verdict.outcome, outcomeTone(verdict.outcome), run.ending),
    answer("learning", verdict.learning, learningTone(verdict.learning), run.learning_words),
  );
}

/** Figures that stand beside each other: a row where at least one of the runs has it. */
function figures(a: Run, b: Run): HTMLElement {
  const at = (run: Run, which: "first" | "last") => {
    const value = decidingSeries(run)?.[which];
    return typeof value === "number" ? number(value) : value;
  };
  const peak = (run: Run) => {
    const line = run.resources.find((one) => one.panel === "memory");
    return line && bytes((line.max ?? line.mean).reduce<number>((most, value) => Math.max(most, value ?? 0), 0));
  };
  const given = <T>(value: T | null | undefined, shown: (value: T) => string) => (value === null || value === undefined ? undefined : shown(value));
  const metric = decidingSeries(a)?.name ?? decidingSeries(b)?.name ?? "loss";
  const rows: [string, (run: Run) => string | undefined][] = [
    ["time", (run) => given(run.verdict.progress.seconds, duration)],
    ["steps", (run) => given(run.verdict.progress.step, count)],
    ["steps a second", (run) => given(run.steps_per_second, (value) => number(value, 3))],
    [`${metric} at first`, (run) => at(run, "first")],
    [`${metric} at the end`, (run) => at(run, "last")],
    ["memory at most", peak],
    ["waiting for data", (run) => given(run.data_wait, (value) => `${number(100 * value, 2)} %`)],
  ];
  const shown = rows
    .map(([name, of]): [string, string | undefined, string | undefined] => [name, of(a), of(b)])
    .filter(([, one, other]) => one !== undefined || other !== undefined);
  return h(
    "table",
    { class: "beside" },
    h("thead", {}, h("tr", {}, h("td", {}), h("th", { scope: "col" }, `A ${a.verdict.run}`), h("th", { scope: "col" }, `B ${b.verdict.run}`))),
    h("tbody", {}, ...shown.map(([name, one, other]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, one ?? "–"), h("td", {}, other ?? "–")))),
  );
}

/** Series of the same name and role, each in one pair; where both runs have it, probe with probe and print with print. */
function twins(a: Run, b: Run): [Series, Series][] {
  const pairs: [Series, Series][] = [];
  const taken = new Set<Series>();
  const pair = (fits: (one: Series, other: Series) => boolean) => {
    for (const one of a.series) {
      if (taken.has(one) || isPrintedTwin(one, a.series)) continue;
      const other = b.series.find((two) => !taken.has(two) && two.name === one.name && two.role === one.role && fits(one, two));
      if (other === undefined) continue;
      taken.add(one).add(other);
      pairs.push([one, other]);
    }
  };
  pair((one, other) => (one.file === "") === (other.file === "") && one.rank === other.rank);
  pair((one, other) => one.rank === other.rank); // A loss that one run printed and the other's probe saw is one curve all the same.
  return pairs.sort(([one], [other]) => a.series.indexOf(one) - a.series.indexOf(other));
}

export function comparePage(a: Run, b: Run): HTMLElement {
  const group = new ChartGroup("compare");
  const charts: HTMLElement[] = [];
  for (const [series, twin] of twins(a, b).slice(0, CHARTS_MAX)) {
    const [one, other] = [constantOf(series), constantOf(twin)];
    if (one !== null && other !== null) {
      const told = one === other ? `${number(one)} in both` : `A ${number(one)}, B ${number(other)}`;
      charts.push(h("p", { class: "constant" }, h("b", {}, `${series.name} `), `${told}, throughout`));
      continue;
    }
    charts.push(
      new Chart({
        title: series.name + (series.rank !== undefined ? ` rank ${series.rank}` : ""),
        unit: "",
        axis: series.steps ? "step" : "point",
        lines: [lineOf(series, `A ${a.verdict.run}`, "step"), lineOf(twin, `B ${b.verdict.run}`, "step")],
        marks: [],
        ranges: [],
        levels: [],
        height: 200,
        group,
      }).element,
    );
  }
  return h(
    "article",
    { class: "run" },
    h("header", { class: "run-head" }, h("h1", {}, "Two runs")),
    h("div", { class: "answers" }, column(a, "A", PALETTE[0]), column(b, "B", PALETTE[1])),
    h("section", { class: "card" }, h("h2", {}, "Figures side by side"), figures(a, b)),
    h(
      "section",
      { class: "card" },
      h("h2", {}, "Series that both have"),
      ...(charts.length > 0 ? charts : [h("p", { class: "muted" }, "They have no series of the same name.")]),
    ),
  );
}
