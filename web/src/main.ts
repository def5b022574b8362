// Builds the page from the data in it.
import { chart, type Series } from "./chart";
import { comparePage } from "./compare";
import { confusedPage } from "./confused";
import { readPage, type Experiment, type Page, type Report, type Subset } from "./data";
import { distinguishPage } from "./distinguish";
import { duration, h, themeButton } from "./dom";
import { embeddingPage, explanationPage, nodesPage } from "./look";
import { pairPage } from "./pair";
import { runsPage } from "./runs";
import { resultTable, runDetails } from "./tables";
import { trainingPage } from "./training";
import { viewer } from "./viewer";

const subsetTitle: Record<Subset, string> = { all: "all test graphs", EXP: "EXP-like graphs", CORRUPT: "CORRUPT graphs" };

function series(experiment: Experiment, subset: Subset): Series[] {
  return experiment.rows
    .map((row) => ({ name: row.name, ours: row.curves?.[subset], paper: row.paper_curves?.[subset] }))
    .filter((s) => s.ours || s.paper);
}

function accuracyChart(experiment: Experiment, subset: Subset): HTMLElement {
  return chart(series(experiment, subset), { title: `Test accuracy, ${subsetTitle[subset]}`, yLabel: "test accuracy, %", band: true, percent: true });
}

/** One figure, with buttons that change between all graphs and the subsets where the data has any. */
function curves(experiment: Experiment): HTMLElement {
  const split = experiment.rows.some((row) => row.curves?.EXP || row.curves?.CORRUPT);
  const holder = h("div", {}, accuracyChart(experiment, "all"));
  if (!split) return holder;
  const buttons = (["all", "EXP", "CORRUPT"] as const).map((subset) => h("button", {
    type: "button", "aria-pressed": String(subset === "all"), "data-subset": subset,
    onclick: () => {
      for (const b of buttons) b.setAttribute("aria-pressed", String(b.dataset.subset === subset));
      holder.replaceChildren(accuracyChart(experiment, subset));
    },
  }, subset === "all" ? "All graphs" : subset === "EXP" ? "EXP-like" : "CORRUPT"));
  return h("div", {}, h("div", { class: "controls" }, h("span", { class: "segments", role: "group", "aria-label": "Test graphs counted" }, buttons)), holder);
}

function deviationChart(experiment: Experiment): HTMLElement {
  const data: Series[] = experiment.rows.map((row) => {
    const ours = row.curves?.all;
    return { name: row.name, ours: ours?.deviation ? { epoch: ours.epoch, mean: ours.deviation } : undefined, paper: row.paper_curves?.deviation };
  });
  return chart(data.filter((s) => s.ours || s.paper), { title: "Standard deviation of the test accuracy over folds", yLabel: "deviation, points", band: false, percent: false });
}

/** Of real targets: a figure for each score. */
function scoreCharts(experiment: Experiment): HTMLElement[] {
  const titles = [...new Set(experiment.rows.flatMap((row) => (row.scores ?? []).map((s) => s.title)))];
  return titles.map((title) => {
    const data: Series[] = experiment.rows.map((row) => ({ name: row.name, ours: row.scores?.find((s) => s.title === title)?.curve }));
    const shown = data.filter((s) => s.ours && s.ours.epoch.length > 0);
    return shown.length === 0 ? null : chart(shown, { title: title.charAt(0).toUpperCase() + title.slice(1), yLabel: title, band: true, percent: false, fit: true });
  }).filter((c): c is HTMLElement => c !== null);
}

function section(experiment: Experiment): HTMLElement {
  const show = new Set(experiment.show);
  const parts: HTMLElement[] = [];
  if (show.has("table")) parts.push(resultTable(experiment));
  if (show.has("curves") && series(experiment, "all").length > 0) parts.push(curves(experiment));
  if (show.has("curves")) parts.push(...scoreCharts(experiment));
  if (show.has("split")) parts.push(h("div", { class: "two" }, (["EXP", "CORRUPT"] as const).filter((s) => series(experiment, s).length > 0).map((s) => accuracyChart(experiment, s))));
  if (show.has("deviation")) parts.push(deviationChart(experiment));
  return h("section", { id: `e-${experiment.name}`, class: "experiment" },
    h("h2", {}, experiment.title),
    h("p", { class: "lead" }, experiment.paper && h("span", { class: "where" }, experiment.paper), experiment.about),
    experiment.profile !== "paper" && experiment.rows.some((row) => row.paper) && h("p", { class: "note" }, profileNote(experiment)),
    parts, runDetails(experiment));
}

function profileNote(experiment: Experiment): string {
  const epochs = experiment.rows.map((r) => r.epochs);
  const folds = experiment.rows.map((r) => r.folds_run);
  const range = (values: number[]): string => Math.min(...values) === Math.max(...values) ? String(values[0]) : `${Math.min(...values)} to ${Math.max(...values)}`;
  return `Profile ${experiment.profile}: ${experiment.data.graphs} graphs, ${range(folds)} folds, ${range(epochs)} epochs. Rows that train for less than the paper did are compared with its curves at the same epoch; the profile “paper” runs all of it.`;
}

