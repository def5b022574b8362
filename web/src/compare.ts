// The page of `tyche compare`: the verdict, rows with intervals, paired tests, learning curves, calibration, cost.
import * as Plot from "@observablehq/plot";
import { chart } from "./chart";
import { modelColour } from "./colours";
import type { CompareReport, ComparedRow } from "./data";
import { duration, h, themeButton } from "./dom";

const table = (label: string, heads: string[], rows: HTMLElement[]): HTMLElement =>
  h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, h("table", { class: "results" },
    h("thead", {}, h("tr", {}, heads.map((head, i) => h("th", { scope: "col", class: i > 0 ? "number" : "" }, head)))),
    h("tbody", {}, rows)));
const number = (text: string, extra = ""): HTMLElement => h("td", { class: `number${extra}` }, text);
const chance = (p?: number): string => (p === undefined ? "–" : p < 0.0001 ? "< 0.0001" : p.toFixed(4));

/** A figure that is drawn again when its place changes. */
function figure(title: string, draw: (width: number) => SVGElement | HTMLElement): HTMLElement {
  const holder = h("div", { class: "plot" });
  new ResizeObserver(() => { if (holder.clientWidth > 0) holder.replaceChildren(draw(holder.clientWidth)); }).observe(holder);
  return h("figure", { class: "chart" }, h("figcaption", {}, title), holder);
}

const style = { background: "none", color: "inherit", fontSize: "12px", overflow: "visible" };

