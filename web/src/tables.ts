// The table of an experiment, ours beside the paper's, and what stands behind each row.
import { modelColour } from "./colours";
import type { Experiment, Row, Subset } from "./data";
import { duration, h, percent, signed } from "./dom";

const subsetName: Record<Subset, string> = { all: "all graphs", EXP: "EXP-like", CORRUPT: "CORRUPT" };

function howFar(row: Row): string {
  if (row.folds === 1 && row.folds_done === 1) return `${row.epochs} epochs, trained and tested on the same graphs`;
  const folds = row.folds_run === row.folds ? `${row.folds} folds` : `${row.folds_run} of ${row.folds} folds`;
  if (row.folds_done === row.folds_run) return `${folds}, ${row.epochs} epochs`;
  return `under way: ${row.folds_done} of ${row.folds_run} folds done, ${row.epochs_done} of ${row.epochs} epochs in all`;
}

function line(row: Row, subset: Subset): HTMLElement {
  const ours = row.accuracy?.[subset];
  const paper = row.paper?.[subset];
  const compared = ours !== undefined && ours.difference !== undefined;
  const done = row.folds_done === row.folds_run;
  return h("tr", { "data-model": row.name },
    h("th", { scope: "row" }, h("span", { class: "swatch", style: `--c:${modelColour(row.name)}` }), row.name),
    h("td", { class: "number strong" }, ours ? percent(ours.mean, ours.folds > 1 ? ours.deviation : undefined) : "–"),
    h("td", { class: "number" }, paper ? h("span", { title: paper.where }, percent(paper.mean, paper.deviation)) : "–"),
    h("td", { class: "number" }, compared ? signed(ours!.difference!) : "–"),
    h("td", {}, compared
      ? h("span", { class: ours!.within ? "badge good" : "badge off", title: `within ±${ours!.range!.toFixed(2)} points of the paper's mean` },
          ours!.within ? "✓ within" : "✗ outside", ` ±${ours!.range!.toFixed(2)}`)
      : h("span", { class: "muted" }, "nothing to compare")),
    h("td", { class: done ? "" : "muted" }, howFar(row)),
    h("td", { class: "number" }, duration(row.seconds)));
}

export function resultTable(experiment: Experiment): HTMLElement {
  const subsets: Subset[] = experiment.show.includes("split") ? ["all", "EXP", "CORRUPT"] : ["all"];
  const heads = ["model", "ours, %", "the paper, %", "difference", "within range?", "run", "work"];
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Accuracies: ${experiment.title}` },
    h("table", { class: "results" },
      h("thead", {}, h("tr", {}, heads.map((t, i) => h("th", { scope: "col", class: [1, 2, 3, 6].includes(i) ? "number" : "" }, t)))),
      subsets.map((subset) => h("tbody", {},
        subsets.length > 1 && h("tr", { class: "group" }, h("th", { colspan: heads.length, scope: "rowgroup" }, subsetName[subset])),
        experiment.rows.map((row) => line(row, subset))))));
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
        h("td", {}, [row.kind, row.rni > 0 ? `${row.rni * 100} % random, ${row.distribution}` : "no random features", row.activation,
          `learning rate ${row.learning_rate}`, `batch ${row.batch}`, `${row.parameters.toLocaleString("en")} parameters`].join(" · ")),
        h("td", { class: "number" }, row.seed),
        h("td", {}, row.fold_accuracy.map((a) => a.toFixed(1)).join(", ") || "–"),
        h("td", {}, row.engine)))))),
    h("p", { class: "muted" }, "Each row on its own (paths are those of the results folder):"),
    h("pre", { tabindex: 0 }, experiment.rows.map((row) => `${row.command} --out RUN`).join("\n")));
}
