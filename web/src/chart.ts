// One chart of lines over steps or time, with marks, ranges and levels. Drawn by uPlot; legend, keys and words are ours.
import uPlot from "uplot";
import { colour, h } from "./dom";
import { clock, count, number, withUnit } from "./format";
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

export interface ChartMark {
  x: number;
  text: string;
  kind: string;
  grave: boolean;
}

export interface ChartRange {
  from: number;
  to: number;
  letter: string;
  text: string;
}

export interface Level {
  value: number;
  text: string;
  grave: boolean;
}

export interface ChartOptions {
  title: string;
  unit: string;
  axis: "step" | "time" | "point";
  lines: Line[];
  marks: ChartMark[];
  ranges: ChartRange[];
  levels: Level[];
  height: number;
  group?: ChartGroup;
}

// A byte axis goes in steps that are round in KiB, MiB and GiB.
const BYTE_STEPS = [0, 10, 20, 30, 40, 50].flatMap((power) =>
  [1, 2, 5, 10, 20, 50, 100, 200, 500].map((size) => size * 2 ** power),
);
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

/** Lines of an axis of powers of ten: not more than can be told apart, and with few powers some between them. */
function powersBetween(min: number, max: number): number[] {
  const low = Math.floor(Math.log10(min) + 1e-9);
  const high = Math.ceil(Math.log10(max) - 1e-9);
  const stride = Math.max(1, Math.ceil((high - low) / 6));
  const between = high - low <= 2 ? [1, 2, 5] : [1];
  const lines: number[] = [];
  for (let power = low; power <= high; power += stride) lines.push(...between.map((size) => size * 10 ** power));
  return lines.filter((line) => line >= min && line <= max);
}

