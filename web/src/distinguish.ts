// The page of a run of `distinguish`: pairs told apart per category, beside refinement and published totals; and every pair to look at.
import type { DistinguishReport } from "./data";
import { duration, h, themeButton } from "./dom";
import { howMade, settingsTable, type Setting } from "./made";
import type { PackedGraph, PackedPair } from "./packed";
import { viewer } from "./viewer";

interface CategoryRow {
  name: string;
  pairs: number;
  /** One number per seed that has begun. */
  told: number[];
  controls: number[];
  wl1: number;
  wl2: number;
  leaves: number;
}

/** Told apart (1 or 0), p, epochs, draws called the first of either graph, T², and the control's verdict and p. */
type Result = [told: number, p: number, epochs: number, firstA: number, firstB: number, t2: number | null, control: number, controlP: number];

interface JudgedPair {
  name: string;
  category: string;
  wl1: boolean;
  wl2: boolean | null;
  leaves: "isomorphic" | "different" | "unknown";
  /** One per seed; null: not there yet. */
  results: (Result | null)[];
  graphs?: [PackedGraph, PackedGraph];
}

export interface LoggedCall {
  date: string;
  version: string;
  machine: { processor: string; threads: number; memory: number; system: string };
  threads: number;
  results: number;
  seconds: number;
}

export interface DistinguishRun {
  folder: string;
  data: string;
  only: string[];
  version: string;
  engine: string;
  command: string;
  scoring: "exact" | "released";
  test: string;
  /** One network for all pairs, not one per pair. */
  together: boolean;
  random: boolean;
  draws: number;
  level: number;
  seeds: number[];
  asked: number;
  done: number;
  seconds: number;
  log: LoggedCall[];
  settings: Setting[];
  rows: CategoryRow[];
  published: { model: string; total: number; random: boolean; note: string }[];
  beside?: string;
  /** Failures first. */
  pairs: JudgedPair[];
  /** Why there are no pictures. */
  missing?: string;
}

const small = (p: number): string => p === 0 ? "0" : p >= 0.01 ? p.toFixed(2) : p.toExponential(1).replace("e-", " · 10⁻").replace(/⁻(\d+)$/, (_, d: string) => `⁻${[...d].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]).join("")}`);
const range = (values: number[]): string => values.length === 0 ? "–" : Math.min(...values) === Math.max(...values) ? String(values[0]) : `${Math.min(...values)}–${Math.max(...values)}`;
const mean = (values: number[]): string => { const m = values.reduce((a, b) => a + b, 0) / values.length; return Number.isInteger(m) ? String(m) : m.toFixed(1); };
const there = (pair: JudgedPair): Result[] => pair.results.filter((r): r is Result => r !== null);
const toldIn = (pair: JudgedPair): number => there(pair).filter((r) => r[0] === 1).length;
const failed = (pair: JudgedPair): boolean => there(pair).some((r) => r[0] === 0);
const controlFailed = (pair: JudgedPair): boolean => there(pair).some((r) => r[6] === 1);

function header(run: DistinguishRun, report: DistinguishReport): HTMLElement[] {
  const all = run.rows[run.rows.length - 1];
  const fact = (value: string | number, what: string): HTMLElement => h("div", { class: "fact" }, h("b", {}, value), h("span", {}, what));
  const controls = all.controls.reduce((a, b) => a + b, 0);
  const seeds = all.told.length;
  return [
    h("div", { class: "bar-top" }, h("span", { class: "brand" }, "tyche"), themeButton()),
    h("h1", {}, "Which pairs of graphs does the network tell apart?"),
    h("p", { class: "lead" }, run.together ? "One network was trained to tell the graphs of all pairs apart, and then tested on each pair." : "For every pair a fresh network was trained to tell the two graphs apart, and then tested.", " The test: ", run.test, ". With every pair goes a control, a graph against a renumbered copy of itself, which must not be told apart."),
    run.done < run.asked && h("p", { class: "note" }, h("span", { class: "badge off" }, "under way"), ` ${run.done} of ${run.asked} results are there; what is shown counts these alone.`),
    h("div", { class: "facts" },
      fact(`${range(all.told)} of ${all.pairs}`, seeds === 1 ? "pairs told apart" : `pairs told apart, over ${seeds} seeds`),
      fact(controls, controls === 1 ? "control told apart, which should not be" : controls === 0 ? "controls told apart" : "controls told apart, which should not be"),
      run.seconds > 0 && fact(duration(run.seconds), "to compute"),
      fact(report.made.slice(0, 10), `tyche ${run.version}`)),
    h("nav", { "aria-label": "Parts of the page" }, h("ul", {},
      [["counts", "The counts"], ["pairs", "The pairs"], ["look", "Look at a pair"], ["how", "How it was made"]].map(([id, text]) => h("li", {}, h("a", { href: `#${id}` }, text))))),
  ].filter((e): e is HTMLElement => e !== false);
}

