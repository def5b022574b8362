// The panel under a pair: individualise nodes at random, undo, and read what has come of it.
import type { DrawnGraph, Pair } from "./data";
import { h } from "./dom";
import type { Path, Step } from "./path";
import { graphName } from "./picture";
import type { Verdict } from "./words";

export interface PanelActions {
  random(toTheEnd: boolean): void;
  undo(): void;
  reset(): void;
  /** The person wants to choose the node of the other graph, too. */
  own(yes: boolean): void;
  cancel(): void;
}

export interface PanelState {
  path: Path;
  pair: Pair;
  verdict: Verdict;
  /** A node waits for its counterpart: what is asked of the person. */
  asked?: string;
}

/** "node 3 (x2)" */
export const nodeName = (g: DrawnGraph, v: number): string => `node ${v}${g.name ? ` (${g.name[v]})` : ""}`;

function stepText(pair: Pair, path: Path, step: Step, i: number): string {
  const [a, b] = pair.graphs;
  const before = i === 0 ? pair.wl1.classes : new Set(path.steps[i - 1].rounds.at(-1)).size;
  const after = new Set(step.rounds.at(-1)).size;
  const side = (g: DrawnGraph, v: number | null, shift: number): string => (v === null ? "no node" : nodeName(g, v - shift));
  const keep = step.counterparts.filter((c) => c.equal).length;
  const choices = step.counterparts.length === 0 ? "" : `; ${keep} of ${step.counterparts.length} counterparts ${keep === 1 ? "keeps" : "keep"} the colours equal`;
  return `${side(a, step.left, 0)} left, ${side(b, step.right, a.nodes)} right: ${before} → ${after} colours${choices}`;
}

export function panel(actions: PanelActions): { element: HTMLElement; show(state: PanelState): void } {
  const own = h("input", { type: "checkbox", "data-control": "own", onchange: () => actions.own(own.checked) });
  const button = (control: string, text: string, title: string, act: () => void): HTMLButtonElement =>
    h("button", { type: "button", "data-control": control, title, onclick: act }, text);
  const random = button("random", "Random node in each", "In each graph, on its own, a random node of the largest class", () => actions.random(false));
  const leaf = button("leaf", "… until all colours differ", "Random nodes until every node has a colour of its own", () => actions.random(true));
  const undo = button("undo", "Undo", "Take the last step back", () => actions.undo());
  const reset = button("reset", "Reset", "Back to the colours of 1-WL", () => actions.reset());
  const cancel = button("cancel", "Cancel", "Individualise nothing", () => actions.cancel());
  const badge = h("span", { class: "badge" });
  const long = h("span", {});
  const said = h("p", { class: "verdict", role: "status" }, badge, " ", long);
  const asked = h("p", { class: "asked", role: "status" });
  const list = h("ol", { class: "path" });
  const element = h("section", { class: "individualise", "aria-label": "Individualise" },
    h("h3", {}, "Individualise a node"),
    h("p", { class: "muted hint" }, "Click a node in either graph: it gets a colour of its own, so does a node of the same colour in the other graph, and refinement runs on in both. This is what random numbers do for a network: they tell a node from its likes."),
    h("div", { class: "controls" }, random, leaf, undo, reset, h("label", { class: "check" }, own, "let me choose the node of the other graph")),
    asked,
    said, list);

  function show({ path, pair, verdict, asked: question }: PanelState): void {
    const steps = path.steps.length;
    random.disabled = leaf.disabled = path.discrete;
    undo.disabled = reset.disabled = steps === 0;
    asked.replaceChildren(...(question ? [question, " ", cancel] : []));
    asked.hidden = !question;
    said.hidden = !!question;
    badge.className = `badge ${{ open: "off", apart: "good", same: "same", chance: "chance" }[verdict.kind]}`;
    badge.textContent = verdict.short;
    long.textContent = verdict.long;
    list.hidden = steps === 0;
    list.setAttribute("aria-label", `Individualised in ${pair.graphs.map(graphName).join(" and ")}`);
    list.replaceChildren(...path.steps.map((step, i) => h("li", {}, stepText(pair, path, step, i))));
  }
  return { element, show };
}
