// Where to draw the nodes of a graph, worked out when somebody looks at it: stress majorisation by gradient steps over pairs of nodes
// (each pair wants to be as far apart as it is in the graph), from a few starts, of which the drawing with the fewest crossings counts.
// A pure function of the graph: the same every time.
import type { Edges } from "./graph6";

export interface Layout {
  x: number[];
  y: number[];
  width: number;
  height: number;
}

type Points = [number, number][];

const GAP = 1;
/** Crossings are counted for graphs of up to this many edges; beyond, the drawing of least stress counts. */
const COUNTED = 160;

function adjacency({ nodes, edges }: Edges): number[][] {
  const out: number[][] = Array.from({ length: nodes }, () => []);
  for (let e = 0; e < edges.length; e += 2) {
    out[edges[e]].push(edges[e + 1]);
    out[edges[e + 1]].push(edges[e]);
  }
  return out;
}

function components(near: number[][]): number[][] {
  const seen = new Array<boolean>(near.length).fill(false);
  const out: number[][] = [];
  near.forEach((_, from) => {
    if (seen[from]) return;
    seen[from] = true;
    const part = [from];
    for (let i = 0; i < part.length; ++i) for (const w of near[part[i]]) if (!seen[w]) { seen[w] = true; part.push(w); }
    out.push(part.sort((a, b) => a - b));
  });
  return out;
}

/** Steps between any two nodes of a connected graph. */
function distances(near: number[][]): number[][] {
  return near.map((_, from) => {
    const steps = new Array<number>(near.length).fill(-1);
    steps[from] = 0;
    const queue = [from];
    for (let i = 0; i < queue.length; ++i) for (const w of near[queue[i]]) if (steps[w] < 0) { steps[w] = steps[queue[i]] + 1; queue.push(w); }
    return steps;
  });
}

/** A small generator of numbers from 0 to 1, the same every time. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 4294967296;
}

function circle(order: number[]): Points {
  const radius = Math.max(1, order.length / (2 * Math.PI));
  const points: Points = new Array(order.length);
  order.forEach((v, i) => { points[v] = [radius * Math.cos((2 * Math.PI * i) / order.length), radius * Math.sin((2 * Math.PI * i) / order.length)]; });
  return points;
}

/** Zheng, Pawar and Goodman, Graph Drawing by Stochastic Gradient Descent (2018). */
function settle(start: Points, apart: number[][], random: () => number): Points {
  const points = start.map(([x, y]): [number, number] => [x + 0.01 * (random() - 0.5), y + 0.01 * (random() - 0.5)]);
  const pairs: [number, number][] = [];
  for (let u = 0; u < points.length; ++u) for (let v = u + 1; v < points.length; ++v) pairs.push([u, v]);
  const longest = Math.max(...apart.map((row) => Math.max(...row)));
  const rounds = 40;
  for (let round = 0; round < rounds; ++round) {
    const rate = longest ** 2 * (0.1 / longest ** 2) ** (round / (rounds - 1));
    for (let i = pairs.length - 1; i > 0; --i) {
      const j = Math.floor(random() * (i + 1));
      [pairs[i], pairs[j]] = [pairs[j], pairs[i]];
    }
    for (const [u, v] of pairs) {
      const d = apart[u][v];
      const weight = Math.min(1, rate / (d * d));
      const [dx, dy] = [points[u][0] - points[v][0], points[u][1] - points[v][1]];
      const length = Math.max(1e-6, Math.hypot(dx, dy));
      const move = (weight * (length - d)) / (2 * length);
      points[u][0] -= move * dx;
      points[u][1] -= move * dy;
      points[v][0] += move * dx;
      points[v][1] += move * dy;
    }
  }
  return points;
}

function stress(points: Points, apart: number[][]): number {
  let sum = 0;
  for (let u = 0; u < points.length; ++u) {
    for (let v = u + 1; v < points.length; ++v) {
      const off = Math.hypot(points[u][0] - points[v][0], points[u][1] - points[v][1]) / apart[u][v] - 1;
      sum += off * off;
    }
  }
  return sum;
}