function counts(run: DistinguishRun): HTMLElement {
  const several = run.seeds.length > 1;
  const cell = (value: string | number, strong = false): HTMLElement => h("td", { class: `number${strong ? " strong" : ""}` }, value);
  const heads = ["pairs", "number", several ? "told apart, mean" : "told apart", "controls told apart", "1-WL", "2-WL", "leaves differ", ...(several ? run.seeds.map((s) => `seed ${s}`) : [])];
  return h("section", { id: "counts" }, h("h2", {}, "The counts"),
    h("p", { class: "lead" }, "Right of the controls stands what refinement says of the same pairs: how many colour refinement (1-WL) and 2-WL tell apart, and of how many it is proved that they have no leaf of individualisation in common. It is there to compare with and is never counted."),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Pairs told apart per category" }, h("table", { class: "results counts-table" },
      h("thead", {}, h("tr", {}, heads.map((head, i) => h("th", { scope: "col", class: i > 0 ? "number" : "" }, head)))),
      h("tbody", {}, run.rows.map((row) => h("tr", { "data-category": row.name, class: row.name === "all" ? "total" : "" },
        h("th", { scope: "row" }, row.name), cell(row.pairs), cell(several ? mean(row.told) : row.told[0], true),
        cell(range(row.controls)), cell(row.wl1), cell(row.wl2), cell(row.leaves), several && run.seeds.map((_, s) => cell(row.told[s] ?? "–"))))))),
    run.published.length > 0 && published(run));
}

/** Bars: this run among those that others have published. */
function published(run: DistinguishRun): HTMLElement {
  const all = run.rows[run.rows.length - 1];
  const ours = all.told.reduce((a, b) => a + b, 0) / all.told.length;
  const lines = [...run.published.map((p) => ({ ...p, ours: false })), { model: "this run", total: ours, random: run.random, note: run.scoring === "exact" ? "by the exact test" : "by the released test", ours: true }];
  lines.sort((a, b) => b.total - a.total);
  return h("div", { class: "published" },
    h("h3", {}, "Beside published totals"),
    h("p", { class: "note" }, run.beside),
    h("table", { class: "totals" }, h("tbody", {}, lines.map((line) => h("tr", { class: line.ours ? "ours" : "" },
      h("th", { scope: "row" }, line.model),
      h("td", { class: "number" }, Number.isInteger(line.total) ? line.total : line.total.toFixed(1)),
      h("td", { class: "length" }, h("span", { style: `width:${(100 * line.total) / all.pairs}%` })),
      h("td", { class: "muted" }, [line.random ? "random inputs" : "", line.note].filter(Boolean).join("; ")))))));
}

function caption(pair: JudgedPair, run: DistinguishRun): string {
  const said = pair.results.map((r, s) => {
    if (r === null) return `seed ${run.seeds[s]}: not there yet`;
    const counts = run.scoring === "exact" && run.random ? `, called the first ${r[3]} and ${r[4]} times of ${run.draws}` : "";
    return `seed ${run.seeds[s]}: ${r[0] ? "told apart" : "not told apart"}, p = ${small(r[1])}${counts}${r[5] === null ? "" : `, T² = ${r[5]}`}, ${r[2]} epochs; control ${r[6] ? "told apart, which should not be" : "not told apart"} (p = ${small(r[7])})`;
  });
  return `The network, ${said.slice(0, 3).join(". ")}${said.length > 3 ? `. And ${said.length - 3} more seeds` : ""}.`;
}

/** How many lines of the list are shown at first. */
const LINES = 25;

