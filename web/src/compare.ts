// Two runs side by side: the answers, then the same series on one chart.
import { Chart, ChartGroup } from "./chart";
import { labelOf, lineOf } from "./curve";
import type { Run } from "./data";
import { h } from "./dom";
import { count, duration } from "./format";
import { learningTone, outcomeTone } from "./verdict";

function column(run: Run, name: string): HTMLElement {
  const verdict = run.verdict;
  const cause = verdict.causes[0];
  return h(
    "section",
    { class: `card answer ${outcomeTone(verdict.outcome)}`, "aria-label": `run ${name}` },
    h("h2", {}, `${name}: ${verdict.run}`),
    h("p", { class: "command" }, verdict.command.join(" ") || verdict.sources.join(", ")),
    h("p", {}, h("span", { class: `badge ${outcomeTone(verdict.outcome)}` }, verdict.outcome), run.ending),
    cause && h("p", {}, cause.title || cause.id, " ", h("code", { class: "id" }, cause.id)),
    h("p", {}, h("span", { class: `badge ${learningTone(verdict.learning)}` }, verdict.learning), run.learning_words),
    h(
      "p",
      { class: "facts" },
      [
        verdict.progress.seconds !== null && duration(verdict.progress.seconds),
        verdict.progress.step !== null && `step ${count(verdict.progress.step)}`,
      ]
        .filter((fact) => typeof fact === "string")
        .join(" · "),
    ),
  );
}

export function comparePage(a: Run, b: Run): HTMLElement {
  const group = new ChartGroup("compare");
  const charts: HTMLElement[] = [];
  for (const series of a.series) {
    const twin = b.series.find((other) => other.name === series.name && other.role === series.role);
    if (twin === undefined || charts.length >= 12) continue;
    charts.push(
      new Chart({
        title: labelOf(series, a.series),
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
    h("div", { class: "answers" }, column(a, "A"), column(b, "B")),
    h(
      "section",
      { class: "card" },
      h("h2", {}, "Series that both have"),
      ...(charts.length > 0 ? charts : [h("p", { class: "muted" }, "They have no series of the same name.")]),
    ),
  );
}
