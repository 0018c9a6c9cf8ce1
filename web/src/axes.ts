// The axes of a chart: where their lines stand, and what is written beside them.
import type uPlot from "uplot";
import { colour } from "./dom";
import { clock, count, number, withUnit } from "./format";

export type AxisKind = "step" | "time" | "point";

// Bytes go in powers of two: so every line is a round number of KiB, MiB or GiB.
const BYTE_STEPS = Array.from({ length: 60 }, (_, power) => 2 ** power);
const WHOLE_STEPS = Array.from({ length: 15 }, (_, power) => [1, 2, 5].map((size) => size * 10 ** power)).flat();
const FONT = "11px system-ui, sans-serif";
const HOUR = 3600;
const DIGIT = 6; // Pixels that a digit takes, about.

/** Lines of an axis of powers of ten: not more than can be told apart, and with few powers some between them. */
export function powersBetween(min: number, max: number): number[] {
  const low = Math.floor(Math.log10(min) + 1e-9);
  const high = Math.ceil(Math.log10(max) - 1e-9);
  const stride = Math.max(1, Math.ceil((high - low) / 6));
  const between = high - low <= 2 ? [1, 2, 5] : high - low <= 4 ? [1, 3] : [1];
  const lines: number[] = [];
  for (let power = low; power <= high; power += stride) lines.push(...between.map((size) => size * 10 ** power));
  return lines.filter((line) => line >= min && line <= max);
}

function nameOf(kind: AxisKind, furthest: number): string {
  return kind !== "time" ? kind : furthest >= HOUR ? "time, h:min:s" : "time, min:s";
}

export function xAxis(kind: AxisKind, furthest: number): uPlot.Axis {
  const written = (value: number) => (kind === "time" ? clock(value) : Number.isInteger(value) ? count(value) : "");
  return {
    stroke: colour("muted"),
    grid: { show: false },
    ticks: { stroke: colour("grid"), width: 1, size: 5 },
    font: FONT,
    size: 24,
    label: nameOf(kind, furthest),
    labelFont: FONT,
    labelSize: 16,
    labelGap: 0,
    ...(kind === "time" ? {} : { incrs: WHOLE_STEPS }),
    space: 36 + DIGIT * written(Math.round(furthest)).length,
    values: (_u, splits) => splits.map((value) => (value === null ? "" : written(value))),
  };
}

export function yAxis(unit: string, logarithmic: boolean): uPlot.Axis {
  const written = (value: number) => (unit === "" ? number(value, 3) : withUnit(value, unit).replace(/ (?:cores|pages\/s|tasks)$/, "")); // The legend names it.
  const increments = unit.startsWith("bytes") ? BYTE_STEPS : unit === "count" ? WHOLE_STEPS : undefined;
  return {
    stroke: colour("muted"),
    grid: { stroke: colour("grid"), width: 1 },
    ticks: { show: false },
    font: FONT,
    size: 64,
    ...(increments !== undefined ? { incrs: increments } : {}),
    ...(logarithmic
      ? { splits: (_u: uPlot, _axis: number, min: number, max: number) => powersBetween(min, max), filter: (_u: uPlot, splits: number[]) => splits }
      : {}),
    values: (_u, splits) => splits.map((value) => (value === null ? null : written(value))),
  };
}
