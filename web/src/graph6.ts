// nauty's graph6 and sparse6, one graph per line, as src/graph/graph6.cpp writes them.

export interface Edges {
  nodes: number;
  /** u, v, u, v, …, each edge once. */
  edges: number[];
}

/** Throws where the text is neither. */
export function decode(code: string): Edges {
  const sparse = code.startsWith(":");
  const values = Array.from(sparse ? code.slice(1) : code, (c) => c.charCodeAt(0) - 63);
  if (values.length === 0 || values.some((v) => !(v >= 0 && v < 64))) throw new Error("expected graph6 or sparse6");
  // Up to 62 nodes take one character, up to 258047 three after a "~".
  const wide = values[0] === 63;
  const nodes = wide ? (values[1] << 12) | (values[2] << 6) | values[3] : values[0];
  const rest = values.slice(wide ? 4 : 1);
  return { nodes, edges: sparse ? sparseEdges(nodes, rest) : denseEdges(nodes, rest) };
}

/** The upper triangle of the matrix, column by column. */
function denseEdges(nodes: number, values: number[]): number[] {
  const edges: number[] = [];
  let at = 0;
  for (let v = 1; v < nodes; ++v) {
    for (let u = 0; u < v; ++u, ++at) if ((values[Math.floor(at / 6)] >> (5 - (at % 6))) & 1) edges.push(u, v);
  }
  return edges;
}

/** Pairs of a bit b and a number x: b moves on to the next node v; then x > v makes x the new v, else x, v is an edge. */
function sparseEdges(nodes: number, values: number[]): number[] {
  const edges: number[] = [];
  let width = 0;
  while ((nodes - 1) >> width > 0) ++width;
  const bits = values.length * 6;
  const bit = (i: number): number => (values[Math.floor(i / 6)] >> (5 - (i % 6))) & 1;
  let v = 0;
  for (let at = 0; at + 1 + width <= bits;) {
    if (bit(at++)) ++v;
    let x = 0;
    for (let i = 0; i < width; ++i) x = (x << 1) | bit(at++);
    if (x >= nodes || v >= nodes) break;  // padding
    if (x > v) v = x;
    else if (x < v) edges.push(x, v);
  }
  return edges;
}
