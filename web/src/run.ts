// The page of one run.
import { ChartGroup } from "./chart";
import { curves, type Axis } from "./curve";
import type { Run } from "./data";
import { h, words } from "./dom";
import { logs, sources } from "./excerpts";
import { count, duration, moment, number } from "./format";
import { heatMap } from "./heatmap";
import { keep, kept } from "./keep";
import { lifeLines } from "./lives";
import { markdown } from "./markdown";
import { resources } from "./resources";
import { timeline } from "./timeline";
import { trials } from "./trials";
import { answers, lettered } from "./verdict";

let groups: ChartGroup[] = [];

/** A new group in place of the one that had this name. */
function groupOf(key: string): ChartGroup {
  const group = new ChartGroup(key);
  groups = [...groups.filter((one) => one.key !== key), group];
  return group;
}

/** Colours changed from light to dark: what is on a canvas must be drawn anew. */
export function redrawCharts(): void {
  for (const group of groups) group.redraw();
}

function header(run: Run): HTMLElement {
  const verdict = run.verdict;
  const what = verdict.command.length > 0 ? verdict.command.join(" ") : verdict.sources.join(", ");
  const progress = verdict.progress;
  const facts = [
    run.host && `on ${run.host}`,
    run.wall_ms !== undefined && `started ${moment(run.wall_ms)}`,
    progress.seconds !== null && `${verdict.outcome === "running" ? "running for" : "ran"} ${duration(progress.seconds)}`,
    progress.step !== null &&
      `step ${count(progress.step)}${progress.steps_planned !== null ? ` of ${count(progress.steps_planned)}` : ""}`,
    progress.epoch !== null &&
      `epoch ${Math.floor(progress.epoch)}${progress.epochs_planned !== null ? ` of ${count(progress.epochs_planned)}` : ""}`,
  ].filter((fact): fact is string => typeof fact === "string");
  return h(
    "header",
    { class: "run-head" },
    h("h1", {}, verdict.run || "run"),
    what !== verdict.run && h("p", { class: "command", title: what }, what),
    h("p", { class: "facts" }, facts.join(" · ")),
    verdict.outcome === "running" && pace(run),
  );
}

/** How far a run is that goes on, how fast, and for how long still. */
function pace(run: Run): HTMLElement {
  const { step, steps_planned, epoch, epochs_planned } = run.verdict.progress;
  const done = steps_planned ? (step ?? 0) / steps_planned : epochs_planned ? (epoch ?? 0) / epochs_planned : null;
  const facts = [
    run.steps_per_second !== undefined && `${number(run.steps_per_second, 3)} steps/s`,
    run.seconds_left !== undefined && `${duration(run.seconds_left)} left`,
    run.data_wait !== undefined && `${number(100 * run.data_wait, 2)} % of a step's time is waiting for data`,
  ].filter((fact): fact is string => typeof fact === "string");
  return h(
    "div",
    { class: "pace" },
    done !== null && h("progress", { max: 1, value: Math.min(1, done), "aria-label": "progress" }),
    done !== null && h("b", {}, `${Math.floor(100 * Math.min(1, done))} %`),
    h("span", {}, facts.join(" · ")),
  );
}

function section(id: string, title: string, ...children: (Node | null | false)[]): HTMLElement | null {
  const shown = children.filter((child): child is Node => child instanceof Node);
  if (shown.length === 0) return null;
  return h("section", { class: "card", id, "aria-labelledby": `${id}-title` }, h("h2", { id: `${id}-title` }, title), ...shown);
}

