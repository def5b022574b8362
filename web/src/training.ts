// The page of a run of `train`: curves of every fold for whatever was measured, and the values at the end.
import { chart, type Series } from "./chart";
import type { Curve, TrainingReport } from "./data";
import { duration, h, themeButton } from "./dom";
import { howMade, settingsTable, type Setting } from "./made";

type Values = (number | null)[];

interface Metric {
  /** "test_accuracy" */
  name: string;
  /** "test accuracy, %" */
  title: string;
  percent: boolean;
  epochs: number[];
  /** By fold; null where a fold has no value. */
  folds: Values[];
  mean: Values;
  deviation: Values;
  /** Of the epoch that stands for a fold: mean and deviation over folds in words, and the value of each fold. */
  over_folds: string;
  reported: string[];
}

export interface TrainingRun {
  folder: string;
  data: string;
  hash: string;
  graphs: number;
  version: string;
  engine: string;
  kind: string;
  parameters: number;
  command: string;
  complete: boolean;
  how_far: string;
  /** "the last epoch": of which epoch the values are. */
  of_epoch: string;
  /** Whether validation chose that epoch, fold by fold. */
  chosen: boolean;
  epochs: number;
  folds_asked: number;
  seconds: number;
  notes: string[];
  settings: Setting[];
  folds: { fold: number; epochs: number; reported: number | null; seconds: number }[];
  metrics: Metric[];
}

/** Where a value was measured, by the first word of its name. */
const PARTS = ["train", "validation", "test"];
const partOf = (name: string): string => PARTS.find((p) => name.startsWith(`${p}_`)) ?? "";
const kindOf = (name: string): string => name.slice(partOf(name) === "" ? 0 : partOf(name).length + 1);
const short: [RegExp, string][] = [[/\broc auc\b/, "ROC AUC"], [/\bf1\b/, "F1"], [/\bmae\b/, "MAE"], [/\brmse\b/, "RMSE"], [/\br2\b/, "R²"]];
const plain = (name: string): string => short.reduce((text, [what, word]) => text.replace(what, word), name.replace(/_/g, " "));

/** Without the epochs that have no value; shares as percent. */
function curve(metric: Metric, values: Values, deviation?: Values): Curve | undefined {
  const scale = metric.percent ? 100 : 1;
  const at = values.flatMap((v, i) => (v === null ? [] : [i]));
  if (at.length === 0) return undefined;
  const pick = (from: Values): number[] => at.map((i) => scale * (from[i] ?? 0));
  return { epoch: at.map((i) => metric.epochs[i]), mean: pick(values), deviation: deviation && pick(deviation) };
}

/** One figure for each thing that was measured, with training, validation and test in it. */
function figures(run: TrainingRun): HTMLElement[] {
  // A test at the end alone has a value and no curve.
  const kinds = [...new Set(run.metrics.filter((m) => m.epochs.length > 0).map((m) => kindOf(m.name)))];
  return kinds.map((kind) => {
    const metrics = run.metrics.filter((m) => m.epochs.length > 0 && kindOf(m.name) === kind);
    const series: Series[] = metrics.map((m) => {
      const folds = m.folds.map((f) => curve(m, f)).filter((c): c is Curve => c !== undefined);
      return { name: partOf(m.name) || plain(m.name), ours: curve(m, m.mean, m.deviation), folds: folds.length > 1 ? folds : undefined };
    });
    const percent = metrics[0].percent;
    const text = plain(kind);
    const name = text.charAt(0).toUpperCase() + text.slice(1);
    return chart(series, { title: name, yLabel: percent ? `${text}, %` : text, band: run.folds.length > 1, percent, fit: true, column: run.folds.length > 1 ? "mean" : "value" });
  });
}

function header(run: TrainingRun, report: TrainingReport): HTMLElement[] {
  const fact = (value: string | number, what: string): HTMLElement => h("div", { class: "fact" }, h("b", {}, value), h("span", {}, what));
  // What tests say first; a run without any shows what there is.
  const tested = run.metrics.filter((m) => partOf(m.name) === "test");
  const shown = (tested.length > 0 ? tested : run.metrics).slice(0, 3);
  return [
    h("div", { class: "bar-top" }, h("span", { class: "brand" }, "tyche"), themeButton()),
    h("h1", {}, `Training ${run.kind} on ${run.data.split("/").pop()}`),
    h("p", { class: "lead" }, `${run.graphs} graphs, ${run.parameters.toLocaleString("en")} parameters. Values are those of ${run.of_epoch}${run.folds.length > 1 ? ", means over folds ± the population standard deviation" : ""}.`),
    h("p", { class: "note how-far" }, !run.complete && h("span", { class: "badge off" }, "unfinished"), ` ${run.how_far}`),
    run.notes.map((note) => h("p", { class: "note" }, note)),
    h("div", { class: "facts" },
      shown.map((m) => fact(m.over_folds, m.title)),
      fact(duration(run.seconds), "of work, all folds"),
      fact(report.made.slice(0, 10), `tyche ${run.version || report.version}`)),
    h("nav", { "aria-label": "Parts of the page" }, h("ul", {},
      [["values", "The values"], ["curves", "The curves"], ["how", "How it was made"]].map(([id, text]) => h("li", {}, h("a", { href: `#${id}` }, text))))),
  ].flat();
}

function values(run: TrainingRun): HTMLElement {
  const heads = ["fold", "epochs", ...(run.chosen ? ["chosen"] : []), ...run.metrics.map((m) => m.title), "work"];
  const cell = (value: string | number | null, strong = false): HTMLElement => h("td", { class: `number${strong ? " strong" : ""}` }, value ?? "–");
  return h("section", { id: "values" }, h("h2", {}, "The values"),
    run.folds.length === 0 ? h("p", { class: "muted" }, "No epoch has ended yet.") :
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Values by fold" }, h("table", { class: "results folds-table" },
      h("thead", {}, h("tr", {}, heads.map((head, i) => h("th", { scope: "col", class: i > 0 ? "number" : "" }, head)))),
      h("tbody", {},
        run.folds.map((fold, i) => h("tr", {}, h("th", { scope: "row" }, `fold ${fold.fold}`), h("td", { class: `number${fold.epochs < run.epochs && !run.complete ? " muted" : ""}` }, fold.epochs < run.epochs ? `${fold.epochs} of ${run.epochs}` : fold.epochs),
          run.chosen && cell(fold.reported), run.metrics.map((m) => cell(m.reported[i])), cell(duration(fold.seconds)))),
        run.folds.length > 1 && h("tr", { class: "total" }, h("th", { scope: "row" }, "mean"), cell(""), run.chosen && cell(""), run.metrics.map((m) => cell(m.over_folds, true)), cell(duration(run.seconds)))))));
}

export function trainingPage(report: TrainingReport): { top: HTMLElement[]; main: HTMLElement[] } {
  const { run } = report;
  document.title = `tyche: ${run.kind} on ${run.data.split("/").pop()}`;
  return {
    top: header(run, report),
    main: [values(run),
      h("section", { id: "curves" }, h("h2", {}, "The curves"),
        run.folds.length > 1 && h("p", { class: "lead" }, "Thick: the mean over folds, as far as every fold that has begun has come. Thin: the folds."),
        figures(run)),
      howMade(report, run.command, `${run.data}: ${run.graphs} graphs, content hash ${run.hash}`, run.engine, [], settingsTable(run.settings))],
  };
}
