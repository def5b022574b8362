// How many nodes of each colour the two graphs have, as bars left and right.
import { classColour } from "./colours";
import { h } from "./dom";

/** Longer tables leave colours out, those that agree first. */
const MOST_ROWS = 16;

/** For every round, an identity for each class that stays with its largest part when the class splits. */
export function steadyClasses(rounds: number[][]): number[][] {
  const out: number[][] = [];
  let fresh = 0;
  rounds.forEach((colours, r) => {
    const members = new Map<number, number[]>();
    colours.forEach((c, v) => {
      if (!members.has(c)) members.set(c, []);
      members.get(c)!.push(v);
    });
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

/** `first`: how many of the nodes belong to the left graph. */
export function census(ids: number[], first: number): HTMLElement {
  const counts = new Map<number, [number, number]>();
  ids.forEach((id, v) => {
    const c = counts.get(id) ?? [0, 0];
    c[v < first ? 0 : 1]++;
    counts.set(id, c);
  });
  const most = Math.max(...[...counts.values()].flat());
  const bar = (count: number, id: number, side: string): HTMLElement =>
    h("span", { class: `bar ${side}` }, h("span", { style: `width:${(100 * count) / most}%;background:${classColour(id)}` }), h("b", {}, count));
  const differs = ([, [left, right]]: [number, [number, number]]): boolean => left !== right;
  const all = [...counts].sort((a, b) => a[0] - b[0]);
  const shown = all.length <= MOST_ROWS ? all : [...all.filter(differs), ...all.filter((c) => !differs(c))].slice(0, MOST_ROWS);
  const hidden = all.filter((c) => !shown.includes(c));
  const off = hidden.filter(differs).length;
  const rest = [off > 0 && `${off} more that differ`, hidden.length > off && `${hidden.length - off} more, each on as many nodes left as right`].filter(Boolean).join(", and ");
  return h("table", { class: "census" },
    h("caption", {}, `${counts.size} ${counts.size === 1 ? "colour" : "colours"}: nodes of each in the left and in the right graph`),
    h("tbody", {}, shown.map(([id, [left, right]]) =>
      h("tr", { class: left === right ? "" : "differs" },
        h("td", {}, bar(left, id, "left")), h("th", { scope: "row" }, id), h("td", {}, bar(right, id, "right"))))),
    rest !== "" && h("tfoot", {}, h("tr", {}, h("td", { colspan: 3 }, `and ${rest}`))));
}
