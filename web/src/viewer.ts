// The data itself: a pair of graphs drawn side by side, and what Weisfeiler and Leman's test sees of it.
import { classColour } from "./colours";
import type { DataSet, DrawnGraph, Pair } from "./data";
import { h, svg } from "./dom";

const LITERAL = 1;

/** For every round, an identity for each class that stays with its largest part when the class splits. */
function steadyClasses(rounds: number[][]): number[][] {
  const out: number[][] = [];
  let fresh = 0;
  rounds.forEach((colours, r) => {
    const members = new Map<number, number[]>();
    colours.forEach((c, v) => members.set(c, [...(members.get(c) ?? []), v]));
    const ids = new Array<number>(colours.length);
    const taken = new Set<number>();
    const parts = [...members.values()].sort((a, b) => b.length - a.length || a[0] - b[0]);
    for (const part of parts) {
      const parent = r === 0 ? undefined : out[r - 1][part[0]];
      const id = parent !== undefined && !taken.has(parent) ? parent : fresh++;
      taken.add(id);
      for (const v of part) ids[v] = id;
    }
    out.push(ids);
  });
  return out;
}

interface Show {
  mode: "parts" | "wl";
  round: number;
}

const isLiteral = (g: DrawnGraph, v: number): boolean => g.type[v] === LITERAL;

function partName(g: DrawnGraph, v: number): string {
  if (!g.name) return `type ${g.type[v]}`;
  const where = g.core ? (g.core[v] ? ", core" : ", planar part") : "";
  return `${g.name[v]} (${isLiteral(g, v) ? "literal" : "disjunction"}${where})`;
}

function partClass(g: DrawnGraph, v: number): string {
  const what = !g.name ? `type-${g.type[v] % 6}` : isLiteral(g, v) ? "literal" : "disjunction";
  return `${what} ${g.core && !g.core[v] ? "planar" : "core"}`;
}

function drawGraph(g: DrawnGraph, extent: { width: number; height: number }, show: Show, ids: number[], describe: (text: string) => void): SVGSVGElement {
  const pad = 0.5;
  const radius = 0.24;
  const box = `${-pad - (extent.width - g.width) / 2} ${-pad - (extent.height - g.height) / 2} ${extent.width + 2 * pad} ${extent.height + 2 * pad}`;
  const added = new Set(g.added ?? []);
  const picture = svg("svg", { viewBox: box, class: "graph", role: "img", "aria-label": `Graph ${g.index}: ${g.nodes} nodes, ${g.edges.length / 2} edges` });
  for (let e = 0; e < g.edges.length / 2; ++e) {
    const [u, v] = [g.edges[2 * e], g.edges[2 * e + 1]];
    const literals = g.name && isLiteral(g, u) && isLiteral(g, v);
    picture.append(svg("line", { x1: g.x[u], y1: g.y[u], x2: g.x[v], y2: g.y[v], class: added.has(e) ? "edge added" : literals ? "edge literals" : "edge" }));
  }
  for (let v = 0; v < g.nodes; ++v) {
    const shape = !g.name || isLiteral(g, v)
      ? svg("circle", { cx: g.x[v], cy: g.y[v], r: radius })
      : svg("rect", { x: g.x[v] - radius * 0.9, y: g.y[v] - radius * 0.9, width: radius * 1.8, height: radius * 1.8, rx: 0.05 });
    const node = svg("g", { class: show.mode === "parts" ? `node ${partClass(g, v)}` : "node wl", "data-class": ids[v] });
    node.append(shape);
    const says = show.mode === "wl" ? `${partName(g, v)}: colour ${ids[v]}` : partName(g, v);
    node.append(svg("title", {}, says));
    if (show.mode === "wl") {
      shape.setAttribute("style", `fill:${classColour(ids[v])}`);
      node.append(svg("text", { x: g.x[v], y: g.y[v], class: "number-in" }, ids[v]));
    } else if (g.name && isLiteral(g, v)) {
      node.append(svg("text", { x: g.x[v], y: g.y[v], class: "number-in" }, g.name[v].replace("x", "")));
    }
    node.addEventListener("pointerenter", () => describe(`Graph ${g.index}, node ${v}: ${says}`));
    picture.append(node);
  }
  return picture;
}

