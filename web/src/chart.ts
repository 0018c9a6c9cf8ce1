// One chart of lines over steps or time, with marks, ranges and levels. Drawn by uPlot; legend, keys and words are ours.
import uPlot from "uplot";
import { type AxisKind, xAxis, yAxis } from "./axes";
import { type ChartMark, type ChartRange, type Level, drawOver } from "./chart_marks";
import { colour, h } from "./dom";
import { clock, count, withUnit } from "./format";
import { keep, kept } from "./keep";

export interface Line {
  label: string;
  x: number[];
  mean: (number | null)[];
  min?: (number | null)[];
  max?: (number | null)[];
  /** Half the width of the band of usual wobble. */
  noise?: number;
  /** Indices of points that hold values which are not finite. */
  bad?: number[];
}

export interface ChartOptions {
  title: string;
  unit: string;
  axis: AxisKind;
  lines: Line[];
  marks: ChartMark[];
  ranges: ChartRange[];
  levels: Level[];
  height: number;
  /** What lies above is cut off: one line that runs away must not press the others flat. */
  ceiling?: number;
  group?: ChartGroup;
}

const POINTS_OF_A_BAND = 20; // Fewer have no middle to lay a band around.
const CRUSHING = 30; // How far the highest value lies above nine tenths of the others.
export const PALETTE = ["line-1", "line-2", "line-3", "line-4", "line-5", "line-6"];

/** Charts of one axis: they zoom and point together. */
export class ChartGroup {
  readonly charts: Chart[] = [];
  private zooming = false;

  /** What of the axis is seen; null: all of it. */
  seen: [number, number] | null;
  /** Where the pointer was last. */
  pointed: number | null = null;

  constructor(readonly key: string) {
    this.seen = kept(`zoom ${key}`, null);
    this.pointed = kept(`pointed ${key}`, null);
  }

  pointAt(x: number | null): void {
    this.pointed = x;
    keep(`pointed ${this.key}`, x);
  }

  zoom(from: number | null, to: number | null): void {
    if (this.zooming) return;
    this.zooming = true;
    this.seen = from === null || to === null ? null : [from, to];
    keep(`zoom ${this.key}`, this.seen);
    for (const chart of this.charts) chart.show(from, to);
    this.zooming = false;
  }

  redraw(): void {
    for (const chart of this.charts) chart.rebuild();
  }
}

