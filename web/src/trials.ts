// The experiments of `whystop try` side by side: their curves on one chart, and what each says.
import { Chart, ChartGroup } from "./chart";
import { lineOf } from "./curve";
import type { Run, Trial } from "./data";
import { h, words } from "./dom";

const TONES: Record<Trial["result"], string> = { proven: "good", refuted: "bad", neither: "neutral", "not-tested": "neutral" };
const LINES_MAX = 6;

function card(trial: Trial): HTMLElement {
  return h(
    "div",
    { class: "trial" },
    h("h3", {}, trial.change),
    h(
      "p",
      {},
      h("span", { class: `badge ${TONES[trial.result]}` }, trial.result.replace("-", " ")),
      trial.cause && h("code", { class: "id" }, trial.cause),
    ),
    h("p", {}, ...words(trial.text)),
  );
}

export function trials(run: Run, prefix: string): HTMLElement[] {
  const all = run.verdict.trials ?? [];
  if (all.length === 0) return [];
  const parts: HTMLElement[] = [];
  // Those that decided come first, behind the run as it was.
  const weight = (change: string) => {
    const result = all.find((trial) => trial.change === change)?.result;
    return change === "nothing" ? 0 : result === "proven" ? 1 : result === "refuted" ? 2 : 3;
  };
  const lines = [...run.trial_lines].sort((a, b) => weight(a.change) - weight(b.change)).slice(0, LINES_MAX);
  if (lines.length > 0) {
    parts.push(
      new Chart({
        title: lines[0].name,
        unit: "",
        axis: lines.every((line) => line.steps) ? "step" : "point",
        lines: lines.map((line) => lineOf(line, line.change === "nothing" ? "as it was" : line.change, "step")),
        marks: [],
        ranges: [],
        levels: [],
        height: 220,
        group: new ChartGroup(`${prefix}trials`),
      }).element,
    );
  }
  parts.push(h("div", { class: "trials" }, ...all.map(card)));
  return parts;
}
