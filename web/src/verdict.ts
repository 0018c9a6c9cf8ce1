// The two answers: why did it stop, is it learning. The words are those of the terminal.
import type { Cause, Evidence, Run } from "./data";
import { h, words } from "./dom";

/** Evidence that points at steps gets a letter, on the curve and in the text. */
export interface Lettered {
  letter: string;
  evidence: Evidence;
  from: number;
  to: number;
}

export function lettered(run: Run): Lettered[] {
  const found: Lettered[] = [];
  for (const cause of run.verdict.causes) {
    for (const evidence of cause.evidence) {
      if (evidence.step_from === undefined || evidence.weight === "missing" || found.length >= 8) continue;
      const to = evidence.step_to ?? evidence.step_from;
      const known = found.find((one) => one.from === evidence.step_from && one.to === to);
      if (known === undefined) {
        const letter = String.fromCharCode(65 + found.length);
        found.push({ letter, evidence, from: evidence.step_from, to });
      }
    }
  }
  return found;
}

function evidenceItem(evidence: Evidence, letters: Lettered[]): HTMLElement {
  const mark = letters.find(
    (one) => one.from === evidence.step_from && one.to === (evidence.step_to ?? evidence.step_from),
  );
  const prefix = { contradicting: "against: ", missing: "not seen: " }[evidence.weight] ?? "";
  const name = evidence.file?.split("/").pop() ?? "";
  const place = evidence.file
    ? `${evidence.file}${evidence.line ? `:${evidence.line}` : ""}`
    : "";
  return h(
    "li",
    { class: `evidence ${evidence.weight}` },
    mark && h("a", { class: "letter", href: "#curve", title: "marked on the curve" }, mark.letter),
    ...words(prefix + evidence.text),
    name !== "" && !evidence.text.includes(name) && h("span", { class: "place" }, ` ${place}`),
  );
}

const FIXES_SHOWN = 3; // As in the terminal: the curve should be seen without scrolling.

function fixList(fixes: string[], start: number): HTMLElement {
  return h("ol", { start }, ...fixes.map((fix) => h("li", {}, ...words(fix))));
}

function causeBlock(cause: Cause, run: Run, letters: Lettered[], prefix: string): HTMLElement {
  const word = { root: "", consequence: "then ", contributing: "also " }[cause.role];
  const linked = run.pages.some((page) => page.id === cause.id);
  const title = cause.title || cause.id;
  return h(
    "div",
    { class: `cause ${cause.role}` },
    h(
      "p",
      { class: "cause-title" },
      word !== "" && h("span", { class: "role" }, word),
      linked ? h("a", { href: `#${prefix}page-${cause.id}` }, ...words(title)) : title,
      " ",
      h("code", { class: "id" }, cause.id),
      cause.confidence !== "certain" && h("span", { class: "chip" }, cause.confidence),
    ),
    cause.evidence.length > 0 &&
      h("ul", { class: "evidences" }, ...cause.evidence.map((one) => evidenceItem(one, letters))),
    cause.fault &&
      cause.role !== "consequence" &&
      cause.fixes.length > 0 &&
      h(
        "div",
        { class: "fix" },
        h("h3", {}, "What to do"),
        fixList(cause.fixes.slice(0, FIXES_SHOWN), 1),
        cause.fixes.length > FIXES_SHOWN &&
          h(
            "details",
            { class: "more" },
            h("summary", {}, `${cause.fixes.length - FIXES_SHOWN} more`),
            fixList(cause.fixes.slice(FIXES_SHOWN), FIXES_SHOWN + 1),
          ),
      ),
  );
}

const LEARNING_TONE: Record<string, string> = {
  improving: "good",
  converged: "good",
  stalled: "warn",
  diverged: "bad",
  "never-learned": "bad",
};

export function outcomeTone(outcome: string): string {
  if (outcome === "running") return "live";
  if (outcome === "completed") return "good";
  if (outcome === "unknown" || outcome === "reading") return "neutral";
  if (outcome === "stopped-early" || outcome === "interrupted") return "warn";
  return "bad";
}

export function learningTone(learning: string): string {
  return LEARNING_TONE[learning] ?? "neutral";
}

function card(question: string, answer: string, badge: string, tone: string, causes: HTMLElement[]): HTMLElement {
  // "yes, levelled off: loss 1.4 -> 0.2 ...": the answer first, its figures in plain type.
  const colon = answer.indexOf(": ");
  const short = colon > 0 && colon < 40 ? answer.slice(0, colon) : answer;
  const rest = short === answer ? "" : answer.slice(colon + 2);
  return h(
    "section",
    { class: `card answer ${tone}`, "aria-label": question },
    h("div", { class: "question" }, h("h2", {}, question), h("span", { class: `badge ${tone}` }, badge)),
    h("p", { class: "verdict" }, ...words(short)),
    rest !== "" && h("p", { class: "rest" }, ...words(rest)),
    ...causes,
  );
}

export function answers(run: Run, letters: Lettered[], prefix: string): HTMLElement {
  const verdict = run.verdict;
  const running = verdict.outcome === "running" || (verdict.outcome === "hung" && !run.ended);
  const of = (question: string) =>
    verdict.causes
      .filter((cause) => cause.answers === question)
      .map((cause) => causeBlock(cause, run, letters, prefix));
  const faulty = verdict.causes.some((cause) => cause.answers === "stop" && cause.fault);
  const tone = outcomeTone(verdict.outcome);
  // The answer that has the more to say gets the more room.
  const length = (question: string) =>
    verdict.causes
      .filter((cause) => cause.answers === question)
      .reduce((sum, cause) => sum + 1 + cause.evidence.length + (cause.fault ? cause.fixes.length : 0), 0);
  const more = length("stop") - length("learning");
  return h(
    "div",
    { class: `answers${more > 1 ? " stop-first" : more < -1 ? " learning-first" : ""}` },
    card(
      running ? "Is it still running?" : "Why did it stop?",
      run.ending,
      verdict.outcome,
      tone === "warn" && faulty ? "bad" : tone,
      of("stop"),
    ),
    card("Is it learning?", run.learning_words, verdict.learning, learningTone(verdict.learning), of("learning")),
  );
}
