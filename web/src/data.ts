// What the page is given: one run as src/report/view_json.cc writes it. The verdict is that of `whystop why --json`.

export interface Evidence {
  kind: string;
  weight: string;
  text: string;
  series?: string;
  step_from?: number;
  step_to?: number;
  file?: string;
  line?: number;
}

export interface Cause {
  id: string;
  title: string;
  role: "root" | "consequence" | "contributing";
  confidence: "certain" | "likely" | "possible";
  answers: "stop" | "learning";
  fault: boolean;
  evidence: Evidence[];
  fixes: string[];
}

export interface Verdict {
  outcome: string;
  learning: string;
  headline: string;
  learning_text: string;
  learning_series: string;
  progress: {
    epoch: number | null;
    epochs_planned: number | null;
    step: number | null;
    steps_planned: number | null;
    seconds: number | null;
  };
  causes: Cause[];
  ruled_out: { what: string; figure: string }[];
  unknowns: { what: string; would_show: string }[];
  drops: Record<string, number>;
  run: string;
  command: string[];
  sources: string[];
  overhead: number | null;
  trainings: string[];
  trials?: Trial[];
}

/** One experiment of `whystop try`. */
export interface Trial {
  change: string;
  spec: string;
  result: "proven" | "refuted" | "neither" | "not-tested";
  cause?: string;
  text: string;
}

/** Columns of equal length; a null mean: no finite value. min and max are left out where they equal the mean. */
export interface Columns {
  t?: number[];
  mean: (number | null)[];
  min?: (number | null)[];
  max?: (number | null)[];
}

export interface Series extends Columns {
  name: string;
  role: string;
  rank?: number;
  file: string;
  steps: boolean;
  points: number;
  first: number | string;
  last: number | string;
  noise?: number;
  x: number[];
  bad: [number, number][];
}

export interface Resource extends Columns {
  panel: string;
  unit: string;
  label: string;
  limit?: number;
}

export interface Mark {
  t?: number;
  step?: number;
  kind: string;
  text: string;
  grave: boolean;
}

export interface Finding {
  detector: string;
  series: string;
  t: number;
  step_from?: number;
  step_to?: number;
}

export type Cell = number | "!" | null;

export interface HeatRow {
  tensor: string;
  gradients: Cell[];
  weights: Cell[];
  updates: Cell[];
}

export interface Life {
  pid: number;
  parent: number;
  name: string;
  command: string;
  from: number;
  to?: number;
  how: string;
  grave: boolean;
  job: boolean;
  rss?: number;
}

export interface Excerpt {
  file: string;
  note: string;
  lines: [number, string][];
  marked: number[];
}

export interface Run {
  made_by: string;
  ending: string;
  learning_words: string;
  bad: boolean;
  timed: boolean;
  ended: boolean;
  seconds: number;
  host?: string;
  user?: string;
  directory?: string;
  wall_ms?: number;
  guess_level?: number;
  steps_per_second?: number;
  seconds_left?: number;
  data_wait?: number;
  verdict: Verdict;
  series: Series[];
  series_left_out: number;
  trial_lines: ({ change: string } & Series)[];
  resources: Resource[];
  marks: Mark[];
  findings: Finding[];
  heat: { first_step: number; steps_a_column: number; left_out: number; rows: HeatRow[] };
  processes: Life[];
  processes_left_out: number;
  logs: Excerpt[];
  sources: Excerpt[];
  pages: { id: string; title: string; text: string }[];
}

/** A line of the list of runs that `serve` gives. */
export interface RunSummary {
  id: string;
  command: string;
  outcome: string;
  learning: string;
  headline: string;
  bad: boolean;
  cause: string;
  started_ms: number | null;
  seconds: number | null;
  step: number | null;
  steps_planned: number | null;
  epoch: number | null;
  epochs_planned: number | null;
  steps_per_second: number | null;
  seconds_left: number | null;
  spark: (number | null)[];
}
