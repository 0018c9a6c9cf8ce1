// The training series: losses on one chart, scores on another, and so on; with what the verdict points at.
import { Chart, ChartGroup, type Line } from "./chart";
import type { ChartMark, ChartRange, Level } from "./chart_marks";
import type { Run, Series } from "./data";
import { h } from "./dom";
import { number } from "./format";
import { keep, kept } from "./keep";
import type { Lettered } from "./verdict";

export type Axis = "step" | "time";

const KINDS: [string, string[]][] = [
  ["Loss", ["train-loss", "validation-loss"]],
  ["Score", ["train-score", "validation-score"]],
  ["Learning rate", ["learning-rate"]],
  ["Gradient norm", ["gradient-norm"]],
  ["Loss scale", ["loss-scale"]],
];
const MAIN_HEIGHT = 290;
const LINES_A_CHART = 6;
const DRAWN_AT_ONCE = 8;

export function labelOf(series: Series, all: Series[]): string {
  const twins = all.filter((other) => other.name === series.name && other.rank === series.rank).length > 1;
  const source = series.file === "" ? "probe" : (series.file.split("/").pop() ?? "");
  return series.name + (series.rank !== undefined ? ` rank ${series.rank}` : "") + (twins ? ` (${source})` : "");
}

/** The one value of a series that never changed. */
export function constantOf(series: Series): number | null {
  const first = series.mean[0];
  const same = series.bad.length === 0 && series.min === undefined && series.mean.every((value) => value === first);
  return same ? first : null;
}

/** Maps between steps and time by the series that has both and the most points. */
export class StepClock {
  private readonly x: number[] = [];
  private readonly t: number[] = [];

  constructor(run: Run) {
    const best = run.series
      .filter((series) => series.steps && series.t !== undefined)
      .reduce<Series | null>((a, b) => (a === null || b.x.length > a.x.length ? b : a), null);
    if (best !== null) {
      this.x = best.x;
      this.t = best.t!;
    }
  }

  get known(): boolean {
    return this.x.length > 1;
  }
  private static between(from: number[], to: number[], value: number): number | undefined {
    if (from.length === 0) return undefined;
    let i = from.findIndex((one) => one >= value);
    if (i < 0) i = from.length - 1;
    if (i === 0 || from[i] <= value || from[i] === from[i - 1]) return to[i];
    return to[i - 1] + ((to[i] - to[i - 1]) * (value - from[i - 1])) / (from[i] - from[i - 1]);
  }
  toStep(t: number): number | undefined {
    return StepClock.between(this.t, this.x, t);
  }
  toTime(step: number): number | undefined {
    return StepClock.between(this.x, this.t, step);
  }
}

/** The series with points in rising order of the axis: a run that went on from a checkpoint goes back in steps. */
export function lineOf(series: Series, label: string, axis: Axis, steps?: StepClock): Line {
  // A log that counts no steps is put where the steps were at that time.
  const placed = axis === "step" && !series.steps && steps?.known ? series.t?.map((t) => steps.toStep(t)!) : undefined;
  const x = axis === "time" ? series.t! : (placed ?? series.x);
  const order = x.map((_, i) => i).sort((a, b) => x[a] - x[b] || a - b);
  const pick = <T>(column: T[] | undefined) => column && order.map((i) => column[i]);
  const place = new Map(order.map((from, to) => [from, to]));
  return {
    label,
    x: pick(x)!,
    mean: pick(series.mean)!,
    min: pick(series.min),
    max: pick(series.max),
    noise: series.noise,
    bad: series.bad.map(([i]) => place.get(i)!),
  };
}

export function marksOn(run: Run, axis: Axis, steps: StepClock): ChartMark[] {
  const marks: ChartMark[] = [];
  for (const mark of run.marks) {
    const x =
      axis === "time"
        ? (mark.t ?? (mark.step === undefined ? undefined : steps.toTime(mark.step)))
        : (mark.step ?? (mark.t === undefined ? undefined : steps.toStep(mark.t)));
    if (x !== undefined) marks.push({ x, text: mark.text, kind: mark.kind, grave: mark.grave });
  }
  return marks;
}

function rangesOn(letters: Lettered[], axis: Axis, steps: StepClock): ChartRange[] {
  const ranges: ChartRange[] = [];
  for (const one of letters) {
    const from = axis === "step" ? one.from : steps.toTime(one.from);
    const to = axis === "step" ? one.to : steps.toTime(one.to);
    if (from !== undefined && to !== undefined) {
      ranges.push({ from, to, letter: one.letter, text: one.evidence.text });
    }
  }
  return ranges;
}

