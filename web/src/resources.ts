// Memory, CPU, GPU, disk and pressure, on the time axis of the run.
import { Chart, type ChartGroup } from "./chart";
import type { Level } from "./chart_marks";
import type { Resource, Run } from "./data";
import { StepClock, marksOn } from "./curve";
import { h } from "./dom";
import { bytes, withUnit } from "./format";

const TITLES: Record<string, string> = {
  memory: "Memory",
  cpu: "CPU",
  load: "Load: tasks that run or wait for a CPU or for storage",
  gpu: "GPU",
  "gpu memory": "GPU memory",
  "machine memory": "Memory of the machine",
  "gpu temperature": "GPU temperature",
  "disk traffic": "Disk traffic",
  "disk space": "Disk space free",
  network: "Network (whole machine)",
  pressure: "Pressure: share of time in which somebody waited",
  tasks: "Processes, threads, open files",
  paging: "Paging",
  "memory limit met": "Memory limit met",
  frozen: "Frozen",
  "gpu power": "GPU power",
  "gpu clock": "GPU clock",
  "gpu faults": "GPU faults",
  "whystop itself": "whystop itself",
};

// Seldom what a reader looks for: one click away.
const MINOR = new Set(["paging", "tasks", "whystop itself"]);

/** Names of control groups are long, and their ends tell them apart. */
function short(label: string): string {
  return label.replace(/\/\S{24,}/, (path) => `…${path.slice(-12)}`);
}

export function resources(run: Run, group: ChartGroup): HTMLElement | null {
  const marks = marksOn(run, "time", new StepClock(run)).filter((mark) => mark.kind !== "epoch");
  const panels = new Map<string, Resource[]>();
  for (const line of run.resources) {
    if (line.mean.length > 1) panels.set(line.panel, [...(panels.get(line.panel) ?? []), line]);
  }
  if (panels.size === 0) return null;
  const chart = ([panel, lines]: [string, Resource[]]) => {
    const levels: Level[] = lines
      .filter((line) => line.limit !== undefined && panel !== "machine memory")
      .map((line) => ({
        value: line.limit!,
        text: panel === "cpu" ? withUnit(line.limit, "cores") : `limit ${bytes(line.limit!)}`,
        grave: panel !== "cpu",
      }));
    return new Chart({
      title: TITLES[panel] ?? panel,
      unit: lines[0].unit,
      axis: "time",
      lines: lines.slice(0, 6).map((line) => ({
        label: short(line.label) + (line.limit !== undefined && panel !== "cpu" ? ` of ${bytes(line.limit)}` : ""),
        x: line.t!,
        mean: line.mean,
        min: line.min,
        max: line.max,
      })),
      marks,
      ranges: [],
      levels,
      height: 150,
      group,
    }).element;
  };
  const drawn = [...panels].filter(([panel]) => !MINOR.has(panel)).map(chart);
  const minor = [...panels].filter(([panel]) => MINOR.has(panel));
  if (drawn.length === 0) return h("div", { class: "grid" }, ...minor.map(chart));
  return h(
    "div",
    {},
    h("div", { class: "grid" }, ...drawn),
    minor.length > 0 &&
      h(
        "details",
        { class: "more" },
        h("summary", {}, minor.map(([panel]) => (TITLES[panel] ?? panel).toLowerCase()).join("; ")),
        h("div", { class: "grid" }, ...minor.map(chart)),
      ),
  );
}
