// What a path through two graphs shows, in words.
import type { Pair } from "./data";
import { count, differing, equal, renumberedDifference } from "./refine";
import type { Path, Step } from "./path";

export interface Verdict {
  /** open: nothing is told yet. apart: not isomorphic. same: isomorphic. chance: it depends on what was drawn. */
  kind: "open" | "apart" | "same" | "chance";
  short: string;
  long: string;
}

export const plural = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

/** "The colours are equal so far", while rounds are played. */
export function duringRounds(path: Path, colours: number[]): Verdict {
  const same = equal(path.graphs, colours);
  return { kind: same ? "open" : "chance", short: same ? "equal so far" : "they differ", long: `${plural(count(colours), "colour")}${same ? ", each on as many nodes left as right" : `, of which ${differing(path.graphs, colours).size} on different numbers of nodes left and right`}.` };
}

function beforeSteps(path: Path, pair: Pair): Verdict {
  if (pair.wl1.distinguished) return { kind: "apart", short: "told apart already", long: "1-WL alone tells these two graphs apart. You may still individualise nodes." };
  if (path.discrete) return leaf(path, "Every node has a colour of its own in both from the start");
  return { kind: "open", short: "still equal: 1-WL cannot tell them apart", long: `Its ${plural(path.census.colours, "colour")} ${path.census.colours === 1 ? "is" : "are each"} on as many nodes left as right. Pick a node: it gets a colour of its own, and refinement runs on.` };
}

/** Every node has its own colour in both graphs. */
function leaf(path: Path, when: string): Verdict {
  const places = renumberedDifference(path.graphs, path.colours);
  if (places === 0) return { kind: "same", short: "the same graph", long: `${when}, and renumbered by colour the two graphs are equal, edge for edge: they are isomorphic.` };
  return { kind: "chance", short: "they differ now", long: `${when}; renumbered by colour, the two graphs differ in ${plural(places, "place")}.` };
}

/** Why the colours differ: for good, or by the choice that was made. */
function reason(path: Path, step: Step): { kind: "apart" | "chance"; long: string } {
  const keep = step.counterparts.filter((c) => c.equal).length;
  const all = step.counterparts.length;
  if (keep > 0) return { kind: "chance", long: `With ${keep} of the ${plural(all, "possible counterpart")} they would have stayed equal, so this is the luck of the draw: undo, and try another.` };
  switch (path.otherChoices()) {
    case "none":
      return { kind: "apart", long: path.steps.length === 1 && all > 0
        ? `They differ whichever of the ${plural(all, "node")} of that colour is taken on the other side, so the graphs are not isomorphic. A network that knows one node from its likes can tell them apart; without, it cannot.`
        : "They differ whatever counterparts are taken, in every step: all were tried. So the graphs are not isomorphic. A network that knows these nodes from their likes can tell them apart; without, it cannot." };
    case "some":
      return { kind: "chance", long: "With other counterparts they would have stayed equal, so this is the luck of the draw." };
    default:
      return { kind: "chance", long: "Other counterparts might keep them equal: there are too many to try all of them here." };
  }
}

/** After all steps, at stable colours. */
export function verdict(path: Path, pair: Pair): Verdict {
  const step = path.steps.at(-1);
  if (!step) return beforeSteps(path, pair);
  const { colours, differing: off } = path.census;
  const drawn = `${plural(path.steps.length, "node")} individualised in each`;
  if (path.equal) {
    if (path.discrete) return leaf(path, "Every node now has a colour of its own in both");
    return { kind: "open", short: "still equal: 1-WL cannot tell them apart", long: `With ${drawn} there are ${plural(colours, "colour")}, each on as many nodes left as right. Pick another node.` };
  }
  if (pair.wl1.distinguished) return { kind: "apart", short: "told apart already", long: `1-WL alone tells these two graphs apart; there are ${plural(colours, "colour")} now.` };
  const why = reason(path, step);
  const since = step.rounds.findIndex((c) => !equal(path.graphs, c));
  const first = since > 0 && path.steps.slice(0, -1).every((s) => equal(path.graphs, s.rounds.at(-1)!)) ? `It took ${plural(since, "round")}. ` : "";
  const out: Verdict = { kind: why.kind, short: "they differ now", long: `${off} of ${plural(colours, "colour")} ${off === 1 ? "is" : "are"} on different numbers of nodes left and right (outlined). ${first}${why.long}` };
  if (!path.discrete || path.graphs.left * 2 !== path.graphs.nodes) return out;
  const end = leaf(path, "Every node has a colour of its own in both");
  return end.kind === "same" ? end : { ...out, long: `${out.long} ${end.long}` };
}
