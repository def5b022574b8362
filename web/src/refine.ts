// Colour refinement (1-WL) of two graphs together, with exact ranks: colours are numbered by (old colour, sorted colours of the
// neighbours, each behind the label of its edge where edges have labels), an individualised node just before the rest of its class. So numbers mean the same in both graphs and do not depend on
// how nodes are numbered. Pure functions: the page and the tests use the same.

/** Two graphs as one: the nodes of the right graph follow those of the left one. */
export interface Joint {
  nodes: number;
  /** How many belong to the left graph. */
  left: number;
  types: number[];
  neighbours: number[][];
  /** Of the edge to each neighbour; none where no edge has a label. */
  labels?: number[][];
}

interface Plain {
  nodes: number;
  type: number[];
  /** u, v, u, v, … */
  edges: number[];
  /** One per edge. */
  edge_label?: number[];
}

export function join(a: Plain, b: Plain): Joint {
  const neighbours: number[][] = Array.from({ length: a.nodes + b.nodes }, () => []);
  const labels: number[][] | undefined = a.edge_label || b.edge_label ? neighbours.map(() => []) : undefined;
  const add = (g: Plain, shift: number): void => {
    for (let e = 0; e < g.edges.length; e += 2) {
      const [u, v] = [g.edges[e] + shift, g.edges[e + 1] + shift];
      neighbours[u].push(v);
      neighbours[v].push(u);
      const label = g.edge_label?.[e / 2] ?? 0;
      labels?.[u].push(label);
      labels?.[v].push(label);
    }
  };
  add(a, 0);
  add(b, a.nodes);
  return { nodes: a.nodes + b.nodes, left: a.nodes, types: [...a.type, ...b.type], neighbours, labels };
}

/** 0 for the nodes that come first in the order, 1 for the next different ones, and so on. */
function ranks(nodes: number, compare: (u: number, v: number) => number): number[] {
  const order = Array.from({ length: nodes }, (_, v) => v).sort(compare);
  const out = new Array<number>(nodes);
  order.forEach((v, i) => { out[v] = i === 0 ? 0 : out[order[i - 1]] + (compare(order[i - 1], v) === 0 ? 0 : 1); });
  return out;
}

function compareLists(a: number[], b: number[]): number {
  const common = Math.min(a.length, b.length);
  for (let i = 0; i < common; ++i) if (a[i] !== b[i]) return a[i] - b[i];
  return a.length - b.length;
}

/** How many colours there are; for the colours of one side of a pair, too, which have gaps. */
export const count = (colours: number[]): number => new Set(colours).size;

/** Round 0: the types of nodes. */
export const initial = (g: Joint): number[] => ranks(g.nodes, (u, v) => g.types[u] - g.types[v]);

/**
 * The rounds that refine `colours`, the last one stable; none where it is stable already. `go` is asked after every round.
 * Only nodes next to a part that has split off are looked at again: nodes of one class without such a neighbour still have as many
 * neighbours of each colour as each other, so one of them stands for all. (Of the parts of a class, the largest counts as what stayed.)
 */
export function refine(g: Joint, colours: number[], go: (colours: number[]) => boolean = () => true): number[][] {
  const rounds: number[][] = [];
  let touched = Array.from({ length: g.nodes }, (_, v) => v);
  for (;;) {
    const classes: number[][] = Array.from({ length: count(colours) }, () => []);
    colours.forEach((c, v) => classes[c].push(v));
    const again = new Set(touched);
    const finer = new Array<number>(g.nodes);
    const split: number[] = [];
    let next = 0;
    const isTouched = new Array<boolean>(classes.length).fill(false);
    for (const v of again) isTouched[colours[v]] = true;
    classes.forEach((members, c) => {
      const parts = isTouched[c] && members.length > 1 ? partition(g, colours, members, again) : [members];
      for (const part of parts) {
        for (const v of part) finer[v] = next;
        ++next;
      }
      if (parts.length > 1) split.push(...parts.sort((x, y) => y.length - x.length).slice(1).flat());
    });
    if (split.length === 0) return rounds;
    rounds.push(finer);
    if (!go(finer)) return rounds;
    colours = finer;
    touched = split.flatMap((v) => g.neighbours[v]);
  }
}

/** The members of a class in parts, by the sorted colours of their neighbours. Those not in `again` are all alike. */
function partition(g: Joint, colours: number[], members: number[], again: Set<number>): number[][] {
  // An edge's label and the colour behind it as one number.
  const around = (v: number): number[] => g.neighbours[v].map((w, i) => colours[w] + g.nodes * (g.labels?.[v][i] ?? 0)).sort((x, y) => x - y);
  const seen = members.filter((v) => again.has(v)).map((v) => ({ nodes: [v], around: around(v) }));
  const rest = members.filter((v) => !again.has(v));
  if (rest.length > 0) seen.push({ nodes: rest, around: around(rest[0]) });
  seen.sort((a, b) => compareLists(a.around, b.around));
  const parts: number[][] = [];
  seen.forEach((s, i) => {
    if (i > 0 && compareLists(seen[i - 1].around, s.around) === 0) parts.at(-1)!.push(...s.nodes);
    else parts.push([...s.nodes]);
  });
  return parts;
}

/** Each of the nodes gets a colour of its own (the same, where they had the same), just before the rest of its class. */
export function individualise(colours: number[], nodes: number[]): number[] {
  const chosen = new Set(nodes);
  const key = colours.map((c, v) => 2 * c - (chosen.has(v) ? 1 : 0));
  return ranks(colours.length, (u, v) => key[u] - key[v]);
}

/** Colours that are on different numbers of nodes in the two graphs. */
export function differing(g: Joint, colours: number[]): Set<number> {
  const balance: number[] = [];
  colours.forEach((c, v) => { balance[c] = (balance[c] ?? 0) + (v < g.left ? 1 : -1); });
  const out = new Set<number>();
  balance.forEach((more, c) => { if (more !== 0) out.add(c); });
  return out;
}

export const equal = (g: Joint, colours: number[]): boolean => differing(g, colours).size === 0;

export const sides = (g: Joint, colours: number[]): [number[], number[]] => [colours.slice(0, g.left), colours.slice(g.left)];

/** Whether every node of either graph has a colour of its own there. */
export const discrete = (g: Joint, colours: number[]): boolean => sides(g, colours).every((side) => count(side) === side.length);

/**
 * Both graphs renumbered by the ranks of their colours: in how many places they differ (edges that one has and the other has not, and
 * nodes of different types). Requires discrete colours and equally many nodes.
 */
export function renumberedDifference(g: Joint, colours: number[]): number {
  const places = (from: number, to: number): Set<string> => {
    const order = Array.from({ length: to - from }, (_, i) => from + i).sort((u, v) => colours[u] - colours[v]);
    const at = new Map(order.map((v, i) => [v, i]));
    const out = new Set<string>();
    for (const v of order) {
      out.add(`type ${at.get(v)} ${g.types[v]}`);
      g.neighbours[v].forEach((w, i) => { if (at.get(v)! < at.get(w)!) out.add(`${at.get(v)} ${at.get(w)} ${g.labels?.[v][i] ?? 0}`); });
    }
    return out;
  };
  const [a, b] = [places(0, g.left), places(g.left, g.nodes)];
  return [...a].filter((x) => !b.has(x)).length + [...b].filter((x) => !a.has(x) && !x.startsWith("type")).length;
}
