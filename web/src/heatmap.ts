// How large gradients, weights and updates were: a row a tensor, a column a stretch of steps, colour by power of ten.
import type { Cell, HeatRow, Run } from "./data";
import { colour, h } from "./dom";
import { count, number } from "./format";
import { keep, kept } from "./keep";

type Kind = "gradients" | "weights" | "updates";
const KINDS: Kind[] = ["gradients", "weights", "updates"];
const ROW = 16;
// From dark blue over green to yellow, even in lightness and told apart by colour-blind eyes (after viridis).
const RAMP = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
];

function ramp(share: number): string {
  const at = Math.min(0.9999, Math.max(0, share)) * (RAMP.length - 1);
  const i = Math.floor(at);
  const mixed = RAMP[i].map((low, c) => Math.round(low + (RAMP[i + 1][c] - low) * (at - i)));
  return `rgb(${mixed.join(",")})`;
}

function exponents(rows: HeatRow[], kind: Kind): [number, number] {
  const all = rows
    .flatMap((row) => row[kind])
    .filter((cell): cell is number => typeof cell === "number" && cell > 0)
    .map(Math.log10);
  if (all.length === 0) return [0, 0];
  const low = all.reduce((a, b) => Math.min(a, b));
  const high = all.reduce((a, b) => Math.max(a, b));
  return high - low < 1 ? [(low + high) / 2 - 0.5, (low + high) / 2 + 0.5] : [low, high];
}

class HeatMap {
  readonly element: HTMLElement;
  private kind: Kind;
  private readonly canvas = h("canvas", { class: "heat", role: "img", tabindex: 0 });
  private readonly names = h("ol", { class: "heat-names", "aria-hidden": "true" });
  private readonly told = h("output", { class: "told" });
  private readonly scale = h("div", { class: "heat-scale" });
  private readonly at = { row: 0, column: 0 };
  private readonly columns: number;

