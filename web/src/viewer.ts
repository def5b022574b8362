// The data itself: a pair of graphs drawn side by side, what Weisfeiler and Leman's test sees of it, and what it sees once nodes are
// individualised.
import { census, steadyClasses } from "./census";
import { classColour } from "./colours";
import type { DataSet, DrawnGraph, Pair } from "./data";
import { h, svg } from "./dom";
import { nodeName, panel } from "./panel";
import { isPacked, unpack } from "./packed";
import { Path, type Counterpart } from "./path";
import { graphName, isLiteral, partClass, partName, picture, type Look, type Picture } from "./picture";
import { differing, join } from "./refine";
import { duringRounds, verdict } from "./words";

type Mode = "parts" | "wl";

/** A node (in joint numbers) that waits for its counterpart. */
interface Pending {
  node: number;
  counterparts: Counterpart[];
}

const label = (g: DrawnGraph): string => g.name ? (g.label === 1 ? "satisfiable, " : "not satisfiable, ") : g.title ? "" : g.label >= 0 ? `label ${g.label}, ` : "no label, ";
/** For the start of a sentence; a code like g6:Bw stays as it is. */
const capital = (text: string): string => text.startsWith("g6:") ? text : text.charAt(0).toUpperCase() + text.slice(1);

export interface Viewer {
  element: HTMLElement;
  /** Opens a pair of the set at hand. */
  show(pair: number): void;
}

