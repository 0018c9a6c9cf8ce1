// The experiments of `whystop try` side by side: their curves on one chart, and what each says.
import { Chart, type ChartGroup, PALETTE } from "./chart";
import type { Level } from "./chart_marks";
import { guessing, lineOf } from "./curve";
import type { Run, Trial } from "./data";
import { h, words } from "./dom";

const WORDS: Record<Trial["result"], [string, string]> = {
  proven: ["proven", "good"],
  refuted: ["refuted", "neutral"],
  neither: ["decides nothing", "neutral"],
  "not-tested": ["not tested", "warn"],
};
const LINES_MAX = 6;
const ABOVE_THE_START = 3; // How far above where the trials began a curve is still followed.

/** The program as it was and with another seed: what the others are held against. */
function isYardstick(trial: Trial): boolean {
  return trial.spec === "as-is" || trial.spec.startsWith("seed=");
}

function nameOf(change: string): string {
  return change === "nothing" ? "as it was" : change;
}

/** Those that decided come first, behind the run as it was. */
function inOrder(trials: Trial[]): Trial[] {
  const weight = (trial: Trial) => (trial.spec === "as-is" ? 0 : trial.result === "proven" ? 1 : trial.result === "refuted" ? 2 : 3);
  return [...trials].sort((a, b) => weight(a) - weight(b));
}

function card(trial: Trial, tint: string | undefined): HTMLElement {
  const [word, tone] = isYardstick(trial) && trial.result === "neither" ? ["to compare with", "neutral"] : WORDS[trial.result];
  return h(
    "div",
    { class: "trial" },
    h("h3", {}, tint !== undefined && h("span", { class: `swatch ${tint}` }), nameOf(trial.change)),
    h(
      "p",
      {},
      h("span", { class: `badge ${tone}` }, word),
      trial.cause && h("code", { class: "id" }, trial.cause),
    ),
    h("p", {}, ...words(trial.text)),
  );
}

/** A change that makes a run explode is told by its card; its curve must not press the others flat. */
function ceilingOf(lines: Run["trial_lines"], levels: Level[]): number | undefined {
  const starts = lines.map((line) => line.mean[0]).filter((value): value is number => value !== null);
  const usual = starts.sort((a, b) => a - b)[starts.length >> 1];
  if (usual === undefined || usual <= 0) return undefined;
  return ABOVE_THE_START * Math.max(usual, ...levels.map((level) => level.value));
}

export function trials(run: Run, group: ChartGroup): HTMLElement[] {
  const all = inOrder(run.verdict.trials ?? []);
  if (all.length === 0) return [];
  const lines = all
    .flatMap((trial) => run.trial_lines.filter((line) => line.change === trial.change))
    .slice(0, LINES_MAX);
  const tints = new Map(lines.map((line, i) => [line.change, PALETTE[i]]));
  const parts: HTMLElement[] = [];
  if (lines.length > 0) {
    parts.push(
      new Chart({
        title: lines[0].name,
        unit: "",
        axis: lines.every((line) => line.steps) ? "step" : "point",
        lines: lines.map((line) => lineOf(line, nameOf(line.change), "step")),
        marks: [],
        ranges: [],
        levels: guessing(run),
        height: 220,
        ceiling: ceilingOf(lines, guessing(run)),
        group,
      }).element,
    );
  }
  parts.push(h("div", { class: "trials" }, ...all.map((trial) => card(trial, tints.get(trial.change)))));
  return parts;
}