function crossings(points: Points, near: number[][]): number {
  const edges = near.flatMap((list, u) => list.filter((v) => v > u).map((v): [number, number] => [u, v]));
  const turn = (a: number, b: number, c: number): number =>
    Math.sign((points[b][0] - points[a][0]) * (points[c][1] - points[a][1]) - (points[b][1] - points[a][1]) * (points[c][0] - points[a][0]));
  let count = 0;
  for (let i = 0; i < edges.length; ++i) {
    for (let j = i + 1; j < edges.length; ++j) {
      const [[a, b], [c, d]] = [edges[i], edges[j]];
      if (a === c || a === d || b === c || b === d) continue;
      if (turn(a, b, c) !== turn(a, b, d) && turn(c, d, a) !== turn(c, d, b)) ++count;
    }
  }
  return count;
}

/** Turned so that its longest extent lies across, with the corner at the origin. */
function upright(points: Points): Points {
  const mean = (i: 0 | 1): number => points.reduce((sum, p) => sum + p[i], 0) / points.length;
  const [mx, my] = [mean(0), mean(1)];
  let [xx, xy, yy] = [0, 0, 0];
  for (const [x, y] of points) {
    xx += (x - mx) ** 2;
    xy += (x - mx) * (y - my);
    yy += (y - my) ** 2;
  }
  const angle = -0.5 * Math.atan2(2 * xy, xx - yy);
  const [c, s] = [Math.cos(angle), Math.sin(angle)];
  const turned = points.map(([x, y]): [number, number] => [(x - mx) * c - (y - my) * s, (x - mx) * s + (y - my) * c]);
  const [left, top] = [Math.min(...turned.map((p) => p[0])), Math.min(...turned.map((p) => p[1]))];
  return turned.map(([x, y]) => [x - left, y - top]);
}

/** Twins are put close together; where many nodes would cover each other, the drawing is made larger instead of the nodes smaller. */
function spread(points: Points): Points {
  const nearest = points.map((p, v) => Math.min(...points.map((q, w) => v === w ? Infinity : Math.hypot(p[0] - q[0], p[1] - q[1])))).sort((a, b) => a - b);
  const gap = nearest[Math.floor(nearest.length / 5)];
  const scale = Math.max(1, Math.min(2.2, 0.6 / gap));
  return points.map(([x, y]) => [scale * x, scale * y]);
}

function place(near: number[][]): Points {
  const n = near.length;
  if (n === 1) return [[0, 0]];
  if (n === 2) return [[0, 0], [1, 0]];
  const order = Array.from({ length: n }, (_, v) => v);
  const edges = near.reduce((sum, list) => sum + list.length, 0) / 2;
  const apart = distances(near);
  // Where nearly all nodes are within two steps of each other distances say nothing, and a ring is easier to read than a knot.
  if (n > 8 && edges > 3 * n && apart.every((row) => Math.max(...row) <= 2)) return circle(order);
  const counted = edges <= COUNTED;
  const random = numbers(1);
  let best: Points = [];
  let least = Infinity;
  for (let attempt = 0; attempt < (counted ? 8 : 2) && least > 0; ++attempt) {
    const shuffled = attempt === 0 ? order : [...order].map((v) => ({ v, at: random() })).sort((a, b) => a.at - b.at).map((e) => e.v);
    const points = settle(circle(shuffled), apart, random);
    const cost = counted ? crossings(points, near) + 1e-3 * stress(points, apart) / (n * n) : stress(points, apart);
    if (cost < least) [best, least] = [points, cost];
  }
  return upright(spread(best));
}

/** Edges are about 1 long; components stand beside each other in the order of their smallest nodes. */
export function layout(graph: Edges): Layout {
  const near = adjacency(graph);
  const x = new Array<number>(graph.nodes).fill(0);
  const y = new Array<number>(graph.nodes).fill(0);
  const parts = components(near).map((nodes) => {
    const at = new Map(nodes.map((v, i) => [v, i]));
    const points = place(nodes.map((v) => near[v].map((w) => at.get(w)!)));
    const low = [Math.min(...points.map((p) => p[0])), Math.min(...points.map((p) => p[1]))];
    const placed = points.map((p) => [p[0] - low[0], p[1] - low[1]]);
    return { nodes, placed, width: Math.max(...placed.map((p) => p[0])), height: Math.max(...placed.map((p) => p[1])) };
  });
  const height = Math.max(0, ...parts.map((p) => p.height));
  let left = 0;
  for (const part of parts) {
    part.nodes.forEach((v, i) => {
      x[v] = left + part.placed[i][0];
      y[v] = (height - part.height) / 2 + part.placed[i][1];
    });
    left += part.width + GAP;
  }
  return { x, y, width: Math.max(0, left - GAP), height };
}