export function comparePage(page: CompareReport): { top: HTMLElement[]; main: HTMLElement[] } {
  const title = { accuracy: "accuracy", roc_auc: "ROC AUC", mae: "MAE" }[page.metric];
  const percent = page.metric === "accuracy";
  const scale = percent ? 100 : 1;
  const text = (v: number): string => percent ? `${(100 * v).toFixed(2)} %` : v.toFixed(4);
  const amount = (v: number): string => `${v > 0 ? "+" : v < 0 ? "−" : ""}${(scale * Math.abs(v)).toFixed(percent ? 2 : 4)}`;
  const name = String(page.settings.data).split("/").pop();
  document.title = `tyche: networks on ${name}`;
  const final = page.rows.find((row) => row.name === page.final?.row);
  const baseline = page.rows.find((row) => row.name === page.baseline)!;
  const fact = (value: string | number, what: string): HTMLElement => h("div", { class: "fact" }, h("b", {}, value), h("span", {}, what));

  const badge = (row: ComparedRow): HTMLElement | false =>
    row.name === page.best && page.beats_baseline ? h("span", { class: "badge good" }, "best") : row.name === page.baseline && h("span", { class: "badge same" }, "baseline");
  const calibration = page.rows.some((row) => row.calibration_error !== undefined);
  const rows = table("The rows", ["row", title, "95 %", "against the baseline", "p", ...(calibration ? ["calibration error"] : []), "epochs", "parameters", "time"], page.rows.map((row) => h("tr", {},
    h("th", { scope: "row" }, h("span", { class: "swatch", style: `--c:${modelColour(row.name)}` }), row.name, " ", badge(row)),
    number(text(row.score), " strong"), number(`${text(row.low)} to ${text(row.high)}`), number(row.difference === undefined ? "–" : amount(row.difference)),
    number(chance(row.p)), calibration && number(row.calibration_error === undefined ? "–" : row.calibration_error.toFixed(3)), number(row.epochs ? String(row.epochs) : "–"),
    number(row.parameters?.toLocaleString("en") ?? "–"), number(duration(row.seconds)))));

  const ceiling = percent && page.ceilings.one_wl !== undefined ? [{ x: scale * page.ceilings.one_wl, text: "1-WL’s ceiling" }] : [];
  const forest = figure(`${title.charAt(0).toUpperCase()}${title.slice(1)} with 95 % intervals; dashed: the baseline${ceiling.length > 0 ? "; dotted: the ceiling of what 1-WL bounds" : ""}`, (width) => Plot.plot({
    width, height: 40 + 24 * page.rows.length, marginLeft: 190, marginBottom: 36, style,
    x: { label: percent ? `${title}, %` : title, grid: true, labelArrow: "none", nice: true }, y: { label: null, domain: page.rows.map((r) => r.name) },
    marks: [
      Plot.ruleX([scale * baseline.score], { strokeDasharray: "4,3", strokeOpacity: 0.6 }), Plot.ruleX(ceiling, { x: "x", strokeDasharray: "1,3" }),
      Plot.ruleY(page.rows, { y: "name", x1: (r) => scale * r.low, x2: (r) => scale * r.high, stroke: (r) => modelColour(r.name), strokeWidth: 3 }),
      Plot.dot(page.rows, { y: "name", x: (r) => scale * r.score, fill: (r) => modelColour(r.name), r: 5 }),
    ],
  }));

  const networks = page.rows.filter((row) => row.network);
  const test = (a: ComparedRow, b: ComparedRow): HTMLElement => {
    const found = page.tests.find((t) => (t.a === a.name && t.b === b.name) || (t.a === b.name && t.b === a.name));
    if (!found) return number("");
    const more = found.a === a.name ? found.difference : -found.difference;
    return h("td", { class: "number", title: `p ${chance(found.p)}` }, h("span", { class: found.p >= 0.05 ? "muted" : more > 0 ? "badge good" : "badge off" }, amount(more)));
  };
  const calibrated = page.rows.filter((row) => row.bins.length > 0 && (row.network || row.name === page.baseline));
  return {
    top: [
      h("div", { class: "bar-top" }, h("span", { class: "brand" }, "tyche"), themeButton()),
      h("h1", {}, `Which network for ${name}?`),
      h("p", { class: "lead" }, page.verdict),
      h("div", { class: "facts" }, fact(page.graphs, "test graphs judged"), fact(page.rows.length, "rows"), fact(duration(page.seconds), "in all"), fact(page.made.slice(0, 10), `tyche ${page.version}`)),
    ],
    main: [
      h("section", { id: "rows" }, h("h2", {}, "The rows"), rows,
        page.left_out.length > 0 && h("p", { class: "note" }, "Left out: ", page.left_out.map((row, i) => [i > 0 && h("br", {}), h("b", {}, row.name), `: ${row.why}`])),
        forest,
        h("p", { class: "muted" }, "p is that of a paired test against the baseline on the same test graphs (McNemar’s exact test of accuracies, else Student’s), after Holm’s correction for the number of networks. Intervals and tests are over test graphs; other random numbers in training are not in them."),
        h("p", {}, `Ceilings (${page.ceilings.measure === "r2" ? "R²" : "accuracy"}): `, page.ceilings.one_wl !== undefined && `any network that 1-WL bounds ${(100 * page.ceilings.one_wl).toFixed(2)} %, `, page.ceilings.everyone !== undefined && `any network at all ${(100 * page.ceilings.everyone).toFixed(2)} %. `, page.ceilings.says)),
      h("section", { id: "tests" }, h("h2", {}, "Each against each"),
        h("p", { class: "muted" }, `How much better the row on the left is than the one above${percent ? ", in points" : ""}; coloured where a paired test leaves less than 5 % for chance, corrected for all pairs.`),
        table("Paired tests", ["", ...page.rows.map((row) => row.name)], page.rows.map((a) => h("tr", {}, h("th", { scope: "row" }, a.name), page.rows.map((b) => test(a, b)))))),
      h("section", { id: "curves" }, h("h2", {}, "Learning curves"),
        chart(networks.filter((row) => row.validation_loss).map((row) => ({ name: row.name, ours: row.validation_loss })), { title: "Validation loss of the chosen candidates, mean over folds", yLabel: "validation loss", band: false, percent: false, fit: true, column: "loss" })),
      ...(calibrated.length === 0 ? [] : [h("section", { id: "calibration" }, h("h2", {}, "Calibration"),
        figure("How often an answer is right, by the probability that it is given with", (width) => Plot.plot({
          width, height: 320, marginLeft: 50, marginBottom: 36, style,
          x: { label: "probability of what is said, %", domain: [0, 100], labelArrow: "none" }, y: { label: "right, %", domain: [0, 100], grid: true, labelArrow: "none" },
          marks: [Plot.line([[0, 0], [100, 100]], { strokeDasharray: "4,3", strokeOpacity: 0.5 }),
            ...calibrated.map((row) => Plot.line(row.bins, { x: (b) => 100 * b[0], y: (b) => 100 * b[1], stroke: modelColour(row.name), strokeWidth: 1.8, marker: "circle" }))],
        })))]),
      h("section", { id: "how" }, h("h2", {}, "How it was made"),
        h("dl", { class: "call" }, h("dt", {}, "command"), h("dd", {}, h("code", {}, page.command)),
          final && [h("dt", {}, page.beats_baseline ? "the winner" : "the best network"), h("dd", {}, h("code", {}, final.command)), h("dt", {}, "its model"), h("dd", {}, h("code", {}, page.final!.predict))],
          h("dt", {}, "when"), h("dd", {}, `${page.made}, tyche ${page.version}`))),
    ],
  };
}
