// Where the page begins: a report holds its runs; `serve` is asked for them.
import "uplot/dist/uPlot.min.css";
import "./page.css";
import { comparePage } from "./compare";
import { decidingSeries } from "./curve";
import type { Run, RunSummary } from "./data";
import { h } from "./dom";
import { startLive } from "./live";
import { runList } from "./list";
import { openLinked, redrawCharts, runPage } from "./run";

const page = document.getElementById("page")!;

function summaryOf(run: Run): RunSummary {
  const loss = decidingSeries(run);
  const stride = loss ? Math.max(1, Math.ceil(loss.mean.length / 60)) : 1;
  return {
    id: run.verdict.run,
    command: run.verdict.command.join(" ") || run.verdict.sources.join(", "),
    outcome: run.verdict.outcome,
    learning: run.verdict.learning,
    headline: run.verdict.headline,
    bad: run.bad,
    cause: run.verdict.causes[0]?.id ?? "",
    started_ms: run.wall_ms ?? null,
    seconds: run.verdict.progress.seconds,
    step: run.verdict.progress.step,
    steps_planned: run.verdict.progress.steps_planned,
    epoch: run.verdict.progress.epoch,
    epochs_planned: run.verdict.progress.epochs_planned,
    steps_per_second: null,
    seconds_left: null,
    spark: loss ? loss.mean.filter((_, i) => i % stride === 0) : [],
  };
}

function foot(madeBy: string): HTMLElement {
  return h("footer", {}, `${madeBy} · made on this machine, nothing was sent anywhere`);
}

/** A report of several runs: a list, and one of them (or two compared) below. */
function severalRuns(runs: Run[]): void {
  const names = runs.map((run, i) => (runs.findIndex((other) => other.verdict.run === run.verdict.run) === i ? run.verdict.run : `${run.verdict.run} ${i + 1}`));
  const place = h("div", {});
  const ticked = new Set<string>();
  const list = runList(
    runs.map((run, i) => ({ ...summaryOf(run), id: names[i] })),
    ticked,
    {
      open: (id) => `#run=${encodeURIComponent(id)}`,
      compare: (a, b) => {
        place.replaceChildren(comparePage(runs[names.indexOf(a)], runs[names.indexOf(b)]));
        place.scrollIntoView();
      },
    },
  );
  const show = () => {
    const wanted = /^#run=(.*)/.exec(location.hash);
    if (wanted === null && place.childElementCount > 0) return;
    const at = wanted ? names.indexOf(decodeURIComponent(wanted[1])) : runs.length - 1;
    place.replaceChildren(runPage(runs[Math.max(0, at)]));
  };
  addEventListener("hashchange", show);
  page.replaceChildren(list, place, foot(runs[0].made_by));
  show();
}

const data = JSON.parse(document.getElementById("data")!.textContent!) as { runs?: Run[]; live?: boolean };
addEventListener("hashchange", openLinked);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawCharts);
if (data.live) {
  startLive(page);
} else if (data.runs && data.runs.length === 1) {
  const run = data.runs[0];
  document.title = `${run.verdict.run || "run"}: ${run.verdict.outcome} · whystop`;
  page.replaceChildren(runPage(run), foot(run.made_by));
  openLinked();
} else if (data.runs) {
  severalRuns(data.runs);
}
