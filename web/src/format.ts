// Numbers as people read them.

export function number(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined) return "–";
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e7)) {
    return value.toExponential(Math.min(2, digits - 1)).replace(/\.?0+e/, "e").replace("e+", "e"); // "3.4e16", "1e-5"
  }
  return Number(value.toPrecision(digits)).toLocaleString("en-US", { maximumFractionDigits: 8 });
}

export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let size = Math.abs(value);
  let unit = 0;
  while (size >= 1023.5 && unit < units.length - 1) { // What would be written as 1024 is one of the next.
    size /= 1024;
    unit += 1;
  }
  const text = size >= 100 || unit === 0 ? size.toFixed(0) : size.toPrecision(3);
  return `${value < 0 ? "-" : ""}${Number(text)} ${units[unit]}`;
}

export function duration(seconds: number): string {
  if (seconds < 10) return `${Number(seconds.toFixed(1))} s`;
  const whole = Math.round(seconds);
  const parts: [number, string][] = [
    [Math.floor(whole / 86400), "d"],
    [Math.floor(whole / 3600) % 24, "h"],
    [Math.floor(whole / 60) % 60, "m"],
    [whole % 60, "s"],
  ];
  const first = parts.findIndex(([size]) => size > 0);
  return parts
    .slice(first, first + 2)
    .filter(([size], i) => i === 0 || size > 0)
    .map(([size, unit]) => `${size} ${unit}`)
    .join(" ");
}

/** Time into the run for an axis: "0:42", "12:05", "3:20:00". */
export function clock(seconds: number): string {
  const sign = seconds < 0 ? "-" : "";
  const size = Math.abs(seconds);
  const pad = (value: number) => String(Math.floor(value)).padStart(2, "0");
  const fraction = size < 60 && size % 1 > 0.001 ? (size % 1).toFixed(size < 2 ? 2 : 1).slice(1) : "";
  if (size < 3600) return `${sign}${Math.floor(size / 60)}:${pad(size % 60)}${fraction}`;
  return `${sign}${Math.floor(size / 3600)}:${pad((size / 60) % 60)}:${pad(size % 60)}`;
}

const SIGNS: Record<string, string> = { percent: "%", celsius: "°C", watts: "W" };

export function withUnit(value: number | null | undefined, unit: string): string {
  if (value === null || value === undefined) return "–";
  switch (unit) {
    case "bytes":
      return bytes(value);
    case "bytes/s":
      return `${bytes(value)}/s`;
    case "count":
      return count(value);
    case "":
      return number(value);
    default:
      return `${number(value, 3)} ${SIGNS[unit] ?? unit}`;
  }
}

export function moment(wallMs: number): string {
  return new Date(wallMs).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}