/** `start`: what the colours of nodes show at first. `opened` is told which pair of the set at hand is shown. */
export function viewer(sets: DataSet[], start: Mode = "parts", opened: (pair: number) => void = () => {}): Viewer {
  const root = h("div", { class: "viewer" });
  let set = sets.find((s) => s.pairs.length > 0) ?? sets[0];
  let at = 0;
  let mode: Mode = start;
  let round = 0;
  let own = false;
  let pending: Pending | undefined;
  let pointed: number | undefined;  // the node that is described, in joint numbers
  let timer = 0;
  // Of the pair at hand:
  let pair: Pair;
  let path: Path;
  let pictures: [Picture, Picture];
  let rounds: number[][];  // those of 1-WL, then those of each step
  let classes: number[][];  // the same, with identities that last

  const stage = h("div", { class: "stage" });
  const about = h("p", { class: "node-says muted" });
  const verdicts = h("div", { class: "verdicts" });
  const steps = h("div", { class: "steps" });
  const counts = h("div", { class: "counts" });
  const key = h("p", { class: "key" });
  const caption = h("p", { class: "caption", hidden: true });
  const controls = panel({
    random: (toTheEnd) => advance(() => { while (path.addRandom(!toTheEnd) && toTheEnd); }),
    undo: () => back(() => path.undo()),
    reset: () => back(() => path.reset()),
    own: (yes) => { own = yes; pending = undefined; paint(); },
    cancel: () => { pending = undefined; paint(); },
  });

  const setSelect = h("select", { "aria-label": "Data set", onchange: () => { set = sets[Number(setSelect.value)]; at = 0; fillPairs(); open(); } },
    sets.map((s, i) => h("option", { value: i, selected: s === set }, s.name)));
  const pairSelect = h("select", { "aria-label": "Pair", onchange: () => { at = Number(pairSelect.value); open(); } });
  const show = (pair: number): void => {
    at = pair;
    pairSelect.value = String(at);
    open();
  };
  const turn = (by: number): void => show((at + by + set.pairs.length) % set.pairs.length);
  const modes = (["parts", "wl"] as const).map((m) => h("button", { type: "button", "data-mode": m, onclick: () => { mode = m; stop(); paint(); } }, m === "parts" ? "Parts" : "1-WL, round by round"));

  function fillPairs(): void {
    pairSelect.replaceChildren(...set.pairs.map((p, i) => isPacked(p) ? h("option", { value: i }, p.title) :
      h("option", { value: i }, `${set.paired ? "pair" : "graphs"} ${set.paired ? p.pair : `${p.graphs[0].index}, ${p.graphs[1].index}`}${p.subset ? ` (${p.subset}${p.core ? `, core of ${2 * p.core} variables` : ""})` : ""}`)));
  }

  function follow(): void {
    rounds = [...pair.wl1.rounds, ...path.steps.flatMap((s) => s.rounds)];
    classes = steadyClasses(rounds);
  }
  const last = (): number => rounds.length - 1;

  function stop(): void { clearTimeout(timer); }

  function goTo(to: number): void {
    stop();
    round = Math.max(0, Math.min(to, last()));
    pending = undefined;
    paint();
  }

  /** Makes steps, then plays the rounds they brought, in three seconds at most; at once for those who like it still. */
  function advance(act: () => void): void {
    stop();
    pending = undefined;
    mode = "wl";
    const from = last();
    act();
    follow();
    const to = last();
    if (to === from) return paint();
    round = matchMedia("(prefers-reduced-motion: reduce)").matches ? to : from + 1;
    const wait = Math.min(500, 3000 / (to - from));
    const play = (): void => {
      paint();
      if (round < to) timer = setTimeout(() => { ++round; play(); }, wait);
    };
    play();
  }

  function back(act: () => void): void {
    act();
    follow();
    mode = "wl";
    goTo(Infinity);
  }

  const isLeft = (v: number): boolean => v < pair.graphs[0].nodes;
  const nameOf = (v: number): string => isLeft(v) ? nodeName(pair.graphs[0], v) : nodeName(pair.graphs[1], v - pair.graphs[0].nodes);

  /** A node was clicked, or Enter pressed on it: it is individualised, or it is the counterpart that was waited for. */
  function press(v: number): void {
    const waiting = pending;
    if (waiting && isLeft(v) !== isLeft(waiting.node)) {
      if (waiting.counterparts.some((c) => c.node === v)) advance(() => path.add(waiting.node, v, waiting.counterparts));
      return;
    }
    goTo(Infinity);
    const counterparts = path.counterparts(v);
    const side = isLeft(v) ? "right" : "left";
    if (counterparts.length === 0) {
      about.textContent = `No node on the ${side} has the colour of ${nameOf(v)}: the colours differ already.`;
    } else if (own) {
      mode = "wl";
      pending = { node: v, counterparts };
      paint();
    } else {
      // The answer that keeps the colours equal, where there is one: whatever then differs differs for good.
      const answer = counterparts.find((c) => c.equal) ?? counterparts[0];
      advance(() => path.add(v, answer.node, counterparts));
    }
  }

  function drawSteps(): void {
    const end = last();
    const slider = h("input", { type: "range", min: 0, max: end, value: round, "aria-label": "Round of refinement", oninput: () => goTo(Number(slider.value)) });
    const focused = document.activeElement instanceof HTMLElement && steps.contains(document.activeElement) ? document.activeElement.dataset.control : undefined;
    slider.dataset.control = "slider";
    const button = (control: string, text: string, to: number): HTMLElement =>
      h("button", { type: "button", "data-control": control, disabled: to < 0 || to > end, onclick: () => goTo(to) }, text);
    const step = stepsUpTo(round);
    steps.replaceChildren(button("back", "◀ back", round - 1), slider, button("next", "next ▶", round + 1),
      h("span", { class: "round" }, `round ${round} of ${end}`), h("span", { class: "muted" }, step > 0 && `${step} individualised`));
    if (focused) steps.querySelector<HTMLElement>(`[data-control="${focused}"]`)?.focus();
  }

  /** How many steps have begun by a round. */
  function stepsUpTo(r: number): number {
    let begins = pair.wl1.rounds.length;
    let made = 0;
    for (const s of path.steps) {
      if (r < begins) break;
      ++made;
      begins += s.rounds.length;
    }
    return made;
  }

  /** How node v (in joint numbers) looks. */
  function looks(ids: number[], colours: number[]): (v: number) => Look {
    const off = differing(path.graphs, colours);
    const made = path.steps.slice(0, stepsUpTo(round));
    return (v) => {
      const g = pair.graphs[isLeft(v) ? 0 : 1];
      const u = isLeft(v) ? v : v - pair.graphs[0].nodes;
      const part = partName(g, u);
      if (mode === "parts") return { class: partClass(g, u), text: g.name && isLiteral(g, u) ? g.name[u].replace("x", "") : "", says: `${capital(graphName(g))}, node ${u}: ${part}` };
      const step = made.findIndex((s) => s.left === v || s.right === v);
      const choice = pending?.counterparts.find((c) => c.node === v);
      const marks = ["wl", step >= 0 && "chosen", off.has(colours[v]) && "off", v === pending?.node && "chosen",
        choice && (choice.equal ? "would-agree" : "would-differ"), pending && !choice && v !== pending.node && "aside"];
      const outcome = choice ? `, ${choice.equal ? "would keep the colours equal" : "would make the colours differ"}` : "";
      return {
        class: marks.filter(Boolean).join(" "), fill: classColour(ids[v]), text: String(ids[v]), colour: ids[v], step: step >= 0 ? step + 1 : undefined,
        says: `${capital(graphName(g))}, node ${u}: ${part}, colour ${ids[v]}${step >= 0 ? `, individualised in step ${step + 1}` : ""}${outcome}`,
      };
    };
  }

  /** Nodes of the same colour stand out while one of them is pointed at. */
  function point(v: number, says: string): void {
    pointed = v;
    about.textContent = says;
    const group = stage.querySelectorAll(".drawn")[isLeft(v) ? 0 : 1].querySelector(`[data-node="${isLeft(v) ? v : v - pair.graphs[0].nodes}"]`);
    const colour = group?.getAttribute("data-class");
    for (const n of stage.querySelectorAll(".node")) n.classList.toggle("alike", colour != null && n.getAttribute("data-class") === colour);
  }

  function paint(): void {
    if (!pair) return;
    for (const b of modes) b.setAttribute("aria-pressed", String(b.dataset.mode === mode));
    const ids = classes[round];
    const look = looks(ids, rounds[round]);
    if (pointed !== undefined) about.textContent = look(pointed).says;
    pictures[0].paint(look);
    pictures[1].paint((v) => look(v + pair.graphs[0].nodes));
    key.replaceChildren(...legend());
    steps.hidden = mode !== "wl";
    counts.hidden = mode !== "wl";
    drawSteps();
    counts.replaceChildren(census(ids, pair.graphs[0].nodes));
    const waiting = pending;
    controls.show({
      path, pair,
      verdict: round === last() || mode === "parts" ? verdict(path, pair) : duringRounds(path, rounds[round]),
      asked: waiting && `${capital(nameOf(waiting.node))} on the ${isLeft(waiting.node) ? "left" : "right"}: now pick one of the ${waiting.counterparts.length} ringed nodes on the other side. A green ring keeps the colours equal (${waiting.counterparts.filter((c) => c.equal).length}), a dashed red one does not.`,
    });
  }

  function drawVerdicts(): void {
    const one = pair.wl1;
    const two = pair.wl2;
    const badge = (good: boolean, text: string): HTMLElement => h("span", { class: `badge ${good ? "good" : "off"}` }, text);
    verdicts.replaceChildren(
      h("p", {}, h("b", {}, "1-WL "), one.distinguished ? badge(true, `tells them apart after round ${one.round}`) : badge(false, "cannot tell them apart"),
        one.distinguished ? "" : ` The colours settle after ${one.rounds.length - 1} ${one.rounds.length === 2 ? "round" : "rounds"} at ${one.classes}, ${one.classes === 1 ? "which" : "and each"} is on as many nodes left as right. A message-passing network without random features gives both graphs the same answer.`),
      ...(two ? [h("p", {}, h("b", {}, "2-WL "), two.distinguished ? badge(true, two.round === undefined ? "tells them apart" : `tells them apart after round ${two.round}`) : badge(false, "cannot tell them apart either"))] : []),
      ...(pair.isomorphic !== undefined ? [h("p", {}, h("b", {}, "In truth "), pair.isomorphic ? "they are isomorphic: one graph, with its nodes in another order." : "they are not isomorphic.")] : []));
  }

  function open(): void {
    stop();
    pending = pointed = undefined;
    if (!set.pairs[at]) {
      stage.replaceChildren(h("p", { class: "muted" }, set.missing ?? "This data set has no pair of graphs small enough to draw."));
      for (const part of [verdicts, steps, counts, key, about]) part.replaceChildren();
      controls.element.hidden = true;
      return;
    }
    controls.element.hidden = false;
    const chosen = set.pairs[at];
    pair = isPacked(chosen) ? unpack(chosen) : chosen;
    caption.textContent = isPacked(chosen) ? chosen.caption ?? "" : "";
    caption.hidden = caption.textContent === "";
    const [a, b] = pair.graphs;
    path = new Path(join(a, b));
    follow();
    round = start === "wl" ? pair.wl1.rounds.length - 1 : 0;
    const extent = { width: Math.max(a.width, b.width), height: Math.max(a.height, b.height) };
    const handlers = (shift: number) => ({ point: (v: number, says: string) => point(v + shift, says), press: (v: number) => press(v + shift) });
    pictures = [picture(a, extent, handlers(0)), picture(b, extent, handlers(a.nodes))];
    stage.replaceChildren(...pair.graphs.map((g, i) => h("figure", { class: "drawn" },
      h("figcaption", {}, h("b", {}, capital(graphName(g))), `: ${label(g)}${g.nodes} nodes, ${g.edges.length / 2} edges${g.borrowed ? ", placed like its partner" : g.planar === false ? ", not planar: edges cross" : ""}`),
      pictures[i].element)));
    about.textContent = "Point at a node to read what it stands for, click it to individualise it.";
    drawVerdicts();
    paint();
    opened(at);
  }

  function legend(): (Node | string)[] {
    const g = pair.graphs[0];
    const labelled = pair.graphs.some((x) => x.edge_label) ? " Colours of edges stand for their labels, grey is 0." : "";
    if (mode === "wl") return [`A number and its colour name a class of nodes that look the same so far.${g.name ? " Circles are literals, squares disjunctions." : ""}${path.steps.length > 0 ? " A ring with a number: individualised in that step." : ""}${labelled}`];
    if (!g.name) return [pair.graphs.some((x) => x.type.some((t) => t !== x.type[0])) ? "Colours stand for node types." + labelled : "All nodes are of one type." + labelled];
    const item = (cls: string, square: boolean, text: string): Node => h("span", { class: "key-item" },
      svg("svg", { viewBox: "0 0 20 20", class: "graph key-icon", "aria-hidden": "true" }, svg("g", { class: `node ${cls}` }, square ? svg("rect", { x: 3, y: 3, width: 14, height: 14, rx: 2 }) : svg("circle", { cx: 10, cy: 10, r: 8 }))), text);
    const out: (Node | string)[] = g.core
      ? [item("literal core", false, "literal of the core"), item("disjunction core", true, "disjunction of the core"), item("literal planar", false, "literal of the planar part"), item("disjunction planar", true, "disjunction of the planar part")]
      : [item("literal core", false, "literal"), item("disjunction core", true, "disjunction")];
    if (pair.graphs.some((x) => (x.added ?? []).length > 0)) out.push(h("span", { class: "key-item" }, h("span", { class: "key-line" }), "edge added to make the formula satisfiable"));
    return out;
  }

  root.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && pending) { pending = undefined; paint(); }
  });
  const alone = sets.length === 1 && set.pairs.length === 1;
  root.append(
    h("div", { class: "controls" },
      sets.length > 1 && h("label", {}, "Data ", setSelect),
      !alone && [h("label", {}, "Look at ", pairSelect),
        h("button", { type: "button", onclick: () => turn(-1), "aria-label": "Previous pair" }, "◀"),
        h("button", { type: "button", onclick: () => turn(1), "aria-label": "Next pair" }, "▶")],
      h("span", { class: "segments", role: "group", "aria-label": "What colours show" }, modes)),
    caption, steps, stage, about, key, h("div", { class: "below" }, h("div", {}, controls.element, verdicts), counts));
  fillPairs();
  open();
  return { element: root, show };
}