  constructor(private readonly run: Run) {
    const rows = run.heat.rows;
    this.columns = Math.max(...rows.flatMap((row) => KINDS.map((kind) => row[kind].length)));
    const filled = KINDS.filter((kind) => rows.some((row) => row[kind].some((cell) => cell !== null)));
    const chosen = kept<Kind>("heat", filled[0] ?? "gradients");
    this.kind = filled.includes(chosen) ? chosen : (filled[0] ?? "gradients");
    const choices = filled.map((kind) =>
      h(
        "label",
        {},
        h("input", {
          type: "radio",
          name: `heat-${run.verdict.run}`,
          checked: kind === this.kind,
          change: () => {
            this.kind = kind;
            keep("heat", kind);
            this.draw();
          },
        }),
        kind,
      ),
    );
    this.names.append(...rows.map((row) => h("li", { title: row.tensor }, row.tensor)));
    this.canvas.addEventListener("mousemove", (event) => this.pointAt(event));
    this.canvas.addEventListener("keydown", (event) => this.onKey(event));
    const left = run.heat.left_out;
    this.element = h(
      "div",
      { class: "heatmap" },
      h("div", { class: "choices", role: "radiogroup", "aria-label": "What is shown" }, ...choices),
      h("div", { class: "heat-box" }, this.names, this.canvas),
      h("div", { class: "heat-axis", "aria-hidden": "true" }, ...this.axis()),
      h("div", { class: "heat-foot" }, this.scale, this.told),
      left > 0 && h("p", { class: "muted" }, `${count(left)} more tensors are not shown`),
    );
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  private stepsOf(column: number): string {
    const { first_step, steps_a_column } = this.run.heat;
    const from = first_step + column * steps_a_column;
    return steps_a_column === 1 ? `step ${count(from)}` : `steps ${count(from)} to ${count(from + steps_a_column - 1)}`;
  }

  /** Steps below the columns. */
  private axis(): HTMLElement[] {
    const { first_step, steps_a_column } = this.run.heat;
    const shares = this.columns < 3 ? [0] : [0, 0.25, 0.5, 0.75, 1];
    const name = (share: number) => count(first_step + Math.round(share * (this.columns - 1)) * steps_a_column);
    return shares.map((share, i) => h("span", {}, i === 0 ? `step ${name(share)}` : name(share)));
  }

  private words(cell: Cell | undefined): string {
    if (cell === null || cell === undefined) return "not measured";
    return cell === "!" ? "not finite" : `root mean square ${number(cell, 3)}`;
  }

  private tell(): void {
    const row = this.run.heat.rows[this.at.row];
    if (row === undefined) return;
    this.told.textContent = `${row.tensor}, ${this.stepsOf(this.at.column)}: ${this.words(row[this.kind][this.at.column])}`;
  }

  private pointAt(event: MouseEvent): void {
    const box = this.canvas.getBoundingClientRect();
    this.at.column = Math.min(this.columns - 1, Math.floor(((event.clientX - box.left) / box.width) * this.columns));
    this.at.row = Math.floor((event.clientY - box.top) / ROW);
    this.tell();
  }

  private onKey(event: KeyboardEvent): void {
    const moves: Record<string, [number, number]> = {
      ArrowLeft: [0, -1],
      ArrowRight: [0, 1],
      ArrowUp: [-1, 0],
      ArrowDown: [1, 0],
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    this.at.row = Math.min(this.run.heat.rows.length - 1, Math.max(0, this.at.row + move[0]));
    this.at.column = Math.min(this.columns - 1, Math.max(0, this.at.column + move[1]));
    this.draw();
    this.tell();
  }

  draw(): void {
    const rows = this.run.heat.rows;
    const ratio = devicePixelRatio;
    const width = this.canvas.clientWidth;
    if (width === 0) return;
    this.canvas.width = width * ratio;
    this.canvas.height = rows.length * ROW * ratio;
    this.canvas.style.height = `${rows.length * ROW}px`;
    const ctx = this.canvas.getContext("2d")!;
    const [low, high] = exponents(rows, this.kind);
    const size = this.canvas.width / this.columns;
    const tall = ROW * ratio;
    rows.forEach((row, r) => {
      // A tensor is measured now and then: between two looks stands what was seen at the first, paler.
      let last: Cell = null;
      for (let c = 0; c < row[this.kind].length; c += 1) {
        const cell = row[this.kind][c] ?? null;
        const shown: Cell = cell ?? last;
        last = cell ?? last;
        if (shown === null) continue;
        ctx.globalAlpha = cell === null ? 0.35 : 1;
        ctx.fillStyle =
          shown === "!" ? colour("bad") : shown === 0 ? colour("grid-strong") : ramp((Math.log10(shown) - low) / (high - low));
        const left = Math.floor(c * size);
        ctx.fillRect(left, r * tall + 1, Math.floor((c + 1) * size) - left, tall - 2); // Pale columns must not lie on each other.
      }
    });
    ctx.globalAlpha = 1;
    if (document.activeElement === this.canvas) {
      ctx.strokeStyle = colour("text");
      ctx.lineWidth = 2 * ratio;
      ctx.strokeRect(this.at.column * size, this.at.row * tall, Math.max(size, 6 * ratio), tall);
    }
    const bad = rows.filter((row) => row[this.kind].includes("!")).map((row) => row.tensor);
    this.canvas.setAttribute(
      "aria-label",
      `Sizes of ${this.kind} of ${rows.length} tensors over steps, from ${number(10 ** low, 2)} to ${number(10 ** high, 2)}` +
        (bad.length > 0 ? `; not finite in ${bad.slice(0, 5).join(", ")}` : "") +
        ". Arrow keys move from cell to cell.",
    );
    const steps = [0, 0.25, 0.5, 0.75, 1].map((share) => {
      const swatch = h("span", { class: "heat-swatch" });
      swatch.style.backgroundColor = ramp(share);
      return h("span", {}, swatch, number(10 ** (low + share * (high - low)), 2));
    });
    const red = h("span", { class: "heat-swatch" });
    red.style.backgroundColor = colour("bad");
    this.scale.replaceChildren(...steps, h("span", {}, red, "not finite"));
  }
}

export function heatMap(run: Run): HTMLElement | null {
  if (run.heat.rows.length === 0) return null;
  return new HeatMap(run).element;
}