function pairList(run: DistinguishRun, look: (pair: JudgedPair) => void): { element: HTMLElement; mark(name: string): void } {
  const categories = [...new Set(run.pairs.map((p) => p.category))].filter(Boolean);
  const bad = run.pairs.filter((p) => failed(p) || controlFailed(p)).length;
  const state = { category: "", only: false, lines: LINES };
  const body = h("tbody", {});
  const shownText = h("span", { class: "muted" });
  const more = h("button", { type: "button", "data-control": "more", onclick: () => { state.lines *= 8; fill(); } }, "Show more");
  let marked = "";
  const several = run.seeds.length > 1;

  function line(pair: JudgedPair): HTMLElement {
    const results = there(pair);
    const verdict = results.length === 0 ? h("span", { class: "muted" }, "not there yet")
      : !failed(pair) ? h("span", { class: "badge good" }, "told apart")
      : h("span", { class: "badge off" }, several && toldIn(pair) > 0 ? `in ${toldIn(pair)} of ${results.length} seeds` : "not told apart");
    const leaves = { different: "differ", isomorphic: "isomorphic", unknown: "unknown" }[pair.leaves];
    return h("tr", { "data-pair": pair.name, class: pair.name === marked ? "marked" : "" },
      h("th", { scope: "row" }, pair.name), categories.length > 0 && h("td", {}, pair.category), h("td", {}, verdict),
      h("td", { class: "number", title: several ? "the largest over seeds" : "" }, results.length === 0 ? "–" : small(Math.max(...results.map((r) => r[1])))),
      h("td", { class: "number" }, range(results.map((r) => r[2]))),
      h("td", {}, controlFailed(pair) ? h("span", { class: "badge off" }, "told apart") : results.length === 0 ? "–" : "fine"),
      h("td", {}, pair.wl1 ? "yes" : "no"), h("td", {}, pair.wl2 === null ? "–" : pair.wl2 ? "yes" : "no"), h("td", {}, leaves),
      h("td", {}, pair.graphs ? h("button", { type: "button", "aria-label": `Look at pair ${pair.name}`, onclick: () => look(pair) }, "look") : ""));
  }
  function fill(): void {
    const chosen = run.pairs.filter((p) => (state.category === "" || p.category === state.category) && (!state.only || failed(p) || controlFailed(p)));
    body.replaceChildren(...chosen.slice(0, state.lines).map(line));
    shownText.textContent = `${Math.min(chosen.length, state.lines)} of ${chosen.length} shown`;
    more.hidden = chosen.length <= state.lines;
  }
  const category = h("select", { "aria-label": "Category", onchange: () => { state.category = category.value; state.lines = LINES; fill(); } },
    h("option", { value: "" }, "all categories"), categories.map((c) => h("option", { value: c }, c)));
  const only = h("input", { type: "checkbox", "data-control": "failed", onchange: () => { state.only = only.checked; state.lines = LINES; fill(); } });
  fill();
  const heads: [string, boolean][] = [["pair", false], ...(categories.length > 0 ? [["category", false] as [string, boolean]] : []), ["the network", false], [several ? "p, largest" : "p", true], ["epochs", true], ["control", false], ["1-WL", false], ["2-WL", false], ["leaves", false], ["", false]];
  const element = h("section", { id: "pairs" }, h("h2", {}, "The pairs"),
    h("p", { class: "lead" }, bad === 0 ? "No pair failed, and no control." : `${bad} ${bad === 1 ? "pair" : "pairs"} failed in some seed, or had a control that did; ${bad === 1 ? "it comes" : "they come"} first.`,
      ` A pair is told apart where p is at most ${small(run.level)}.`),
    h("div", { class: "controls" }, categories.length > 1 && category, bad > 0 && bad < run.pairs.length && h("label", { class: "check" }, only, "failures alone"), shownText),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Pairs" }, h("table", { class: "results pair-list" },
      h("thead", {}, h("tr", {}, heads.map(([head, number]) => h("th", { scope: "col", class: number ? "number" : "" }, head)))), body)),
    h("p", {}, more));
  return { element, mark: (name) => { marked = name; for (const row of body.querySelectorAll<HTMLElement>("tr")) row.classList.toggle("marked", row.dataset.pair === name); } };
}

export function distinguishPage(report: DistinguishReport): { top: HTMLElement[]; main: HTMLElement[] } {
  const { run } = report;
  document.title = `tyche: pairs told apart, ${run.data.split("/").pop()}`;
  const drawn = run.pairs.filter((p) => p.graphs);
  const packed: PackedPair[] = drawn.map((p) => ({
    title: `${p.name}${p.category ? ` (${p.category})` : ""}${failed(p) ? ", not told apart" : ""}`, caption: caption(p, run), graphs: p.graphs!,
    wl2: p.wl2 ?? undefined, isomorphic: p.leaves === "unknown" ? (p.wl1 || p.wl2 ? false : undefined) : p.leaves === "isomorphic",
  }));
  const section = h("section", { id: "look" }, h("h2", {}, "Look at a pair"));
  let show = (_: number): void => {};
  const list = pairList(run, (pair) => { show(drawn.indexOf(pair)); section.scrollIntoView(); });
  if (run.missing) section.append(h("p", { class: "note missing" }, `There are no pictures: ${run.missing}`));
  if (packed.length > 0) {
    const view = viewer([{ name: run.data, pairs: packed }], "wl", (i) => list.mark(drawn[i].name));
    show = view.show;
    section.append(
      h("p", { class: "lead" }, `${packed.length < run.pairs.length ? `${packed.length} of ${run.pairs.length} pairs can be looked at. ` : ""}Colour refinement gives nodes the same colour as long as their neighbourhoods look the same. Click a node to give it a colour of its own, and see colours split in both graphs.`),
      view.element);
  } else if (!run.missing) {
    section.append(h("p", { class: "muted" }, "No pair is small enough to draw, or none was asked for."));
  }
  return {
    top: header(run, report),
    main: [counts(run), list.element, section,
      howMade(report, run.command, `content of ${run.data}${run.only.length > 0 ? ` (${run.only.join(", ")})` : ""}`, run.engine,
        run.log.map((call) => `${call.date}: ${call.results} results in ${duration(call.seconds)} on ${call.machine.processor}, ${call.threads} of ${call.machine.threads} threads`),
        settingsTable(run.settings))],
  };
}
