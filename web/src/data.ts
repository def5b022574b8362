// What `tyche report` and `tyche wl --page` put into the page (src/report/page.cpp, pair_page.cpp, viewer.cpp).
import type { DistinguishRun } from "./distinguish";
import type { PackedPair } from "./packed";
import type { TrainingRun } from "./training";

export type Subset = "all" | "EXP" | "CORRUPT";

export interface Accuracy {
  mean: number;
  deviation: number;
  folds: number;
  difference?: number;
  range?: number;
  within?: boolean;
}

export interface Printed {
  mean: number;
  deviation?: number;
  where: string;
  /** Of training behind it. */
  epochs?: number;
  /** The row has trained less: what the paper’s curve has at its epoch, if anything. Then that is compared. */
  early?: { epoch: number; mean?: number; deviation?: number };
  /** An error that others released, in its unit; ours as a multiple of it. */
  text?: string;
  ratio?: number;
}

export interface Curve {
  epoch: number[];
  mean: number[];
  deviation?: number[];
}

export interface Row {
  name: string;
  kind: string;
  rni: number;
  random: string;
  depth: number | "leaf";
  distribution: string;
  activation: string;
  learning_rate: number;
  batch: number;
  epochs: number;
  epochs_done: number;
  folds: number;
  same_graphs: boolean;
  folds_run: number;
  folds_done: number;
  seed: number;
  parameters: number;
  engine: string;
  seconds: number;
  /** The commands that train the row alone, a line each. */
  alone: string;
  fold_accuracy: number[];
  /** The first epoch whose mean over folds is at least 95 %. */
  reached?: number;
  /** Of several draws: deviation of the probability between them, share that say the same. */
  spread?: number;
  agreement?: number;
  accuracy?: Partial<Record<Subset, Accuracy>>;
  paper?: Partial<Record<Subset, Printed>>;
  /** Of real targets, in place of accuracies. */
  scores?: { title: string; text: string; curve: Curve }[];
  curves?: Partial<Record<Subset, Curve>>;
  paper_curves?: Partial<Record<Subset | "deviation", Curve>>;
}

export interface Experiment {
  name: string;
  title: string;
  about: string;
  paper: string;
  profile: string;
  version: string;
  show: ("table" | "curves" | "split" | "deviation" | "reach" | "draws")[];
  data: { name: string; hash: string; graphs: number };
  rows: Row[];
}

export interface DrawnGraph {
  index: number;
  /** What the graph is called, where it is no graph of a data set. */
  title?: string;
  label: number;
  nodes: number;
  width: number;
  height: number;
  /** Unknown where the page itself has drawn it. */
  planar?: boolean;
  /** Drawn in the places of the other graph of the pair, of which it has all edges. */
  borrowed?: boolean;
  x: number[];
  y: number[];
  type: number[];
  edges: number[];
  /** One per edge; none where no edge has a label. */
  edge_label?: number[];
  name?: string[];
  core?: number[];
  added?: number[];
}

export interface Verdict {
  distinguished: boolean;
  classes?: number;
  round?: number;
  stable_after?: number;
}

export interface Pair {
  pair: number;
  subset: string;
  core?: number;
  graphs: [DrawnGraph, DrawnGraph];
  wl1: Verdict & { classes: number; rounds: number[][] };
  /** Nothing where nobody asked. */
  wl2?: Verdict;
  isomorphic?: boolean;
}

export interface DataSet {
  name: string;
  graphs?: number;
  paired?: boolean;
  pairs: (Pair | PackedPair)[];
  missing?: string;
}

export interface Call {
  date: string;
  command: string;
  profile: string;
  version: string;
  machine: { processor: string; threads: number; memory: number; system: string };
  ranks: number;
  threads: number;
  trials: number;
  trained: number;
  complete: number;
  seconds: number;
}

/** What every page holds. */
export interface Made {
  version: string;
  made: string;
  command: string;
}

/** Results of `reproduce`; with `shows` "pair" the page of two graphs, without experiments. */
export interface Report extends Made {
  shows?: "pair";
  log: Call[];
  experiments: Experiment[];
  data: DataSet[];
}

/** A run of `distinguish`. */
export interface DistinguishReport extends Made {
  shows: "distinguish";
  run: DistinguishRun;
}

/** A run of `train`. */
export interface TrainingReport extends Made {
  shows: "train";
  run: TrainingRun;
}

/** Pairs that something takes for equal. */
export interface ConfusedReport extends Made {
  shows: "confused";
  title: string;
  lead: string;
  notes: string[];
  rows: [name: string, value: string, note: string][];
  pairs: PackedPair[];
  too_large: number;
}

/** Runs of any kind, to be compared. */
export interface RunsReport extends Made {
  shows: "runs";
  runs: { name: string; complete: boolean }[];
  /** Head and rows. */
  table: string[][];
}

/** A row of `compare`. */
export interface ComparedRow {
  name: string;
  score: number;
  low: number;
  high: number;
  seconds: number;
  command: string;
  network: boolean;
  /** Against the baseline, above 0 where it is better; Holm's correction. */
  difference?: number;
  p?: number;
  calibration_error?: number;
  /** Said, right, graphs. */
  bins: [number, number, number][];
  epochs?: number;
  parameters?: number;
  validation_loss?: Curve;
}

/** What `compare` found. */
export interface CompareReport extends Made {
  shows: "compare";
  metric: "accuracy" | "roc_auc" | "mae";
  graphs: number;
  seconds: number;
  verdict: string;
  baseline: string;
  best: string;
  beats_baseline: boolean;
  rows: ComparedRow[];
  left_out: { name: string; why: string }[];
  tests: { a: string; b: string; difference: number; p: number }[];
  ceilings: { measure: string; one_wl?: number; two_wl?: number; everyone?: number; says: string };
  settings: Record<string, unknown>;
  final?: { folder: string; row: string; predict: string };
}

/** Embeddings in two dimensions. */
export interface EmbeddingReport extends Made {
  shows: "embedding";
  title: string;
  of: "graphs" | "nodes";
  /** Real targets are learned. */
  numbers: boolean;
  rows: number;
  dots: [x: number, y: number, graph: number, truth: number | null, prediction: number, part: string][];
}

/** Which nodes and edges an answer hangs on. */
/** Whose nodes' places the page finds itself (layout.ts). */
export type BareGraph = Omit<DrawnGraph, "x" | "y" | "width" | "height">;

export interface ExplanationReport extends Made {
  shows: "explanation";
  title: string;
  lead: string;
  why: {
    nodes: { node: number; type: number; gradient_input: number; left_out: number }[];
    edges: { edge: [number, number]; type?: number; gradient_input?: number; left_out: number }[];
  };
  drawn: BareGraph;
}

export interface NodesReport extends Made {
  shows: "nodes";
  title: string;
  /** Real targets, not labels. */
  numbers: boolean;
  /** How many graphs could be drawn. */
  of: number;
  graphs: { drawn: BareGraph; truth: (number | null)[]; said: (number | null)[]; part: (string | null)[]; colour: number[] }[];
}

export type Page = EmbeddingReport | NodesReport | ExplanationReport | Report | DistinguishReport | TrainingReport | ConfusedReport | RunsReport | CompareReport;

export function readPage(): Page | null {
  const parsed: unknown = JSON.parse(document.getElementById("tyche-data")!.textContent!);
  return typeof parsed === "object" && parsed !== null ? (parsed as Page) : null;
}
