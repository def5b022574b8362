// One graph drawn: nodes that can be pointed at, reached by keyboard and pressed, and repainted without being drawn again.
import { labelColour } from "./colours";
import type { DrawnGraph } from "./data";
import { svg } from "./dom";

const LITERAL = 1;
const RADIUS = 0.24;

export const isLiteral = (g: DrawnGraph, v: number): boolean => g.type[v] === LITERAL;

/** What a node stands for: "x3 (literal, core)", or its type. */
export function partName(g: DrawnGraph, v: number): string {
  if (!g.name) return `type ${g.type[v]}`;
  const where = g.core ? (g.core[v] ? ", core" : ", planar part") : "";
  return `${g.name[v]} (${isLiteral(g, v) ? "literal" : "disjunction"}${where})`;
}

export function partClass(g: DrawnGraph, v: number): string {
  const what = !g.name ? `type-${g.type[v] % 6}` : isLiteral(g, v) ? "literal" : "disjunction";
  return `${what} ${g.core && !g.core[v] ? "planar" : "core"}`;
}

/** What a graph is called on the page. */
export const graphName = (g: DrawnGraph): string => g.title ?? `graph ${g.index}`;

/** How a node looks for the moment. */
export interface Look {
  class: string;
  fill?: string;
  /** Inside the node. */
  text: string;
  says: string;
  /** The number of its colour, by which nodes that look alike are found. */
  colour?: number;
  /** Of the step that individualised it. */
  step?: number;
}

export interface Picture {
  element: SVGSVGElement;
  paint(look: (v: number) => Look): void;
}

interface Handlers {
  point(v: number, says: string): void;
  press(v: number): void;
}

/** The node that lies nearest in the direction of an arrow key; a step aside counts double. */
function towards(g: DrawnGraph, from: number, key: string): number {
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] ?? [0, 0];
  let best = from;
  let least = Infinity;
  for (let v = 0; v < g.nodes; ++v) {
    const [x, y] = [g.x[v] - g.x[from], g.y[v] - g.y[from]];
    const along = x * dx + y * dy;
    const cost = along + 2 * Math.abs(x * dy - y * dx);
    if (along > 1e-6 && cost < least) [best, least] = [v, cost];
  }
  return best;
}

export function picture(g: DrawnGraph, extent: { width: number; height: number }, handlers: Handlers): Picture {
  const pad = 0.55;
  const box = `${-pad - (extent.width - g.width) / 2} ${-pad - (extent.height - g.height) / 2} ${extent.width + 2 * pad} ${extent.height + 2 * pad}`;
  const added = new Set(g.added ?? []);
  const element = svg("svg", { viewBox: box, class: g.edges.length > 12 * g.nodes ? "graph dense" : "graph", role: "group", "aria-label": `${graphName(g)}: ${g.nodes} nodes, ${g.edges.length / 2} edges. Arrow keys go from node to node, Enter individualises.` });
  for (let e = 0; e < g.edges.length / 2; ++e) {
    const [u, v] = [g.edges[2 * e], g.edges[2 * e + 1]];
    const literals = g.name && isLiteral(g, u) && isLiteral(g, v);
    const label = g.edge_label?.[e] ?? 0;
    element.append(svg("line", {
      x1: g.x[u], y1: g.y[u], x2: g.x[v], y2: g.y[v], class: added.has(e) ? "edge added" : literals ? "edge literals" : label > 0 ? "edge labelled" : "edge",
      style: label > 0 && `stroke:${labelColour(label)}`,
    }, g.edge_label && svg("title", {}, `edge ${u}, ${v}: label ${label}`)));
  }
  const nodes = Array.from({ length: g.nodes }, (_, v) => {
    const shape = !g.name || isLiteral(g, v)
      ? svg("circle", { cx: g.x[v], cy: g.y[v], r: RADIUS })
      : svg("rect", { x: g.x[v] - RADIUS * 0.9, y: g.y[v] - RADIUS * 0.9, width: RADIUS * 1.8, height: RADIUS * 1.8, rx: 0.05 });
    const text = svg("text", { x: g.x[v], y: g.y[v], class: "number-in" });
    const title = svg("title");
    const ring = svg("circle", { cx: g.x[v], cy: g.y[v], r: RADIUS * 1.5, class: "ring" });
    const step = svg("text", { x: g.x[v] + RADIUS * 1.35, y: g.y[v] - RADIUS * 1.35, class: "step-at" });
    const group = svg("g", { role: "button", tabindex: v === 0 ? 0 : -1, "data-node": v }, shape, ring, text, step, title);
    const says = (): string => group.getAttribute("aria-label") ?? "";
    group.addEventListener("pointerenter", () => handlers.point(v, says()));
    group.addEventListener("focus", () => { stop(v); handlers.point(v, says()); });
    group.addEventListener("click", () => handlers.press(v));
    group.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") handlers.press(v);
      else if (event.key.startsWith("Arrow")) nodes[towards(g, v, event.key)].group.focus();
      else return;
      event.preventDefault();
    });
    return { group, shape, text, title, step };
  });
  element.append(...nodes.map((n) => n.group));

  /** The picture is one stop of the Tab key: the node where one was last. */
  function stop(at: number): void {
    nodes.forEach((n, v) => n.group.setAttribute("tabindex", v === at ? "0" : "-1"));
  }

  function paint(look: (v: number) => Look): void {
    nodes.forEach(({ group, shape, text, title, step }, v) => {
      const how = look(v);
      group.setAttribute("class", `node ${how.class}`);
      group.setAttribute("aria-label", how.says);
      if (how.colour === undefined) group.removeAttribute("data-class");
      else group.setAttribute("data-class", String(how.colour));
      shape.setAttribute("style", how.fill ? `fill:${how.fill}` : "");
      text.textContent = how.text;
      title.textContent = how.says;
      step.textContent = how.step === undefined ? "" : String(how.step);
    });
  }
  return { element, paint };
}