function curveSection(run: Run, letters: ReturnType<typeof lettered>, prefix: string): HTMLElement | null {
  if (run.series.length === 0) return null;
  const place = h("div", { class: "curves" });
  const canChoose = run.timed && run.series.some((series) => series.steps);
  const draw = (axis: Axis) => {
    place.replaceChildren(...curves(run, letters, axis, groupOf(`${prefix}curve`)));
  };
  const chosen: Axis = canChoose ? kept(`${prefix}axis`, "step") : "step";
  draw(chosen);
  const choose = (axis: Axis) => {
    keep(`${prefix}axis`, axis);
    keep(`zoom ${prefix}curve`, null); // Steps are not seconds.
    draw(axis);
  };
  const choice = (axis: Axis, word: string) =>
    h("label", {}, h("input", { type: "radio", name: `${prefix}axis`, checked: axis === chosen, change: () => choose(axis) }), word);
  return section(
    `${prefix}curve`,
    "On the curve",
    canChoose &&
      h(
        "div",
        { class: "choices", role: "radiogroup", "aria-label": "Horizontal axis" },
        choice("step", "by step"),
        choice("time", "by time"),
      ),
    letters.length > 0 &&
      h(
        "ul",
        { class: "letters" },
        ...letters.map((one) => h("li", {}, h("span", { class: "letter" }, one.letter), ...words(one.evidence.text))),
      ),
    place,
  );
}

function ruledOut(run: Run): HTMLElement[] {
  const verdict = run.verdict;
  const parts: HTMLElement[] = [];
  if (verdict.ruled_out.length > 0) {
    parts.push(
      h(
        "dl",
        { class: "pairs" },
        ...verdict.ruled_out.flatMap((one) => [h("dt", {}, one.what), h("dd", {}, one.figure)]),
      ),
    );
  }
  if (verdict.unknowns.length > 0) {
    parts.push(
      h("h3", {}, "Not known"),
      h(
        "ul",
        {},
        ...verdict.unknowns.map((one) => h("li", {}, one.what, h("span", { class: "muted" }, `; would show it: ${one.would_show}`))),
      ),
    );
  }
  const drops = Object.entries(verdict.drops);
  if (drops.length > 0) {
    parts.push(
      h("h3", {}, "Not kept"),
      h("ul", {}, ...drops.map(([counter, size]) => h("li", {}, `${counter}: ${count(size)}`))),
    );
  }
  return parts;
}

/** A job that trained more than once: sweeps, folds, several programs of a script. */
function trainings(run: Run): HTMLElement | null {
  if (run.verdict.trainings.length === 0) return null;
  return h("ul", { class: "trainings" }, ...run.verdict.trainings.map((one) => h("li", {}, ...words(one))));
}

function pages(run: Run, prefix: string): HTMLElement[] {
  return run.pages.map((page) => {
    const details = h(
      "details",
      { class: "cause-page", id: `${prefix}page-${page.id}` },
      h("summary", {}, page.title || page.id, " ", h("code", { class: "id" }, page.id)),
      markdown(page.text),
    );
    return details;
  });
}

/** A link to a closed page opens it. */
export function openLinked(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
    target.querySelector("summary")?.focus();
  }
}

/** `prefix` keeps the ids of two runs on one page apart. */
export function runPage(run: Run, prefix = ""): HTMLElement {
  const letters = lettered(run);
  const time = groupOf(`${prefix}time`);
  const sections = [
    curveSection(run, letters, prefix),
    section(`${prefix}trainings`, "Trainings of this job", trainings(run)),
    section(`${prefix}happened`, "What happened", timeline(run)),
    section(`${prefix}trials`, "Trials of whystop try", ...trials(run, groupOf(`${prefix}trials`))),
    section(`${prefix}source`, "In your code", ...sources(run.sources)),
    section(`${prefix}log`, "In the log", ...logs(run.logs)),
    section(`${prefix}resources`, "Resources", resources(run, time)),
    section(`${prefix}layers`, "Layers", heatMap(run)),
    section(`${prefix}processes`, "Processes", lifeLines(run)),
    section(`${prefix}ruled-out`, "Ruled out", ...ruledOut(run)),
    section(`${prefix}causes`, "About these causes", ...pages(run, prefix)),
  ].filter((part): part is HTMLElement => part !== null);
  const jump = h(
    "nav",
    { class: "jump", "aria-label": "Parts of this page" },
    ...sections.map((part) => h("a", { href: `#${part.id}` }, part.querySelector("h2")?.textContent ?? "")),
  );
  return h("article", { class: "run" }, header(run), answers(run, letters, prefix), jump, ...sections);
}