/** The mean of neighbours: the middle of the band of usual wobble. */
function smooth(values: (number | null)[]): (number | null)[] {
  const half = Math.max(1, Math.round(values.length / 40));
  return values.map((_, i) => {
    let sum = 0;
    let size = 0;
    for (let j = Math.max(0, i - half); j <= Math.min(values.length - 1, i + half); j += 1) {
      const value = values[j];
      if (value !== null) {
        sum += value;
        size += 1;
      }
    }
    return size === 0 ? null : sum / size;
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
    return this.mayBeLogarithmic() && sizes[sizes.length - 1] > CRUSHING * usual;
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
      const middle = banded ? smooth(line.mean) : null;
      const upper = line.max ?? middle?.map((value) => (value === null ? null : value + line.noise!));
      const lower = line.min ?? middle?.map((value) => (value === null ? null : value - line.noise!));
      const few = line.x.length <= 60;
      series.push({
        label: line.label,
        stroke,
        width: 1.75,
        spanGaps: true,
        points: { show: few, size: 5, fill: stroke },
      });
      if (upper && lower) {
        const first = series.length;
        const edge = { stroke: "transparent", width: 0, spanGaps: true, points: { show: false } };
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
    let top = high ?? 1;
    for (const level of this.options.levels) {
      // A limit far away would press the curve flat: the legend names it instead.
      if (level.value <= top + 3 * Math.max(top - Math.min(bottom, 0), 1e-12)) {
        top = Math.max(top, level.value);
        bottom = Math.min(bottom, level.value);
      }
    }
    if (this.options.unit !== "" && bottom >= 0) bottom = 0;
    if (bottom === top) return [bottom - Math.max(1e-9, Math.abs(bottom) * 0.1), top + Math.max(1e-9, Math.abs(top) * 0.1)];
    const room = (top - bottom) * 0.06;
    return [this.options.unit !== "" && bottom === 0 ? 0 : bottom - room, top + room];
  }

  rebuild(): void {
    if (this.width === 0) return;
    this.plot?.destroy();
    const { data, series, bands } = this.columns();
    const text = colour("muted");
    const grid = { stroke: colour("grid"), width: 1 };
    const font = '11px system-ui, sans-serif';
    const { axis, unit, group, height } = this.options;
    const logarithmic = this.isLogarithmic();
    const [low, high] = this.seen ?? this.whole();
    this.plot = new uPlot(
      {
        width: this.width,
        height,
        padding: [14, 10, 0, 0],
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
            ? { distr: 3, log: 10 }
            : { range: (_u: uPlot, min: number | null, max: number | null) => this.yRange(min, max) },
        },
        axes: [
          {
            stroke: text,
            grid: { show: false },
            ticks: grid,
            font,
            size: 30,
            values: (_u, splits) => splits.map((value) => (value === null ? "" : axis === "time" ? clock(value) : Number.isInteger(value) ? count(value) : "")),
          },
          {
            stroke: text,
            grid,
            ticks: { show: false },
            font,
            size: 64,
            ...(unit.startsWith("bytes") ? { incrs: BYTE_STEPS } : {}),
            ...(logarithmic ? { splits: (_u: uPlot, _axis: number, min: number, max: number) => powersBetween(min, max), filter: (_u: uPlot, splits: number[]) => splits } : {}),
            values: (_u, splits) =>
              splits.map((value) => (value === null ? null : unit === "" ? number(value, 3) : withUnit(value, unit).replace(" cores", ""))),
          },
        ],
        hooks: {
          draw: [(u) => this.drawMarks(u)],
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

  private drawMarks(u: uPlot): void {
    const ctx = u.ctx;
    const { left, top, width, height } = u.bbox;
    const ratio = devicePixelRatio;
    const across = (x: number) => u.valToPos(x, "x", true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top - 14 * ratio, width + 2, height + 14 * ratio);
    ctx.clip();
    ctx.font = `600 ${11 * ratio}px system-ui, sans-serif`;
    ctx.textBaseline = "bottom";
    ctx.textAlign = "left";
    let labelled = -Infinity;
    const label = (words: string, x: number, paint: string) => {
      const size = ctx.measureText(words).width;
      const at = Math.max(left, Math.min(x - size / 2, left + width - size));
      if (at < labelled + 6 * ratio) return;
      ctx.fillStyle = paint;
      ctx.fillText(words, at, top - 2 * ratio);
      labelled = at + size;
    };
    const upright = (x: number, paint: string, dash: number[], thick = 1) => {
      ctx.strokeStyle = paint;
      ctx.lineWidth = thick * ratio;
      ctx.setLineDash(dash.map((size) => size * ratio));
      ctx.beginPath();
      ctx.moveTo(x, top);
      ctx.lineTo(x, top + height);
      ctx.stroke();
    };
    const epochs = this.options.marks.filter((mark) => mark.kind === "epoch");
    if (epochs.length <= 60) {
      for (const mark of epochs) upright(across(mark.x), colour("grid-strong"), [2, 3]);
    }
    for (const range of this.options.ranges) {
      const from = across(range.from);
      const size = Math.max(2 * ratio, across(range.to) - from);
      ctx.fillStyle = `${colour("accent")}22`;
      ctx.fillRect(from, top, size, height);
      upright(from, colour("accent"), [], 1.5);
    }
    for (const range of [...this.options.ranges].sort((a, b) => a.from - b.from)) {
      label(range.letter, across(range.from), colour("accent"));
    }
    for (const mark of this.options.marks) {
      if (mark.kind !== "epoch") {
        upright(across(mark.x), colour(mark.grave ? "bad" : "muted"), mark.grave ? [] : [4, 3], mark.grave ? 1.5 : 1);
      }
    }
    for (const level of this.options.levels) {
      const y = u.valToPos(level.value, "y", true);
      if (y < top || y > top + height) continue;
      const paint = colour(level.grave ? "bad" : "muted");
      ctx.strokeStyle = paint;
      ctx.lineWidth = 1.25 * ratio;
      ctx.setLineDash([6 * ratio, 4 * ratio]);
      ctx.beginPath();
      ctx.moveTo(left, y);
      ctx.lineTo(left + width, y);
      ctx.stroke();
      // At its right end, where curves are calm, and on the ground of the card: readable across any of them.
      ctx.textAlign = "right";
      ctx.setLineDash([]);
      ctx.lineJoin = "round";
      ctx.strokeStyle = colour("card");
      ctx.lineWidth = 4 * ratio;
      ctx.strokeText(level.text, left + width - 6 * ratio, y - 2 * ratio);
      ctx.fillStyle = paint;
      ctx.fillText(level.text, left + width - 6 * ratio, y - 2 * ratio);
    }
    this.drawBad(u, across);
    ctx.restore();
  }

  /** NaN and infinity have no place on the axis: a cross at the top says where they were. */
  private drawBad(u: uPlot, across: (x: number) => number): void {
    const size = 4 * devicePixelRatio;
    const y = u.bbox.top + 2 * size;
    u.ctx.strokeStyle = colour("bad");
    u.ctx.lineWidth = 2 * devicePixelRatio;
    u.ctx.setLineDash([]);
    for (const line of this.options.lines) {
      for (const i of line.bad ?? []) {
        const x = across(line.x[i]);
        u.ctx.beginPath();
        u.ctx.moveTo(x - size, y - size);
        u.ctx.lineTo(x + size, y + size);
        u.ctx.moveTo(x - size, y + size);
        u.ctx.lineTo(x + size, y - size);
        u.ctx.stroke();
      }
    }
  }

  destroy(): void {
    this.plot?.destroy();
    this.plot = null;
  }
}