function header(report: Report): HTMLElement[] {
  const compared = report.experiments.flatMap((e) => e.rows).filter((r) => r.accuracy?.all?.within !== undefined);
  const within = compared.filter((r) => r.accuracy!.all!.within).length;
  const early = compared.some((r) => r.paper?.all?.early);
  const seconds = report.log.reduce((sum, call) => sum + call.seconds, 0);
  const fact = (value: string | number, what: string): HTMLElement => h("div", { class: "fact" }, h("b", {}, value), h("span", {}, what));
  return [
    h("div", { class: "bar-top" }, h("span", { class: "brand" }, "tyche"), themeButton()),
    h("h1", {}, "Random node initialisation: our results beside the paper’s"),
    h("p", { class: "lead" }, "Abboud, Ceylan, Grohe and Lukasiewicz, ", h("i", {}, "The Surprising Power of Graph Neural Networks with Random Node Initialization"), " (IJCAI 2021), computed again by this machine. Accuracies are means over folds of the last epoch, one random draw per test graph, ± the population standard deviation."),
    h("div", { class: "facts" },
      fact(report.experiments.length, report.experiments.length === 1 ? "experiment" : "experiments"),
      compared.length > 0 && fact(`${within} of ${compared.length}`, early ? "rows within range of the paper, at the same epoch" : "rows within the paper’s range"),
      seconds > 0 && fact(duration(seconds), "to compute"),
      fact(report.made.slice(0, 10), `tyche ${report.version}`)),
    h("nav", { "aria-label": "Parts of the report" }, h("ul", {},
      report.experiments.map((e) => h("li", {}, h("a", { href: `#e-${e.name}` }, e.title))),
      report.data.length > 0 && h("li", {}, h("a", { href: "#data" }, "The data")),
      h("li", {}, h("a", { href: "#how" }, "How it was made")))),
  ];
}

function provenance(report: Report): HTMLElement {
  return h("section", { id: "how" },
    h("h2", {}, "How it was made"),
    h("p", {}, "“Within range” means: the mean differs from the paper’s by at most the paper’s deviation, or by one point where that is less or none is printed. A row that has trained for less than the paper is compared with the paper’s curve at the same epoch, and the range is then two standard errors of our mean at least, for it rests on few graphs; where the paper has no number at that epoch, nothing is compared. “Work” is the time of all folds added up; folds that ran side by side count each."),
    report.log.map((call) => h("dl", { class: "call" },
      h("dt", {}, "command"), h("dd", {}, h("code", {}, call.command)),
      h("dt", {}, "when"), h("dd", {}, `${call.date}, ${duration(call.seconds)}, ${call.trained} of ${call.trials} trials trained`),
      h("dt", {}, "machine"), h("dd", {}, `${call.machine.processor}, ${call.threads} of ${call.machine.threads} threads used${call.ranks > 1 ? ` on each of ${call.ranks} ranks` : ""}, ${(call.machine.memory / 2 ** 30).toFixed(0)} GiB, ${call.machine.system}`),
      h("dt", {}, "version"), h("dd", {}, `tyche ${call.version}`))),
    h("dl", { class: "call" }, h("dt", {}, "this page"), h("dd", {}, h("code", {}, report.command), ` (${report.made})`)));
}

/** Pages that show one thing. */
function single(page: Page): { top: HTMLElement[]; main: HTMLElement[] } | null {
  switch (page.shows) {
    case "pair": return pairPage(page);
    case "distinguish": return distinguishPage(page);
    case "train": return trainingPage(page);
    case "confused": return confusedPage(page);
    case "compare": return comparePage(page);
    case "embedding": return embeddingPage(page);
    case "explanation": return explanationPage(page);
    case "nodes": return nodesPage(page);
    case "runs": return runsPage(page);
    case undefined: return null;
  }
}

function main(): void {
  const page = readPage();
  const root = document.getElementById("main")!;
  if (!page) {
    root.append(h("p", {}, "This is the template of a report: ", h("code", {}, "tyche report DIR --out report.html"), " fills it; so do other commands, say ", h("code", {}, "tyche wl A B --page out.html"), "."));
    return;
  }
  const other = single(page);
  if (other) {
    document.getElementById("top")!.append(...other.top);
    root.append(...other.main);
    return;
  }
  const report = page as Report;
  document.getElementById("top")!.append(...header(report));
  root.append(...report.experiments.map(section));
  if (report.data.length > 0) {
    root.append(h("section", { id: "data" }, h("h2", {}, "The data"),
      h("p", { class: "lead" }, "Pick a pair: one formula is satisfiable, the other is not. The graphs of an EXP pair look alike to colour refinement (1-WL); those of a CORRUPT pair differ by a few edges and do not. Click a node to give it a colour of its own, and see colours split in both graphs. Graphs are drawn from planar embeddings."),
      viewer(report.data).element));
  }
  root.append(provenance(report));
}

main();