/** What the loss costs whoever knows how often each class comes and nothing else. */
export function guessing(run: Run): Level[] {
  if (run.guess_level === undefined) return [];
  return [{ value: run.guess_level, text: `guessing ${number(run.guess_level, 3)}`, grave: false }];
}

/** The series that says whether the run learns: a loss, or the score or reward that was looked at instead. */
export function decidingSeries(run: Run): Series | undefined {
  const named = run.series.filter((series) => series.name === run.verdict.learning_series);
  const most = named.reduce<Series | undefined>((a, b) => (a === undefined || b.points > a.points ? b : a), undefined);
  return most ?? run.series.find((series) => series.role === "train-loss") ?? run.series[0];
}

/** What decided comes first, and large. */
function kindsInOrder(run: Run): [string, string[]][] {
  const role = decidingSeries(run)?.role ?? "";
  return [...KINDS].sort((a, b) => Number(b[1].includes(role)) - Number(a[1].includes(role)));
}

/** What the program printed of a series that the probe has seen at every step: the same curve again, with fewer points. */
export function isPrintedTwin(series: Series, all: Series[]): boolean {
  return series.file !== "" && all.some((other) => other.file === "" && other.name === series.name && other.role === series.role && other.points >= series.points);
}

export function curves(run: Run, letters: Lettered[], axis: Axis, group: ChartGroup): HTMLElement[] {
  const steps = new StepClock(run);
  // Where the phases are on the way of the steps, the epochs say already.
  const marks = marksOn(run, axis, steps).filter((mark) => axis === "time" || mark.kind !== "phase");
  const ranges = rangesOn(letters, axis, steps);
  const usable = run.series.filter((series) => axis === "step" || series.t !== undefined);
  const own = usable.filter((series) => !isPrintedTwin(series, usable));
  const shown = new Set<Series>();
  const made: HTMLElement[] = [];
  const chart = (title: string, all: Series[], height: number, levels: Level[] = []) =>
    new Chart({
      title,
      unit: "",
      axis: axis === "step" && all.every((series) => !series.steps) ? "point" : axis,
      lines: all.map((series) => lineOf(series, labelOf(series, own.includes(series) ? own : usable), axis, steps)),
      marks,
      ranges,
      levels,
      height,
      group,
    }).element;
  for (const [title, roles] of kindsInOrder(run)) {
    const all = own.filter((series) => roles.includes(series.role)).slice(0, LINES_A_CHART);
    if (all.length === 0) continue;
    all.forEach((series) => shown.add(series));
    const main = made.length === 0;
    const constant = all.length === 1 && !main && title !== "Loss" ? constantOf(all[0]) : null;
    if (constant !== null) {
      made.push(h("p", { class: "constant" }, h("b", {}, `${title} `), `${number(constant)} throughout (${labelOf(all[0], own)})`));
      continue;
    }
    made.push(chart(title, all, main ? MAIN_HEIGHT : 170, title === "Loss" ? guessing(run) : []));
  }
  const draw = (series: Series) => chart(labelOf(series, usable), [series], 150);
  let others = usable.filter((series) => !shown.has(series));
  if (made.length === 0) {
    // None has a name that we know: better some of them than none.
    made.push(h("div", { class: "grid" }, ...others.slice(0, DRAWN_AT_ONCE).map(draw)));
    others = others.slice(DRAWN_AT_ONCE);
  }
  if (others.length > 0) made.push(otherSeries(others, usable, run, draw));
  return made;
}

/** Everything else: found by name, drawn when asked for. */
function otherSeries(others: Series[], all: Series[], run: Run, draw: (series: Series) => HTMLElement): HTMLElement {
  const list = h("div", { class: "others" });
  const fill = (wanted: string) => {
    keep("filter series", wanted);
    const found = others.filter((series) => labelOf(series, all).toLowerCase().includes(wanted.toLowerCase()));
    list.replaceChildren(
      ...found.map((series) => {
        const details = h("details", {}, h("summary", {}, labelOf(series, all)));
        details.addEventListener("toggle", () => {
          if (details.open && details.childElementCount === 1) details.append(draw(series));
        });
        return details;
      }),
    );
    if (found.length === 0) list.append(h("p", { class: "muted" }, "no series of that name"));
  };
  const input = h("input", { type: "search", input: () => fill(input.value) });
  input.value = kept("filter series", "");
  fill(input.value);
  const left = run.series_left_out > 0 ? `; ${run.series_left_out} more are not in this file` : "";
  return h(
    "details",
    { class: "more" },
    h("summary", {}, `${others.length} other series${left}`),
    h(
      "label",
      { class: "filter" },
      "filter ",
      input,
    ),
    list,
  );
}