/** How many nodes of each colour, left and right. */
function census(ids: number[], first: number): HTMLElement {
  const counts = new Map<number, [number, number]>();
  ids.forEach((id, v) => {
    const c = counts.get(id) ?? [0, 0];
    c[v < first ? 0 : 1]++;
    counts.set(id, c);
  });
  const most = Math.max(...[...counts.values()].flat());
  const bar = (count: number, id: number, side: string): HTMLElement =>
    h("span", { class: `bar ${side}` }, h("span", { style: `width:${(100 * count) / most}%;background:${classColour(id)}` }), h("b", {}, count));
  return h("table", { class: "census" },
    h("caption", {}, `${counts.size} colours: nodes of each in the left and in the right graph`),
    h("tbody", {}, [...counts].sort((a, b) => a[0] - b[0]).map(([id, [left, right]]) =>
      h("tr", { class: left === right ? "" : "differs" },
        h("td", {}, bar(left, id, "left")), h("th", { scope: "row" }, id), h("td", {}, bar(right, id, "right"))))));
}

const label = (g: DrawnGraph): string => !g.name ? (g.label >= 0 ? `label ${g.label}` : "no label") : g.label === 1 ? "satisfiable" : "not satisfiable";

export function viewer(sets: DataSet[]): HTMLElement {
  const root = h("div", { class: "viewer" });
  let set = sets.find((s) => s.pairs.length > 0) ?? sets[0];
  let at = 0;
  const show: Show = { mode: "parts", round: 0 };

  const stage = h("div", { class: "stage" });
  const about = h("p", { class: "node-says muted" });
  const verdicts = h("div", { class: "verdicts", role: "status" });
  const steps = h("div", { class: "steps" });
  const counts = h("div", {});
  const key = h("p", { class: "key" });
  const describe = (text: string): void => { about.textContent = text; };

  const setSelect = h("select", { "aria-label": "Data set", onchange: () => { set = sets[Number(setSelect.value)]; at = 0; fillPairs(); draw(); } },
    sets.map((s, i) => h("option", { value: i, selected: s === set }, s.name)));
  const pairSelect = h("select", { "aria-label": "Pair", onchange: () => { at = Number(pairSelect.value); show.round = 0; draw(); } });
  const step = (by: number): void => {
    at = (at + by + set.pairs.length) % set.pairs.length;
    pairSelect.value = String(at);
    show.round = 0;
    draw();
  };
  const modes = (["parts", "wl"] as const).map((mode) => h("button", {
    type: "button", "aria-pressed": String(mode === show.mode), "data-mode": mode,
    onclick: () => {
      show.mode = mode;
      for (const b of modes) b.setAttribute("aria-pressed", String(b.dataset.mode === mode));
      draw();
    },
  }, mode === "parts" ? "Parts" : "1-WL, round by round"));

  function fillPairs(): void {
    pairSelect.replaceChildren(...set.pairs.map((p, i) =>
      h("option", { value: i }, `${set.paired ? "pair" : "graphs"} ${set.paired ? p.pair : `${p.graphs[0].index}, ${p.graphs[1].index}`}${p.subset ? ` (${p.subset}${p.core ? `, core of ${2 * p.core} variables` : ""})` : ""}`)));
  }

  function goTo(pair: Pair, round: number): void {
    show.round = Math.max(0, Math.min(round, pair.wl1.rounds.length - 1));
    draw();
  }

  function drawSteps(pair: Pair): void {
    const last = pair.wl1.rounds.length - 1;
    const slider = h("input", { type: "range", min: 0, max: last, value: show.round, "aria-label": "Round of 1-WL", oninput: () => goTo(pair, Number(slider.value)) });
    const focused = document.activeElement instanceof HTMLElement && steps.contains(document.activeElement) ? document.activeElement.dataset.control : undefined;
    slider.dataset.control = "slider";
    const button = (control: string, text: string, to: number): HTMLElement =>
      h("button", { type: "button", "data-control": control, disabled: to < 0 || to > last, onclick: () => goTo(pair, to) }, text);
    steps.replaceChildren(button("back", "◀ back", show.round - 1), slider, button("next", "next ▶", show.round + 1),
      h("span", { class: "round", role: "status" }, `round ${show.round} of ${last}`));
    if (focused) steps.querySelector<HTMLElement>(`[data-control="${focused}"]`)?.focus();
  }

  function draw(): void {
    const pair = set.pairs[at];
    if (!pair) {
      stage.replaceChildren(h("p", { class: "muted" }, set.missing ?? "This data set has no pair of graphs small enough to draw."));
      for (const part of [verdicts, steps, counts, key]) part.replaceChildren();
      return;
    }
    const [a, b] = pair.graphs;
    const classes = steadyClasses(pair.wl1.rounds);
    const ids = classes[Math.min(show.round, classes.length - 1)];
    const extent = { width: Math.max(a.width, b.width), height: Math.max(a.height, b.height) };
    const side = (g: DrawnGraph, from: number): HTMLElement => h("figure", { class: "drawn" },
      h("figcaption", {}, h("b", {}, `Graph ${g.index}`), `: ${label(g)}, ${g.nodes} nodes, ${g.edges.length / 2} edges${g.borrowed ? ", placed like its partner" : g.planar ? "" : ", not planar: edges cross"}`),
      drawGraph(g, extent, show, ids.slice(from, from + g.nodes), describe));
    stage.replaceChildren(side(a, 0), side(b, a.nodes));
    about.textContent = "Point at a node to read what it stands for.";
    key.replaceChildren(...legendOf(pair));
    steps.hidden = show.mode !== "wl";
    if (show.mode === "wl") {
      drawSteps(pair);
      counts.replaceChildren(census(ids, a.nodes));
    } else {
      counts.replaceChildren();
    }
    const one = pair.wl1;
    const two = pair.wl2;
    verdicts.replaceChildren(
      h("p", {}, h("b", {}, "1-WL "), one.distinguished
        ? h("span", { class: "badge good" }, `tells them apart after round ${one.round}`)
        : h("span", { class: "badge off" }, "cannot tell them apart"),
        one.distinguished ? "" : ` The colours settle after ${one.rounds.length - 1} rounds at ${one.classes}, and each is on as many nodes left as right. A message-passing network without random features gives both graphs the same answer.`),
      h("p", {}, h("b", {}, "2-WL "), two.distinguished
        ? h("span", { class: "badge good" }, `tells them apart after round ${two.round}`)
        : h("span", { class: "badge off" }, "cannot tell them apart either")));
  }

  function legendOf(pair: Pair): (Node | string)[] {
    if (show.mode === "wl") return ["A number and its colour name a class of nodes that look the same so far. Circles are literals, squares disjunctions."];
    const g = pair.graphs[0];
    if (!g.name) return ["Colours stand for node types."];
    const item = (cls: string, square: boolean, text: string): Node => h("span", { class: "key-item" },
      svg("svg", { viewBox: "0 0 20 20", class: "graph key-icon", "aria-hidden": "true" }, svg("g", { class: `node ${cls}` }, square ? svg("rect", { x: 3, y: 3, width: 14, height: 14, rx: 2 }) : svg("circle", { cx: 10, cy: 10, r: 8 }))), text);
    const out: (Node | string)[] = g.core
      ? [item("literal core", false, "literal of the core"), item("disjunction core", true, "disjunction of the core"), item("literal planar", false, "literal of the planar part"), item("disjunction planar", true, "disjunction of the planar part")]
      : [item("literal core", false, "literal"), item("disjunction core", true, "disjunction")];
    if (pair.graphs.some((x) => (x.added ?? []).length > 0)) out.push(h("span", { class: "key-item" }, h("span", { class: "key-line" }), "edge added to make the formula satisfiable"));
    return out;
  }

  root.append(
    h("div", { class: "controls" },
      sets.length > 1 && h("label", {}, "Data ", setSelect),
      h("label", {}, "Look at ", pairSelect),
      h("button", { type: "button", onclick: () => step(-1), "aria-label": "Previous pair" }, "◀"),
      h("button", { type: "button", onclick: () => step(1), "aria-label": "Next pair" }, "▶"),
      h("span", { class: "segments", role: "group", "aria-label": "What colours show" }, modes)),
    steps, stage, about, key, verdicts, counts);
  fillPairs();
  draw();
  return root;
}
