// What is drawn over the lines of a chart: events, what the verdict points at, limits, values that have no place on the axis.
import type uPlot from "uplot";
import { colour } from "./dom";

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

/** A line and the indices of its points that hold values which are not finite. */
export interface BadPoints {
  x: number[];
  bad?: number[];
}

interface Look {
  paint: string;
  dash: number[];
  thick: number;
}

const GRAVE: Look = { paint: "bad", dash: [], thick: 1.5 };
const PLAIN: Look = { paint: "muted", dash: [4, 3], thick: 1 };
const QUIET: Look = { paint: "grid-strong", dash: [2, 3], thick: 1 };
// What comes again and again stays in the background; every other kind is seen.
const LOOKS: Record<string, Look> = { epoch: QUIET, phase: QUIET };
const QUIET_MARKS_MAX = 60; // More would be a curtain.

function lookOf(mark: ChartMark): Look {
  return LOOKS[mark.kind] ?? (mark.grave ? GRAVE : PLAIN);
}

/** Draws in the coordinates of one chart. */
class Brush {
  private readonly ctx: CanvasRenderingContext2D;
  private readonly ratio = devicePixelRatio;
  private labelled = -Infinity;

  constructor(private readonly u: uPlot) {
    this.ctx = u.ctx;
  }

  across(x: number): number {
    return this.u.valToPos(x, "x", true);
  }

  clipped(draw: () => void): void {
    const { left, top, width, height } = this.u.bbox;
    this.ctx.save();
    this.ctx.beginPath();
    this.ctx.rect(left, top - 14 * this.ratio, width + 24 * this.ratio, height + 14 * this.ratio);
    this.ctx.clip();
    this.ctx.font = `600 ${11 * this.ratio}px system-ui, sans-serif`;
    this.ctx.textBaseline = "bottom";
    this.ctx.textAlign = "left";
    draw();
    this.ctx.restore();
  }

  private line(from: [number, number], to: [number, number], look: Look): void {
    this.ctx.strokeStyle = colour(look.paint);
    this.ctx.lineWidth = look.thick * this.ratio;
    this.ctx.setLineDash(look.dash.map((size) => size * this.ratio));
    this.ctx.beginPath();
    this.ctx.moveTo(...from);
    this.ctx.lineTo(...to);
    this.ctx.stroke();
  }

  upright(x: number, look: Look): void {
    const { top, height } = this.u.bbox;
    this.line([x, top], [x, top + height], look);
  }

  range(range: ChartRange): void {
    const { top, height } = this.u.bbox;
    const from = this.across(range.from);
    this.ctx.fillStyle = `${colour("accent")}22`;
    this.ctx.fillRect(from, top, Math.max(2 * this.ratio, this.across(range.to) - from), height);
    this.upright(from, { paint: "accent", dash: [], thick: 1.5 });
  }

  /** Words above the chart, beside the last ones where they would lie on them. */
  above(words: string, x: number): void {
    const { left, top, width } = this.u.bbox;
    const size = this.ctx.measureText(words).width;
    const at = Math.max(left, Math.min(x - size / 2, left + width - size), this.labelled + 3 * this.ratio);
    if (at + size > left + width + 20 * this.ratio) return;
    this.ctx.fillStyle = colour("accent");
    this.ctx.fillText(words, at, top - 2 * this.ratio);
    this.labelled = at + size;
  }

  level(level: Level): void {
    const { left, top, width, height } = this.u.bbox;
    const y = this.u.valToPos(level.value, "y", true);
    if (y < top || y > top + height) return;
    const paint = level.grave ? "bad" : "muted";
    this.line([left, y], [left + width, y], { paint, dash: [6, 4], thick: 1.25 });
    // At its right end, where curves are calm, and on the ground of the card: readable across any of them.
    const at: [number, number] = [left + width - 6 * this.ratio, y - 2 * this.ratio];
    this.ctx.textAlign = "right";
    this.ctx.setLineDash([]);
    this.ctx.lineJoin = "round";
    this.ctx.strokeStyle = colour("card");
    this.ctx.lineWidth = 4 * this.ratio;
    this.ctx.strokeText(level.text, ...at);
    this.ctx.fillStyle = colour(paint);
    this.ctx.fillText(level.text, ...at);
    this.ctx.textAlign = "left";
  }

  /** NaN and infinity have no place on the axis: a cross at the bottom edge, for a stretch of them a bar behind it. */
  notFinite(line: BadPoints): void {
    const { top, height } = this.u.bbox;
    const size = 3.5 * this.ratio;
    const y = top + height - 2.5 * size;
    const look: Look = { paint: "bad", dash: [], thick: 2 };
    for (const [from, to] of stretches((line.bad ?? []).map((i) => this.across(line.x[i])), 3 * size)) {
      if (to > from) this.line([from, y], [to, y], look);
      this.line([from - size, y - size], [from + size, y + size], look);
      this.line([from - size, y + size], [from + size, y - size], look);
    }
  }
}

/** Places that lie closer together than `gap`, as one. */
export function stretches(places: number[], gap: number): [number, number][] {
  const found: [number, number][] = [];
  for (const place of [...places].sort((a, b) => a - b)) {
    const last = found[found.length - 1];
    if (last !== undefined && place - last[1] <= gap) last[1] = place;
    else found.push([place, place]);
  }
  return found;
}

export function drawOver(u: uPlot, marks: ChartMark[], ranges: ChartRange[], levels: Level[], lines: BadPoints[]): void {
  const brush = new Brush(u);
  const quiet = (mark: ChartMark) => lookOf(mark) === QUIET;
  const crowded = marks.filter(quiet).length > QUIET_MARKS_MAX;
  brush.clipped(() => {
    for (const mark of marks) if (quiet(mark) && !crowded) brush.upright(brush.across(mark.x), QUIET);
    for (const range of ranges) brush.range(range);
    for (const range of [...ranges].sort((a, b) => a.from - b.from)) brush.above(range.letter, brush.across(range.from));
    for (const mark of marks) if (!quiet(mark)) brush.upright(brush.across(mark.x), lookOf(mark));
    for (const level of levels) brush.level(level);
    for (const line of lines) brush.notFinite(line);
  });
}
