// One colour per model, the same in every figure of the page: models get theirs in order of first appearance.
const palette = ["#4269d0", "#e6550d", "#2f9e44", "#a463f2", "#c2255c", "#1098ad", "#9c6b4e", "#8a7a00", "#ff8ab7", "#64748b"];
const given = new Map<string, string>();

export function modelColour(name: string): string {
  let colour = given.get(name);
  if (colour === undefined) {
    colour = palette[given.size % palette.length];
    given.set(name, colour);
  }
  return colour;
}

/** The colour of a Weisfeiler-Leman class: hues a golden angle apart, so that neighbouring numbers differ most. */
export function classColour(id: number): string {
  const hue = (id * 137.508 + 25) % 360;
  const light = [0.68, 0.8, 0.56][id % 3];
  return `oklch(${light} 0.13 ${hue.toFixed(1)})`;
}

/** Of an edge with a label; 0 has the colour of all edges. */
export const labelColour = (label: number): string => palette[(label - 1) % palette.length];
