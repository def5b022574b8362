// A path of individualisation and refinement through two graphs at once: what was individualised, and the colours that came of it.
import { count, differing, discrete, equal, individualise, initial, refine, type Joint } from "./refine";

/** A node of the other graph that has the same colour, and whether the colourings stay equal if it is taken. */
export interface Counterpart {
  node: number;
  equal: boolean;
}

export interface Step {
  /** One node of each graph (in joint numbers); null where a graph has no two nodes of one colour any more. */
  left: number | null;
  right: number | null;
  /** Which of the two was chosen freely; the other one is its counterpart. */
  free: number | null;
  /** Every node that could have been the counterpart. Empty where the colourings differed before, and where nobody asked. */
  counterparts: Counterpart[];
  /** The colours just after the nodes were individualised, then round by round, the last stable. */
  rounds: number[][];
}

/** Refinements that a search for other counterparts may take before it says that it does not know. */
const kSearch = 4000;

export class Path {
  readonly steps: Step[] = [];
  private readonly start: number[];

  constructor(readonly graphs: Joint) {
    const first = initial(graphs);
    this.start = refine(graphs, first).at(-1) ?? first;
  }

  /** The stable colours after all steps. */
  get colours(): number[] { return this.steps.at(-1)?.rounds.at(-1) ?? this.start; }
  get equal(): boolean { return equal(this.graphs, this.colours); }
  get discrete(): boolean { return discrete(this.graphs, this.colours); }

  private isLeft(v: number): boolean { return v < this.graphs.left; }

  /** Nodes of the other graph with the colour of v, and what would come of each. */
  counterparts(v: number): Counterpart[] {
    const { colours } = this;
    const out: Counterpart[] = [];
    for (let w = 0; w < this.graphs.nodes; ++w) {
      if (this.isLeft(w) !== this.isLeft(v) && colours[w] === colours[v]) out.push({ node: w, equal: this.staysEqual(colours, v, w) !== null });
    }
    return out;
  }

  /** The stable colours with v and w individualised where they are equal in both graphs; null where some round's are not. */
  private staysEqual(colours: number[], v: number, w: number): number[] | null {
    const marked = individualise(colours, [v, w]);
    if (!equal(this.graphs, marked)) return null;
    const last = refine(this.graphs, marked, (c) => equal(this.graphs, c)).at(-1) ?? marked;
    return equal(this.graphs, last) ? last : null;
  }

  /** Individualises a node that was chosen, in either graph, and its counterpart in the other; null where a graph has none left. */
  add(free: number | null, other: number | null, counterparts: Counterpart[] = []): void {
    const marked = individualise(this.colours, [free, other].filter((v) => v !== null));
    const [left, right] = free === null ? [null, other] : this.isLeft(free) ? [free, other] : [other, free];
    this.steps.push({ left, right, free, counterparts, rounds: [marked, ...refine(this.graphs, marked)] });
  }

  /**
   * One step as a network draws it: in each graph, on its own, a random node of the first of the largest classes. False where every
   * node has a colour of its own. `weigh`: find out what other counterparts would have done.
   */
  addRandom(weigh = true, random: () => number = Math.random): boolean {
    const { colours } = this;
    const draw = (from: number, to: number): number | null => {
      const classes = new Map<number, number[]>();
      for (let v = from; v < to; ++v) classes.set(colours[v], [...(classes.get(colours[v]) ?? []), v]);
      const best = [...classes].sort((a, b) => b[1].length - a[1].length || a[0] - b[0])[0]?.[1] ?? [];
      return best.length > 1 ? best[Math.floor(random() * best.length)] : null;
    };
    const left = draw(0, this.graphs.left);
    const right = draw(this.graphs.left, this.graphs.nodes);
    if (left === null && right === null) return false;
    this.add(left, right, weigh && left !== null && this.equal ? this.counterparts(left) : []);
    return true;
  }

  undo(): void { this.steps.pop(); }
  reset(): void { this.steps.length = 0; }

  /**
   * Whether some choice of counterparts, in all steps, keeps the colours equal while the nodes that were chosen freely stay; "unknown"
   * where that takes too long to find out. Where none does, no isomorphism exists: it would give such counterparts.
   */
  otherChoices(): "some" | "none" | "unknown" {
    let left = kSearch;
    const search = (colours: number[], depth: number): "some" | "none" | "unknown" => {
      if (depth === this.steps.length) return "some";
      const v = this.steps[depth].free;
      if (v === null) return "unknown";
      let unknown = false;
      for (let w = 0; w < this.graphs.nodes; ++w) {
        if (this.isLeft(w) === this.isLeft(v) || colours[w] !== colours[v]) continue;
        if (left-- <= 0) return "unknown";
        const next = this.staysEqual(colours, v, w);
        if (next === null) continue;
        const deeper = search(next, depth + 1);
        if (deeper === "some") return deeper;
        unknown ||= deeper === "unknown";
      }
      return unknown ? "unknown" : "none";
    };
    return search(this.start, 0);
  }

  /** Colours now, and how many of them are on different numbers of nodes left and right. */
  get census(): { colours: number; differing: number } {
    return { colours: count(this.colours), differing: differing(this.graphs, this.colours).size };
  }
}