function extent(columns: (number | null)[][]): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const column of columns) {
    for (const value of column) {
      if (value === null || value === undefined) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  return [low, high];
}

/** The median of neighbours: the middle of the band of usual wobble, which a spike does not move. */
function middleOf(values: (number | null)[]): (number | null)[] {
  const half = Math.max(1, Math.round(values.length / 40));
  return values.map((value, i) => {
    if (value === null) return null;
    const near = values.slice(Math.max(0, i - half), i + half + 1).filter((one): one is number => one !== null);
    near.sort((a, b) => a - b);
    return near[near.length >> 1];
  });
}

export class Chart {
  readonly element: HTMLElement;
  private plot: uPlot | null = null;
  private readonly box: HTMLElement;
  private readonly legend: HTMLElement;
  private readonly resetButton: HTMLButtonElement;
  private readonly logButton: HTMLButtonElement;
  private logarithmic: boolean;
  private width = 0;
  private seen: [number, number] | null = null;

  constructor(private readonly options: ChartOptions) {
    this.logarithmic = kept(this.nameOfLog(), this.isCrushed());
    this.seen = options.group?.seen ?? null;
    this.box = h("div", { class: "plot", "aria-hidden": "true" });
    this.box.style.minHeight = `${options.height}px`; // Its room is there before it is drawn: nothing below it jumps.
    this.legend = h("div", { class: "legend" });
    this.resetButton = h("button", { type: "button", hidden: this.seen === null, click: () => this.zoomTo(null, null) }, "show all");
    this.logButton = h(
      "button",
      { type: "button", "aria-pressed": String(this.logarithmic), click: () => this.toggleLog() },
      "log scale",
    );
    this.logButton.hidden = !this.mayBeLogarithmic();
    const figure = h(
      "div",
      {
        class: "focusable",
        role: "img",
        tabindex: 0,
        "aria-label": this.words(),
        keydown: (event: KeyboardEvent) => this.onKey(event),
      },
      this.box,
    );
    this.element = h(
      "figure",
      { class: "chart" },
      h("figcaption", {}, h("span", { class: "chart-title" }, options.title), this.resetButton, this.logButton),
      this.legend,
      figure,
      this.table(),
    );
    options.group?.charts.push(this);
    new ResizeObserver(() => {
      const width = Math.floor(this.box.clientWidth);
      if (width > 0 && width !== this.width) {
        this.width = width;
        if (this.plot === null) {
          this.rebuild();
          this.pointAgain();
        } else this.plot.setSize({ width, height: this.options.height });
      }
    }).observe(this.box);
    this.tellValues(null);
  }

  private nameOfLog(): string {
    return `log ${this.options.group?.key} ${this.options.title}`;
  }

  /** A chart that was drawn anew under the pointer, or while it had the focus, goes on telling the values there. */
  private pointAgain(): void {
    const x = this.options.group?.pointed ?? null;
    const watched = this.element.matches(":hover") || this.element.contains(document.activeElement);
    if (x !== null && watched) this.plot?.setCursor({ left: this.plot.valToPos(x, "x"), top: 10 });
  }

  /** One spike would press everything else flat: then powers of ten show more. */
  private isCrushed(): boolean {
    const sizes = this.options.lines.flatMap((line) => line.max ?? line.mean).filter((value) => value !== null);
    sizes.sort((a, b) => a - b);
    const usual = sizes[Math.floor(sizes.length * 0.9)] ?? 0;
    const highest = Math.min(sizes[sizes.length - 1], this.options.ceiling ?? Infinity);
    return this.mayBeLogarithmic() && highest > CRUSHING * usual;
  }

  private isLogarithmic(): boolean {
    return this.logarithmic && this.mayBeLogarithmic();
  }

  private mayBeLogarithmic(): boolean {
    const [low, high] = extent(this.options.lines.flatMap((line) => [line.min ?? line.mean]));
    return this.options.unit === "" && low > 0 && high / low > 3;
  }

  private x(value: number): string {
    return this.options.axis === "time" ? clock(value) : count(value);
  }

  /** The chart for somebody who does not see it. */
  private words(): string {
    const { title, unit, axis, lines, ranges, marks, levels } = this.options;
    const parts = lines.map((line) => {
      const [low, high] = extent([line.min ?? line.mean, line.max ?? line.mean]);
      if (low > high) return `${line.label}: no finite value`;
      const values = line.mean.filter((value) => value !== null);
      return (
        `${line.label}: from ${withUnit(values[0], unit)} to ${withUnit(values[values.length - 1], unit)}, ` +
        `lowest ${withUnit(low, unit)}, highest ${withUnit(high, unit)}` +
        (line.bad && line.bad.length > 0 ? ", with values that are not finite" : "")
      );
    });
    const grave = marks.filter((mark) => mark.grave).slice(0, 5);
    return [
      `Chart of ${title} over ${axis === "time" ? "time" : axis === "step" ? "steps" : "points"}.`,
      `${parts.join("; ")}.`,
      ...levels.map((level) => `Line at ${withUnit(level.value, unit)}: ${level.text}.`),
      ...ranges.map((range) => `${range.letter}, ${axis} ${this.x(range.from)}: ${range.text}.`),
      ...grave.map((mark) => `At ${this.x(mark.x)}: ${mark.text}.`),
      "Arrow keys move the pointer, plus and minus zoom, 0 shows all.",
    ].join(" ");
  }

  private table(): HTMLElement {
    const { lines, unit, axis } = this.options;
    const details = h("details", { class: "figures" }, h("summary", {}, "figures"));
    details.addEventListener("toggle", () => {
      if (!details.open || details.childElementCount > 1) return;
      const head = h("tr", {}, h("th", { scope: "col" }, axis), ...lines.map((l) => h("th", { scope: "col" }, l.label)));
      const longest = lines.reduce((a, b) => (b.x.length > a.x.length ? b : a));
      const stride = Math.max(1, Math.ceil(longest.x.length / 24));
      const rows = longest.x
        .filter((_, i) => i % stride === 0 || i === longest.x.length - 1)
        .map((x) =>
          h("tr", {}, h("th", { scope: "row" }, this.x(x)), ...lines.map((l) => h("td", {}, this.valueAt(l, x, unit)))),
        );
      details.append(h("div", { class: "scroll", tabindex: 0 }, h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows))));
    });
    return details;
  }

  private nearest(line: Line, x: number): number {
    let low = 0;
    let high = line.x.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (line.x[middle] < x) low = middle + 1;
      else high = middle;
    }
    return low > 0 && Math.abs(line.x[low - 1] - x) <= Math.abs(line.x[low] - x) ? low - 1 : low;
  }

  private valueAt(line: Line, x: number, unit: string): string {
    if (line.x.length === 0) return "–";
    const i = this.nearest(line, x);
    const mean = line.mean[i];
    if (mean === null) return "not finite";
    const low = line.min?.[i];
    const high = line.max?.[i];
    const range =
      low !== undefined && low !== null && high !== null && high !== undefined && low < high
        ? ` (${withUnit(low, unit)} to ${withUnit(high, unit)})`
        : "";
    return withUnit(mean, unit) + range + (line.bad?.includes(i) ? ", some not finite" : "");
  }

  /** What a resource took at most; of what is free, how little was left. */
  private peak(line: Line): string {
    const [low, high] = extent([line.min ?? line.mean, line.max ?? line.mean]);
    const scarce = / (?:free|available)/.test(line.label);
    return low > high ? "–" : (scarce ? "least " : "") + withUnit(scarce ? low : high, this.options.unit);
  }

  private tellValues(x: number | null): void {
    const { lines, unit, axis } = this.options;
    const at =
      x === null
        ? null
        : h("span", { class: "at" }, axis === "time" ? `at ${clock(x)}` : axis === "step" ? `step ${count(x)}` : `point ${count(x)}`);
    this.legend.replaceChildren(
      ...lines.map((line, i) =>
        h(
          "span",
          { class: "key" },
          h("span", { class: `swatch ${PALETTE[i % PALETTE.length]}` }),
          h("span", { class: "name" }, line.label),
          " ",
          h("b", {}, x === null && unit !== "" ? this.peak(line) : this.valueAt(line, x ?? line.x[line.x.length - 1] ?? 0, unit)),
        ),
      ),
      at ?? h("span", { class: "at" }, unit !== "" ? "at most" : "at the end"),
    );
  }

  private zoomTo(from: number | null, to: number | null): void {
    if (this.options.group) this.options.group.zoom(from, to);
    else this.show(from, to);
  }

  show(from: number | null, to: number | null): void {
    this.seen = from === null || to === null ? null : [from, to];
    this.resetButton.hidden = this.seen === null;
    if (this.plot === null) return;
    const [low, high] = this.seen ?? this.whole();
    this.plot.setScale("x", { min: low, max: high });
  }

  private whole(): [number, number] {
    const [low, high] = extent(this.options.lines.map((line) => line.x));
    return low < high ? [low, high] : [low - 1, high + 1];
  }

  private toggleLog(): void {
    this.logarithmic = !this.logarithmic;
    keep(this.nameOfLog(), this.logarithmic);
    this.logButton.setAttribute("aria-pressed", String(this.logarithmic));
    this.rebuild();
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const [low, high] = this.seen ?? this.whole();
    const left = this.plot?.cursor.left ?? -1; // A chart may have the focus before it is drawn.
    const at = this.plot !== null && left >= 0 ? this.plot.posToVal(left, "x") : (low + high) / 2;
    const half = (factor: number) => this.zoomTo(at - (at - low) * factor, at + (high - at) * factor);
    const step = (high - low) / 60;
    switch (event.key) {
      case "ArrowLeft":
      case "ArrowRight": {
        const next = Math.min(high, Math.max(low, at + (event.key === "ArrowLeft" ? -step : step)));
        this.plot?.setCursor({ left: this.plot.valToPos(next, "x"), top: 10 });
        this.legend.setAttribute("aria-live", "polite");
        break;
      }
      case "+":
      case "=":
        half(0.5);
        break;
      case "-":
        half(2);
        break;
      case "0":
      case "Escape":
        this.zoomTo(null, null);
        break;
      default:
        return;
    }
    event.preventDefault();
  }

  /** uPlot's columns: x, then of each line the mean and, where it has one, the lower and the upper edge of its band. */
  private columns(): { data: uPlot.AlignedData; series: uPlot.Series[]; bands: uPlot.Band[] } {
    const series: uPlot.Series[] = [{}];
    const bands: uPlot.Band[] = [];
    const tables: uPlot.AlignedData[] = [];
    this.options.lines.forEach((line, i) => {
      const stroke = colour(PALETTE[i % PALETTE.length]);
      // How far values usually lie apart is a distance; on an axis of powers it would be none.
      const banded = line.noise && !line.max && line.x.length >= POINTS_OF_A_BAND && !this.isLogarithmic();
      const middle = banded ? middleOf(line.mean) : null;
      const upper = line.max ?? middle?.map((value) => (value === null ? null : value + line.noise!));
      const lower = line.min ?? middle?.map((value) => (value === null ? null : value - line.noise!));
      const few = line.x.length <= 60 && this.options.unit === "";
      series.push({
        label: line.label,
        stroke,
        width: 1.75,
        spanGaps: true,
        points: { show: few, size: 5, fill: stroke },
      });
      if (upper && lower) {
        const first = series.length;
        // The extremes of a stretch of steps are seen, also where a single spike is one pixel wide.
        const edge = { stroke: line.max ? `${stroke}70` : "transparent", width: line.max ? 1 : 0, spanGaps: true, points: { show: false } };
        series.push({ ...edge, label: "" }, { ...edge, label: "" });
        bands.push({ series: [first, first + 1], fill: `${stroke}2e` });
        tables.push([line.x, line.mean, upper, lower] as uPlot.AlignedData);
      } else {
        tables.push([line.x, line.mean] as uPlot.AlignedData);
      }
    });
    const data = tables.length === 1 ? tables[0] : uPlot.join(tables);
    return { data, series, bands };
  }

  private yRange(low: number | null, high: number | null): [number, number] {
    let bottom = low ?? 0;
    let top = Math.min(high ?? 1, this.options.ceiling ?? Infinity);
    for (const level of this.options.levels) {
      // A limit far away would press the curve flat: the legend names it instead.
      if (level.value <= top + 3 * Math.max(top - Math.min(bottom, 0), 1e-12)) {
        top = Math.max(top, level.value);
        bottom = Math.min(bottom, level.value);
      }
    }
    if (this.options.unit !== "" && bottom >= 0) bottom = 0;
    if (bottom === top) return [bottom - (Math.abs(bottom) * 0.1 || 1), top + (Math.abs(top) * 0.1 || 1)];
    const room = (top - bottom) * 0.06;
    return [this.options.unit !== "" && bottom === 0 ? 0 : bottom - room, top + room];
  }

  /** From a little below the lowest to a little above the highest: not to the next powers of ten, which may be far. */
  private powerRange(low: number | null, high: number | null): [number, number] {
    const top = Math.min(high ?? 1, this.options.ceiling ?? Infinity);
    const bottom = Math.min(low ?? top, top / 2);
    const room = (top / bottom) ** 0.06;
    return [bottom / room, top * room];
  }

  rebuild(): void {
    if (this.width === 0) return;
    this.plot?.destroy();
    const { data, series, bands } = this.columns();
    const { axis, unit, group, height } = this.options;
    const logarithmic = this.isLogarithmic();
    const [low, high] = this.seen ?? this.whole();
    this.plot = new uPlot(
      {
        width: this.width,
        height,
        padding: [14, 24, 0, 0],
        series,
        bands,
        legend: { show: false },
        cursor: {
          drag: { x: true, y: false, setScale: false },
          points: { size: 7 },
          ...(group ? { sync: { key: group.key, setSeries: false } } : {}),
        },
        scales: {
          x: { time: false, min: low, max: high, auto: false },
          y: logarithmic
            ? { distr: 3, log: 10, range: (_u: uPlot, min: number | null, max: number | null) => this.powerRange(min, max) }
            : { range: (_u: uPlot, min: number | null, max: number | null) => this.yRange(min, max) },
        },
        axes: [xAxis(axis, this.whole()[1]), yAxis(unit, logarithmic)],
        hooks: {
          draw: [(u) => drawOver(u, this.options.marks, this.options.ranges, this.options.levels, this.options.lines)],
          setCursor: [
            (u) => {
              const left = u.cursor.left ?? -1;
              const x = left < 0 ? null : u.posToVal(left, "x");
              group?.pointAt(x);
              this.tellValues(x);
            },
          ],
          setSelect: [
            (u) => {
              if (u.select.width > 4) {
                this.zoomTo(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
              }
              u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            },
          ],
        },
      },
      data,
      this.box,
    );
    this.plot.over.addEventListener("dblclick", () => this.zoomTo(null, null));
  }

  destroy(): void {
    this.plot?.destroy();
    this.plot = null;
  }
}
