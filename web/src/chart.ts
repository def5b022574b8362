// A figure of learning curves: ours as lines with a band of one deviation, the paper's dashed under them. The legend is a table
// that shows or hides a model and reads its values off at an epoch, chosen by pointer or by slider.
import * as Plot from "@observablehq/plot";
import { modelColour } from "./colours";
import type { Curve } from "./data";
import { h, svg } from "./dom";

export interface Series {
  name: string;
  ours?: Curve;
  paper?: Curve;
  /** What `ours` is the mean of, drawn thin. */
  folds?: Curve[];
}

export interface ChartOptions {
  title: string;
  yLabel: string;
  /** The band of one deviation around ours makes sense here. */
  band: boolean;
  /** Accuracies end at 100. */
  percent: boolean;
  /** The axis is as long as the curves are high, and numbers have four digits: for losses and errors in a unit of their own. */
  fit?: boolean;
  /** What `ours` is called in the legend. */
  column?: string;
}

interface Point {
  epoch: number;
  value: number;
  low: number;
  high: number;
}

const points = (curve: Curve, most: number): Point[] =>
  curve.epoch.map((epoch, i) => {
    const d = curve.deviation?.[i] ?? 0;
    return { epoch, value: curve.mean[i], low: curve.mean[i] - d, high: Math.min(most, curve.mean[i] + d) };
  });

const SMOOTH = 5;

/** Means over SMOOTH epochs, fewer at the ends: single epochs jump with the random draws and with few test graphs. */
function smoothed(curve: Curve): Curve {
  const over = (values: number[]): number[] => values.map((_, i) => {
    const half = Math.min((SMOOTH - 1) / 2, i, values.length - 1 - i);
    const part = values.slice(i - half, i + half + 1);
    return part.reduce((sum, v) => sum + v, 0) / part.length;
  });
  return { epoch: curve.epoch, mean: over(curve.mean), deviation: curve.deviation && over(curve.deviation) };
}

/** The value at an epoch, between the two nearest points; nothing outside the curve. */
function valueAt(curve: Curve | undefined, epoch: number): number | undefined {
  if (!curve || curve.epoch.length === 0 || epoch < curve.epoch[0] || epoch > curve.epoch[curve.epoch.length - 1]) return undefined;
  let i = curve.epoch.findIndex((e) => e >= epoch);
  if (curve.epoch[i] === epoch || i === 0) return curve.mean[i];
  const [a, b] = [curve.epoch[i - 1], curve.epoch[i]];
  return curve.mean[i - 1] + ((curve.mean[i] - curve.mean[i - 1]) * (epoch - a)) / (b - a);
}

const lastEpoch = (curve?: Curve): number => (curve && curve.epoch.length > 0 ? curve.epoch[curve.epoch.length - 1] : 0);

