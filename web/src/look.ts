// Pages that look into a trained model: embeddings in two dimensions, an explanation drawn on its graph, what it says of nodes.
import * as Plot from "@observablehq/plot";
import { classColour, modelColour } from "./colours";
import type { EmbeddingReport, ExplanationReport, Made, NodesReport } from "./data";
import { h, themeButton } from "./dom";
import { layout } from "./layout";
import { picture } from "./picture";

const top = (title: string, lead: string): HTMLElement[] => {
  document.title = `tyche: ${title}`;
  return [h("div", { class: "bar-top" }, h("span", { class: "brand" }, "tyche"), themeButton()), h("h1", {}, title), h("p", { class: "lead" }, lead)];
};
const made = (page: Made): HTMLElement => h("section", { id: "how" }, h("h2", {}, "How it was made"),
  h("dl", { class: "call" }, h("dt", {}, "command"), h("dd", {}, h("code", {}, page.command)), h("dt", {}, "when"), h("dd", {}, `${page.made}, tyche ${page.version}`)));

export function embeddingPage(page: EmbeddingReport): { top: HTMLElement[]; main: HTMLElement[] } {
  const truth = page.numbers ? "target" : "label";
  const ways = [truth, "prediction", "part"] as const;
  type Way = (typeof ways)[number];
  const value = (dot: EmbeddingReport["dots"][number], way: Way): number | string | null => dot[way === "part" ? 5 : way === "prediction" ? 4 : 3];
  let way: Way = page.dots.some((dot) => dot[3] !== null) ? truth : "prediction";
  const holder = h("div", { class: "plot" });
  function draw(): void {
    const width = holder.clientWidth;
    if (width === 0) return;
    const real = page.numbers && way !== "part";
    const domain = [...new Set(page.dots.map((dot) => String(value(dot, way) ?? "unknown")))].sort();
    holder.replaceChildren(Plot.plot({
      width, height: Math.min(640, Math.round(width * 0.62)), style: { background: "none", color: "inherit", fontSize: "12px" },
      x: { label: "first component", labelArrow: "none", grid: true }, y: { label: "second component", labelArrow: "none", grid: true },
      color: real ? { scheme: "viridis", legend: true, label: way } : { domain, range: domain.map((d) => modelColour(d)), legend: true },
      marks: [Plot.dot(page.dots, {
        x: "0", y: "1", r: 3.2, fillOpacity: 0.75, fill: (dot) => real ? value(dot, way) : String(value(dot, way) ?? "unknown"), tip: true,
        title: (dot) => `graph ${dot[2]}: ${truth} ${dot[3] ?? "unknown"}, prediction ${dot[4]}, ${dot[5]}`,
      })],
    }));
  }
  const buttons = ways.map((own) => h("button", { type: "button", "aria-pressed": String(own === way), onclick: () => {
    way = own;
    buttons.forEach((b, i) => b.setAttribute("aria-pressed", String(ways[i] === own)));
    draw();
  } }, own.charAt(0).toUpperCase() + own.slice(1)));
  new ResizeObserver(draw).observe(holder);
  const shown = page.dots.length < page.rows ? ` ${page.dots.length} of ${page.rows} are shown.` : "";
  return {
    top: top(page.title, `The first two principal components of what the network makes of ${page.of} before its last layers: ${page.rows} rows.${shown} Near points are alike to the network.`),
    main: [h("section", { id: "look" }, h("h2", {}, "In two dimensions"), h("div", { class: "controls" }, h("span", { class: "segments", role: "group", "aria-label": "What colours show" }, buttons)), holder), made(page)],
  };
}

/** Orange for what speaks for the answer, blue for what speaks against it. */
function shade(value: number, most: number): string {
  const share = most === 0 ? 0 : Math.min(1, Math.abs(value) / most);
  return `color-mix(in oklab, ${value < 0 ? "#2f6fdb" : "#e6650d"} ${Math.round(100 * share)}%, color-mix(in oklab, var(--muted) 25%, var(--ground)))`;
}

