// The page that `serve` gives: it asks for its data and is told when there is more.
import { comparePage } from "./compare";
import type { Run, RunSummary } from "./data";
import { h } from "./dom";
import { forget, isBusy, redraw } from "./keep";
import { runList } from "./list";
import { openLinked, runPage } from "./run";

const REFRESH_MS = 2000; // However often a run is written to.

async function ask<T>(path: string): Promise<T> {
  const answer = await fetch(path, { credentials: "same-origin", cache: "no-store" });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}

function route(): { run?: string; and?: string } {
  const found = /^#run=([^&]*)(?:&and=(.*))?/.exec(location.hash);
  return found ? { run: decodeURIComponent(found[1]), and: found[2] && decodeURIComponent(found[2]) } : {};
}

/** A run that was deleted, or that this program cannot read: the list knows why. */
function unreadable(id: string, runs: RunSummary[]): HTMLElement {
  const known = runs.find((one) => one.id === id);
  const reason = known === undefined ? "There is no recording of this name (any more)." : known.headline;
  return h("section", { class: "card" }, h("h1", {}, id), h("h2", {}, "This run cannot be shown"), h("p", {}, reason));
}

export function startLive(page: HTMLElement): void {
  const state = h("p", { class: "live-state", role: "status" });
  const place = h("div", {});
  const back = h("a", { href: "#", class: "back" }, "all runs");
  const ticked = new Set<string>();
  let due = false; // More was written while the page was drawn,
  let moved = false; // or its reader went on to another one.
  let drawing = false;
  let drawn = "";

  const draw = async (force: boolean) => {
    if (drawing) {
      due = true;
      moved ||= force;
      return;
    }
    if (!force && isBusy(place)) {
      state.textContent = "waits while text is marked";
      setTimeout(() => void draw(false), REFRESH_MS);
      return;
    }
    if (force) forget();
    drawing = true;
    due = moved = false;
    const { run, and } = route();
    try {
      if (run === undefined) {
        const runs = await ask<RunSummary[]>("api/runs");
        const list = runList(runs, ticked, {
          open: (id) => `#run=${encodeURIComponent(id)}`,
          compare: (a, b) => {
            location.hash = `run=${encodeURIComponent(a)}&and=${encodeURIComponent(b)}`;
          },
        });
        redraw(place, list);
        document.title = "runs · whystop";
      } else if (and !== undefined) {
        const [a, b] = await Promise.all([ask<Run>(`api/run?id=${encodeURIComponent(run)}`), ask<Run>(`api/run?id=${encodeURIComponent(and)}`)]);
        redraw(place, comparePage(a, b));
        document.title = "two runs · whystop";
      } else {
        const data = await ask<Run>(`api/run?id=${encodeURIComponent(run)}`).catch(() => null);
        if (data !== null) show(data, force);
        else redraw(place, unreadable(run, await ask<RunSummary[]>("api/runs")));
      }
      back.hidden = run === undefined;
      if (events.readyState === EventSource.OPEN) state.textContent = "live";
    } catch (fault) {
      state.textContent = `cannot read: ${fault instanceof Error ? fault.message : String(fault)}`;
    }
    drawing = false;
    if (moved) void draw(true);
    else if (due) setTimeout(() => void draw(false), REFRESH_MS);
  };

  const show = (run: Run, force: boolean) => {
    const key = JSON.stringify([run.seconds, run.verdict.outcome, run.series.map((series) => series.points)]);
    if (!force && key === drawn) return;
    drawn = key;
    redraw(place, runPage(run));
    if (force) {
      scrollTo(0, 0);
      openLinked();
    }
    document.title = `${run.verdict.run}: ${run.verdict.outcome} · whystop`;
  };

  const events = new EventSource("api/events");
  let last = 0;
  events.addEventListener("open", () => (state.textContent = "live"));
  events.addEventListener("error", () => (state.textContent = "whystop serve does not answer; trying again"));
  events.addEventListener("changed", () => {
    const wait = Math.max(0, last + REFRESH_MS - Date.now());
    last = Date.now() + wait;
    setTimeout(() => void draw(false), wait);
  });
  addEventListener("hashchange", () => {
    // A link inside the page is not another page.
    if (location.hash === "" || location.hash.startsWith("#run=")) void draw(true);
  });
  page.replaceChildren(h("div", { class: "live-bar" }, h("span", { class: "wordmark" }, "whystop"), back, state), place);
  void draw(true);
}