export function chart(series: Series[], options: ChartOptions): HTMLElement {
  const hidden = new Set<string>();
  const oursEnd = Math.max(0, ...series.flatMap((s) => [s.ours, ...(s.folds ?? [])]).map(lastEpoch));
  const paperEnd = Math.max(0, ...series.map((s) => lastEpoch(s.paper)));
  const hasPaper = paperEnd > 0;
  // Where our runs were much shorter than the paper's, ours fill the width until asked otherwise.
  const shorter = hasPaper && oursEnd > 0 && oursEnd < 0.8 * paperEnd;
  const long = series.some((s) => (s.ours?.epoch.length ?? 0) >= 20 * SMOOTH);
  const several = series.some((s) => (s.folds?.length ?? 0) > 1);
  const state = { paper: true, band: options.band, wide: !shorter, smooth: long, folds: several, epoch: 0 };
  const most = options.fit && !options.percent ? Infinity : 100;
  const inDigits = (value: number): string => options.fit ? String(Number(value.toPrecision(4))) : value.toFixed(2);
  const drawn = (curve: Curve): Point[] => points(state.smooth ? smoothed(curve) : curve, most);
  const end = (): number => (state.wide ? Math.max(oursEnd, paperEnd) : oursEnd || paperEnd);
  state.epoch = oursEnd || paperEnd;

  const holder = h("div", { class: "plot" });
  const cells = new Map<string, { ours: HTMLElement; paper: HTMLElement }>();
  const epochText = h("output", { class: "epoch" });
  const slider = h("input", {
    type: "range", min: 1, step: 1, "aria-label": `Epoch at which the values of ${options.title} are read`,
    oninput: () => readAt(Number(slider.value)),
  });
  let frame: { x: (epoch: number) => number; invert: (x: number) => number; rule: SVGLineElement } | null = null;

  // A curve that ended earlier keeps its last value, greyed.
  function write(cell: HTMLElement, value: number | undefined, curve: Curve | undefined): void {
    const ended = curve !== undefined && value === undefined && lastEpoch(curve) > 0 && state.epoch > lastEpoch(curve);
    cell.className = ended ? "ended" : "";
    cell.title = ended ? `after its last epoch, ${lastEpoch(curve)}` : "";
    cell.textContent = ended ? inDigits(curve.mean[curve.mean.length - 1]) : value === undefined ? "–" : inDigits(value);
  }

  function readAt(epoch: number): void {
    state.epoch = Math.max(1, Math.min(Math.round(epoch), end()));
    slider.value = String(state.epoch);
    epochText.textContent = `epoch ${state.epoch}`;
    for (const s of series) {
      const cell = cells.get(s.name)!;
      const [ours, paper] = [valueAt(s.ours, state.epoch), valueAt(s.paper, state.epoch)];
      write(cell.ours, ours, s.ours);
      write(cell.paper, paper, s.paper);
    }
    if (frame) {
      const x = String(frame.x(state.epoch));
      frame.rule.setAttribute("x1", x);
      frame.rule.setAttribute("x2", x);
    }
  }

  function render(): void {
    const width = holder.clientWidth;
    if (width === 0) return;
    const shown = series.filter((s) => !hidden.has(s.name));
    // Up to the first point beyond the end, so that a line runs on to the frame, which clips it.
    const inside = (p: Point, i: number, all: Point[]): boolean => i === 0 ? p.epoch <= end() : all[i - 1].epoch < end();
    const marks: Plot.Markish[] = [];
    let low = options.fit ? Infinity : options.percent ? 50 : 0;
    let high = options.fit ? -Infinity : options.percent ? 100 : 1;
    const fit = (values: number[]): void => {
      for (const v of values) [low, high] = [Math.min(low, v), Math.max(high, v)];
    };
    if (options.percent && !options.fit) marks.push(Plot.ruleY([50], { stroke: "currentColor", strokeOpacity: 0.35, strokeDasharray: "2,3" }));
    for (const s of shown) {
      const stroke = modelColour(s.name);
      if (s.paper && state.paper) {
        const data = points(s.paper, most).filter(inside);
        fit(data.map((p) => p.value));
        marks.push(Plot.lineY(data, { x: "epoch", y: "value", stroke, strokeWidth: 1.5, strokeDasharray: "5,4", strokeOpacity: 0.75, clip: true, className: "paper-line" }));
      }
    }
    for (const s of shown) {
      if (!s.ours || !state.band) continue;
      const data = drawn(s.ours).filter(inside);
      fit(data.map((p) => p.low));
      if (options.fit) fit(data.map((p) => p.high));
      marks.push(Plot.areaY(data, { x: "epoch", y1: "low", y2: "high", fill: modelColour(s.name), fillOpacity: 0.13, clip: true, className: "band" }));
    }
    for (const s of state.folds ? shown : []) {
      for (const fold of s.folds ?? []) {
        const data = drawn(fold).filter(inside);
        fit(data.map((p) => p.value));
        marks.push(Plot.lineY(data, { x: "epoch", y: "value", stroke: modelColour(s.name), strokeWidth: 1, strokeOpacity: 0.4, clip: true, className: "fold-line" }));
        if (data.length === 1) marks.push(Plot.dot(data, { x: "epoch", y: "value", stroke: modelColour(s.name), strokeOpacity: 0.4 }));
      }
    }
    for (const s of shown) {
      if (!s.ours) continue;
      const data = drawn(s.ours).filter(inside);
      fit(data.map((p) => p.value));
      const stroke = modelColour(s.name);
      marks.push(Plot.lineY(data, { x: "epoch", y: "value", stroke, strokeWidth: 2.2, strokeLinejoin: "round", clip: true, className: "our-line" }));
      if (data.length === 1) marks.push(Plot.dot(data, { x: "epoch", y: "value", fill: stroke }));
    }
    const range = (): [number, number] => {
      if (!options.fit) return [Math.max(0, Math.floor(low / 5) * 5), high];
      if (!(low <= high)) return [0, 1];  // all are hidden
      return low === high ? [low - Math.abs(low || 1) / 10, high + Math.abs(high || 1) / 10] : [low, high];
    };
    const height = Math.round(Math.max(220, Math.min(360, width * 0.52)));
    const plot = Plot.plot({
      width, height, marginLeft: options.fit ? 56 : 44, marginRight: 12, marginBottom: 36,
      style: { background: "none", color: "inherit", fontSize: "12px", overflow: "visible" },
      x: { label: "epoch", domain: [0, Math.max(1, end())], nice: false, labelArrow: "none" },
      y: { label: options.yLabel, domain: range(), nice: options.fit, grid: true, labelArrow: "none" },
      marks,
    }) as SVGSVGElement & Plot.Plot;
    plot.setAttribute("role", "img");
    plot.setAttribute("aria-label", `${options.title}: ${options.yLabel} by epoch of ${shown.map((s) => s.name).join(", ")}`);
    const scale = plot.scale("x")!;
    const rule = svg("line", { class: "reading", y1: 20, y2: height - 36 });
    plot.append(rule);
    frame = { x: (e) => scale.apply(e) as number, invert: (x) => scale.invert!(x) as number, rule };
    const follow = (event: PointerEvent): void => {
      const box = plot.getBoundingClientRect();
      readAt(frame!.invert(((event.clientX - box.left) * width) / box.width));
    };
    plot.addEventListener("pointermove", follow);
    plot.addEventListener("pointerdown", follow);
    holder.replaceChildren(plot);
    slider.max = String(Math.max(1, end()));
    readAt(state.epoch);
  }

  const legend = h("table", { class: "legend" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, epochText), h("th", { scope: "col" }, options.column ?? "ours"), hasPaper && h("th", { scope: "col" }, "paper"))),
    h("tbody", {}, series.map((s) => {
      const ours = h("td", {});
      const paper = h("td", {});
      cells.set(s.name, { ours, paper });
      const button = h("button", {
        type: "button", class: "toggle", "aria-pressed": "true", title: "Show or hide",
        onclick: () => {
          if (hidden.has(s.name)) hidden.delete(s.name);
          else hidden.add(s.name);
          button.setAttribute("aria-pressed", String(!hidden.has(s.name)));
          render();
        },
      }, h("span", { class: "swatch", style: `--c:${modelColour(s.name)}` }), h("span", {}, s.name));
      return h("tr", {}, h("th", { scope: "row" }, button), ours, hasPaper && paper);
    })));

  const check = (label: string, on: boolean, change: (value: boolean) => void): HTMLElement => {
    const box = h("input", { type: "checkbox", checked: on, onchange: () => { change(box.checked); render(); } });
    return h("label", { class: "check" }, box, label);
  };
  const controls = h("div", { class: "controls" },
    hasPaper && check("the paper’s curves (dashed)", true, (v) => { state.paper = v; }),
    several && check("every fold (thin)", true, (v) => { state.folds = v; }),
    options.band && check("± one deviation", true, (v) => { state.band = v; }),
    long && check(`our lines smoothed over ${SMOOTH} epochs`, true, (v) => { state.smooth = v; }),
    shorter && check(`all ${paperEnd} epochs of the paper`, false, (v) => { state.wide = v; }));

  new ResizeObserver(() => render()).observe(holder);
  const figure = h("figure", { class: "chart" },
    h("figcaption", {}, options.title),
    h("div", { class: "chart-body" }, h("div", { class: "plot-side" }, holder, h("div", { class: "reader" }, slider), controls), h("div", { class: "legend-side" }, legend)));
  return figure;
}