export function explanationPage(page: ExplanationReport): { top: HTMLElement[]; main: HTMLElement[] } {
  const { nodes, edges } = page.why;
  const graph = { ...page.drawn, ...layout(page.drawn) };
  const said = h("p", { class: "node-says" }, "Point at a node to read its numbers.");
  const digits = (x: number): string => String(Number(x.toPrecision(3)));
  const words = (v: number): string => `node ${v}, type ${nodes[v].type}: gradient × input ${digits(nodes[v].gradient_input)}, left out ${digits(nodes[v].left_out)}`;
  const drawn = (["gradient_input", "left_out"] as const).map((which) => {
    const own = picture(graph, graph, { point: (_, text) => { said.textContent = text; }, press: (v) => { said.textContent = words(v); } });
    const most = Math.max(...nodes.map((n) => Math.abs(n[which])));
    own.paint((v) => ({ class: "", fill: shade(nodes[v][which], most), text: String(nodes[v].type), says: words(v) }));
    const lines = own.element.querySelectorAll("line");
    const most_edge = Math.max(0, ...edges.map((e) => Math.abs(e[which] ?? 0)));
    edges.forEach((e, i) => {
      if (e[which] !== undefined && most_edge > 0) lines[i].setAttribute("style", `stroke:${shade(e[which]!, most_edge)};stroke-width:0.1;stroke-opacity:1`);
    });
    return h("figure", {}, h("figcaption", {}, h("b", {}, which === "left_out" ? "Left out" : "Gradient × input"), which === "left_out" ? ": how much the answer falls without a node or an edge" : `: how the answer moves with a node’s inputs${edges.some((e) => e.gradient_input !== undefined) ? ", and an edge’s" : ""}`), own.element);
  });
  const numbers = (what: string, rows: { name: string; type?: number; gradient_input?: number; left_out: number }[]): HTMLElement => h("section", { id: `${what}s` },
    h("h2", {}, `${what === "node" ? "Node by node" : "Edge by edge"}`),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Numbers of ${what}s` }, h("table", { class: "results" },
      h("thead", {}, h("tr", {}, [what, "type", "gradient × input", "left out"].map((t) => h("th", { scope: "col", class: "number" }, t)))),
      h("tbody", {}, rows.sort((a, b) => Math.abs(b.left_out) - Math.abs(a.left_out)).map((row) => h("tr", {},
        [row.name, row.type ?? "–", row.gradient_input === undefined ? "–" : digits(row.gradient_input), digits(row.left_out)].map((c) => h("td", { class: "number" }, c))))))));
  return {
    top: top(page.title, page.lead),
    main: [
      h("section", { id: "look" }, h("h2", {}, "On the graph"),
        h("p", { class: "muted" }, "Orange speaks for the answer, blue against it, the stronger the more; each picture has a scale of its own, and so have edges. Numbers in nodes are their types."),
        h("div", { class: "two" }, drawn), said),
      numbers("node", nodes.map((n) => ({ ...n, name: String(n.node) }))),
      ...(edges.length === 0 ? [] : [numbers("edge", edges.map((e) => ({ ...e, name: e.edge.join("–") })))]),
      made(page),
    ],
  };
}

/** Three pictures of a graph, coloured by truth, prediction and 1-WL class; a ring around what is said wrong. */
export function nodesPage(page: NodesReport): { top: HTMLElement[]; main: HTMLElement[] } {
  const known = page.graphs.flatMap((g) => [...g.truth, ...g.said]).filter((v): v is number => v !== null);
  const scale = Plot.scale({ color: { scheme: "viridis", domain: [Math.min(...known), Math.max(...known)] } })!;
  if (!page.numbers) [...new Set(known)].sort((a, b) => a - b).forEach((label) => modelColour(String(label)));
  const fill = (v: number | null): string => v === null ? "color-mix(in oklab, var(--muted) 25%, var(--ground))" : page.numbers ? scale.apply(v) : modelColour(String(v));
  const text = (v: number | null): string => v === null ? "" : page.numbers ? "" : String(v);
  const digits = (v: number | null): string => v === null ? "unknown" : page.numbers ? v.toPrecision(4) : String(v);
  const figures = h("div", { class: "two three" });
  const says = h("p", { class: "node-says" });
  function show(i: number): void {
    const g = page.graphs[i], graph = { ...g.drawn, ...layout(g.drawn) };
    const words = (v: number): string => `node ${v} (${g.part[v] ?? "not asked"}): truth ${digits(g.truth[v])}, prediction ${digits(g.said[v])}, 1-WL class ${g.colour[v]}`;
    const wrong = (v: number): boolean => !page.numbers && g.truth[v] !== null && g.said[v] !== null && g.truth[v] !== g.said[v];
    says.textContent = "Point at a node to read its numbers.";
    figures.replaceChildren(...([["Truth", (v: number) => [fill(g.truth[v]), text(g.truth[v])]], ["Prediction", (v: number) => [fill(g.said[v]), text(g.said[v])]],
      ["1-WL class", (v: number) => [classColour(g.colour[v]), String(g.colour[v])]]] as [string, (v: number) => string[]][]).map(([name, look]) => {
      const own = picture(graph, graph, { point: (_, said) => { says.textContent = said; }, press: (v) => { says.textContent = words(v); } });
      own.paint((v) => ({ class: name === "Prediction" && wrong(v) ? "chosen" : "", fill: look(v)[0], text: look(v)[1], says: words(v), colour: g.colour[v] }));
      return h("figure", {}, h("figcaption", {}, h("b", {}, name)), own.element);
    }));
  }
  const pick = h("select", { onchange: () => show(pick.selectedIndex) }, page.graphs.map((g) => {
    const asked = g.truth.filter((t, v) => t !== null && g.said[v] !== null).length;
    const right = g.truth.filter((t, v) => t !== null && t === g.said[v]).length;
    const part = [...new Set(g.part.filter((p) => p !== null))].join(", ");
    return h("option", {}, `graph ${g.drawn.index} (${part})${page.numbers || asked === 0 ? "" : `: ${right} of ${asked} nodes right`}`);
  }));
  show(0);
  const colours = page.numbers ? Plot.legend({ color: { scheme: "viridis", domain: [Math.min(...known), Math.max(...known)], label: "value" } }) : null;
  return {
    top: top(page.title, `${page.graphs.length} of ${page.of} graphs that can be drawn: those that training did not see first, and of them the ones with most errors.`),
    main: [h("section", { id: "look" }, h("h2", {}, "On the graphs"),
      h("div", { class: "controls" }, h("label", {}, "Graph ", pick)), colours as HTMLElement | null,
      h("p", { class: "muted" }, `${page.numbers ? "" : "A ring is around nodes whose label is said wrong. "}Nodes of one 1-WL class (by types and edges; attributes are not looked at) look alike to a network without random inputs, whatever it learns.`),
      figures, says), made(page)],
  };
}
