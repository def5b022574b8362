// The table of an experiment, ours beside the paper's, and what stands behind each row.
import { modelColour } from "./colours";
import type { Experiment, Printed, Row, Subset } from "./data";
import { duration, h, percent, signed } from "./dom";
import { plural } from "./words";

const subsetName: Record<Subset, string> = { all: "all graphs", EXP: "EXP-like", CORRUPT: "CORRUPT" };

function howFar(row: Row): string {
  if (row.same_graphs && row.folds_done === 1) return `${row.epochs} epochs, trained and tested on the same graphs`;
  const folds = row.folds_run === row.folds ? plural(row.folds, "fold") : `${row.folds_run} of ${row.folds} folds`;
  if (row.folds_done === row.folds_run) return `${folds}, ${row.epochs} epochs`;
  return `under way: ${row.folds_done} of ${row.folds_run} folds done, ${row.epochs_done} of ${row.epochs} epochs in all`;
}

interface Column {
  head: string;
  number?: boolean;
  cell: (row: Row, subset: Subset) => HTMLElement;
}

const number = (text: string | HTMLElement, extra = ""): HTMLElement => h("td", { class: `number${extra}` }, text);

/** The paper at the epoch that the row has come to; its end where the row has trained as long. */
function papersSide(paper: Printed): HTMLElement {
  const early = paper.early;
  const end = `${percent(paper.mean, paper.deviation)} after ${paper.epochs} epochs (${paper.where})`;
  if (!early) return h("span", { title: paper.where }, percent(paper.mean, paper.deviation));
  const at = h("small", { class: "muted" }, ` at epoch ${early.epoch}`);
  if (early.mean === undefined) return h("span", { class: "muted", title: end }, "none", at);
  return h("span", { title: end }, percent(early.mean, early.deviation), at);
}

function verdict(row: Row, subset: Subset): HTMLElement {
  const ours = row.accuracy?.[subset];
  const early = row.paper?.[subset]?.early;
  if (ours?.difference === undefined) {
    return h("span", { class: "muted" }, early ? "no number there" : "not in the paper");
  }
  const word = ours.within ? "✓ within" : !early ? "✗ outside" : ours.difference > 0 ? "▲ ahead, beyond" : "▼ behind, beyond";
  const kind = ours.within ? "good" : early && ours.difference > 0 ? "same" : "off";
  const what = early ? `the paper at epoch ${early.epoch}` : "the paper’s mean";
  return h("span", { class: `badge ${kind}`, title: `±${ours.range!.toFixed(2)} points of ${what} count as the same` }, word, ` ±${ours.range!.toFixed(2)}`);
}

/** Ours beside the paper's, for experiments that are the paper's. */
const beside: Column[] = [
  { head: "the paper, %", number: true, cell: (row, subset) => {
    const paper = row.paper?.[subset];
    return number(paper ? papersSide(paper) : "–");
  } },
  { head: "difference", number: true, cell: (row, subset) => {
    const difference = row.accuracy?.[subset]?.difference;
    return number(difference === undefined ? "–" : signed(difference));
  } },
  { head: "within range?", cell: (row, subset) => h("td", {}, verdict(row, subset)) },
];

/** Ours beside errors that others released. */
const released: Column[] = [
  { head: "released", number: true, cell: (row) => {
    const theirs = row.paper?.all;
    return number(theirs?.text ? h("span", { title: theirs.where }, theirs.text) : "–");
  } },
  { head: "ours / released", number: true, cell: (row) => number(row.paper?.all?.ratio?.toFixed(2) ?? "–") },
];

function columns(experiment: Experiment): Column[] {
  const show = new Set(experiment.show);
  const others = experiment.rows.some((row) => row.paper?.all?.text);
  const scores = [...new Set(experiment.rows.flatMap((row) => (row.scores ?? []).map((s) => s.title)))];
  return [
    { head: "model", cell: (row) => h("th", { scope: "row" }, h("span", { class: "swatch", style: `--c:${modelColour(row.name)}` }), row.name) },
    ...(scores.length > 0 ? scores.map((title): Column => ({ head: title, number: true, cell: (row) =>
      number(row.scores?.find((s) => s.title === title)?.text ?? "–", " strong") })) :
    [{ head: "ours, %", number: true, cell: (row: Row, subset: Subset) => {
      const ours = row.accuracy?.[subset];
      return number(ours ? percent(ours.mean, ours.folds > 1 ? ours.deviation : undefined) : "–", " strong");
    } }]),
    ...(others ? released : experiment.rows.some((row) => row.paper) ? beside : []),
    ...(show.has("reach") ? [{ head: "epochs to 95 %", number: true, cell: (row: Row) => number(row.reached === undefined ? "never" : String(row.reached)) }] : []),
    ...(show.has("draws") ? [
      { head: "spread between draws", number: true, cell: (row: Row) => number(row.spread === undefined ? "–" : row.spread.toFixed(4)) },
      { head: "draws that agree, %", number: true, cell: (row: Row) => number(row.agreement === undefined ? "–" : (100 * row.agreement).toFixed(2)) },
    ] : []),
    { head: "run", cell: (row) => h("td", { class: row.folds_done === row.folds_run ? "run" : "run muted" }, howFar(row)) },
    { head: "work", number: true, cell: (row) => number(duration(row.seconds)) },
  ];
}

export function resultTable(experiment: Experiment): HTMLElement {
  const subsets: Subset[] = experiment.show.includes("split") ? ["all", "EXP", "CORRUPT"] : ["all"];
  const shown = columns(experiment);
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Accuracies: ${experiment.title}` },
    h("table", { class: "results" },
      h("thead", {}, h("tr", {}, shown.map((c) => h("th", { scope: "col", class: c.number ? "number" : "" }, c.head)))),
      subsets.map((subset) => h("tbody", {},
        subsets.length > 1 && h("tr", { class: "group" }, h("th", { colspan: shown.length, scope: "rowgroup" }, subsetName[subset])),
        experiment.rows.map((row) => h("tr", { "data-model": row.name }, shown.map((c) => c.cell(row, subset))))))));
}

/** Seeds, settings, seconds, folds and commands. */
export function runDetails(experiment: Experiment): HTMLElement {
  return h("details", { class: "more" },
    h("summary", {}, "Settings, folds, seconds and commands"),
    h("p", { class: "muted" }, `Data ${experiment.data.name}: ${experiment.data.graphs} graphs, content hash ${experiment.data.hash}. Profile ${experiment.profile}, tyche ${experiment.version}.`),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Settings" }, h("table", { class: "results small" },
      h("thead", {}, h("tr", {}, ["model", "settings", "seed", "test accuracy by fold, %", "engine"].map((t) => h("th", { scope: "col" }, t)))),
      h("tbody", {}, experiment.rows.map((row) => h("tr", {},
        h("th", { scope: "row" }, row.name),
        h("td", {}, [row.kind, row.random !== "features" ? `random ${row.random}, depth ${row.depth}` : row.rni > 0 ? `${row.rni * 100} % random, ${row.distribution}` : "no random features", row.activation,
          `learning rate ${row.learning_rate}`, `batch ${row.batch}`, `${row.parameters.toLocaleString("en")} parameters`].join(" · ")),
        h("td", { class: "number" }, row.seed),
        h("td", {}, row.fold_accuracy.map((a) => a.toFixed(2)).join(", ") || "–"),
        h("td", {}, row.engine)))))),
    h("p", { class: "muted" }, "Each row on its own (paths are those of the results folder):"),
    h("pre", { tabindex: 0 }, experiment.rows.map((row) => row.alone).join("")));
}
