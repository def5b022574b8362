// Pairs as pages of many pairs hold them (src/report/packed.cpp): a code for each graph. Drawn and refined when they are looked at.
import type { DrawnGraph, Pair, Verdict } from "./data";
import { decode } from "./graph6";
import { layout } from "./layout";
import { count, equal, initial, join, refine } from "./refine";

export interface PackedGraph {
  title: string;
  /** graph6 or sparse6 */
  code: string;
  /** Of every node; none: all of one type. */
  type?: number[];
  /** Of every edge, ascending by its smaller node and then by its larger one; none: edges have no labels. */
  edge_label?: number[];
}

export interface PackedPair {
  title: string;
  /** What stands beside the pair. */
  caption?: string;
  graphs: [PackedGraph, PackedGraph];
  /** What the program found out; nothing where it did not ask. */
  wl2?: boolean;
  isomorphic?: boolean;
}

export const isPacked = (pair: Pair | PackedPair): pair is PackedPair => "code" in pair.graphs[0];

function drawn(g: PackedGraph, index: number): DrawnGraph {
  const graph = decode(g.code);
  const pairs = Array.from({ length: graph.edges.length / 2 }, (_, e) => graph.edges.slice(2 * e, 2 * e + 2));
  graph.edges = pairs.sort((a, b) => a[0] - b[0] || a[1] - b[1]).flat();
  return { index, edge_label: g.edge_label, title: g.title, label: -1, type: g.type ?? new Array<number>(graph.nodes).fill(0), ...graph, ...layout(graph) };
}

/** As the pages of few pairs have it. */
export function unpack(packed: PackedPair): Pair {
  const graphs = packed.graphs.map(drawn) as [DrawnGraph, DrawnGraph];
  const g = join(...graphs);
  const start = initial(g);
  const rounds = [start, ...refine(g, start)];
  const last = rounds[rounds.length - 1];
  const round = rounds.findIndex((colours) => !equal(g, colours));
  const wl1: Verdict & { classes: number; rounds: number[][] } = { distinguished: round >= 0, classes: count(last), rounds };
  if (round >= 0) wl1.round = round;
  return { pair: 0, subset: "", graphs, wl1, wl2: packed.wl2 === undefined ? undefined : { distinguished: packed.wl2 }, isomorphic: packed.isomorphic };
}
