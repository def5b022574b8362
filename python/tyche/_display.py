"""Pictures for notebooks, as SVG: graphs coloured by colour refinement, curves of training."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Sequence, Tuple

import numpy as np

from . import _library
from ._convert import as_set

if TYPE_CHECKING:
    from ._graphs import Graph
    from ._training import TrainResult

#: Graphs with more nodes are shown as words.
MOST_NODES = 200
_SCALE = 34.0


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _colour(number: int, classes: int) -> str:
    """A hue per colour class; the golden angle keeps neighbours apart."""
    return f"hsl({(number * 137.508) % 360:.0f},65%,{45 + 12 * (number % 3)}%)" if classes > 1 else "#4477aa"


def _words(lines: Sequence[str]) -> str:
    rows = "".join(f'<text x="8" y="{20 + 18 * i}">{_escaped(line)}</text>' for i, line in enumerate(lines))
    width = 16 + 8 * max(len(line) for line in lines)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{16 + 18 * len(lines)}" '
            f'font-family="sans-serif" font-size="13">{rows}</svg>')


def graphs_svg(graphs: Sequence["Graph"]) -> str:
    """Graphs side by side. Nodes have the colours of joint colour refinement: equal ones 1-WL cannot tell apart."""
    from ._tests import colours

    if not graphs:
        return _words(["no graphs"])
    if any(g.num_nodes > MOST_NODES for g in graphs):
        return _words([repr(g) for g in graphs] + [f"graphs of more than {MOST_NODES} nodes are not drawn"])
    together = as_set(list(graphs))
    stable = colours(together)
    classes = int(stable.max()) + 1 if stable.size else 1
    body: List[str] = []
    left, height = 12.0, 0.0
    first = 0
    for g in graphs:
        drawing = _library.handle("tyche_draw", *g._where())
        size, points = drawing.info(), drawing.array("points")
        at = points * _SCALE + np.array([left + 8, 34.0])
        lines = "".join(f'<line x1="{at[u, 0]:.1f}" y1="{at[u, 1]:.1f}" x2="{at[v, 0]:.1f}" y2="{at[v, 1]:.1f}"/>'
                        for u, v in g.edges)
        dots = "".join(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{_colour(int(c), classes)}"><title>node {v}, type {t}, '
            f'colour {c}</title></circle>'
            for v, ((x, y), t, c) in enumerate(zip(at, g.types, stable[first:first + g.num_nodes])))
        words = f"{g.num_nodes} nodes, {g.num_edges} edges" + ("" if g.label is None else f", label {g.label}")
        width = max(size["width"] * _SCALE + 16, 7.0 * len(words))
        body.append(f'<text x="{left:.0f}" y="16">{words}</text><g stroke="#888">{lines}</g>'
                    f'<g stroke="#fff" stroke-width="1">{dots}</g>')
        left += width + 24
        height = max(height, size["height"] * _SCALE + 52)
        first += g.num_nodes
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{left:.0f}" height="{height:.0f}" font-family="sans-serif" '
            f'font-size="12" fill="currentColor">{"".join(body)}</svg>')


class Pair:
    """Two graphs side by side, for a notebook: ``tyche.pair(a, b)``."""

    def __init__(self, first: Any, second: Any) -> None:
        from ._convert import as_graph

        self.graphs = (as_graph(first), as_graph(second))

    def __repr__(self) -> str:
        return f"Pair({self.graphs[0]!r}, {self.graphs[1]!r})"

    def _repr_svg_(self) -> str:
        return graphs_svg(self.graphs)


def pair(first: Any, second: Any) -> Pair:
    """Two graphs to look at: in a notebook they draw themselves, in the colours of joint refinement.

    >>> import tyche
    >>> tyche.pair("EhEG", "EwCW")
    Pair(Graph(6 nodes, 6 edges), Graph(6 nodes, 6 edges))
    """
    return Pair(first, second)


def _line(values: Any, low: float, high: float, box: Tuple[float, float, float, float]) -> str:
    x0, y0, width, height = box
    span = (high - low) or 1.0
    steps = max(len(values) - 1, 1)
    points = [f"{x0 + width * i / steps:.1f},{y0 + height * (1 - (v - low) / span):.1f}"
              for i, v in enumerate(values) if np.isfinite(v)]
    return " ".join(points)


def curves_svg(result: "TrainResult") -> str:
    """Loss and what was measured besides, epoch by epoch: the mean over folds, and each fold faintly."""
    skip = {"epoch", "seconds", "eval_seconds"}
    names: List[str] = []
    for epoch in result.history:
        names += [name for name in epoch if name not in skip and name not in names]
    if not names:
        return _words(["no epochs"])
    panels: List[str] = []
    width, height = 260.0, 130.0
    for i, name in enumerate(names):
        curve = result.curve(name)
        known = curve[np.isfinite(curve)]
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        box = (44 + i * (width + 70), 28.0, width, height)
        with np.errstate(all="ignore"):
            mean = np.array([np.mean(c[np.isfinite(c)]) if np.isfinite(c).any() else np.nan for c in curve.T])
        faint = "".join(f'<polyline points="{_line(row, low, high, box)}" opacity="0.25"/>' for row in curve) \
            if len(curve) > 1 else ""
        panels.append(
            f'<g fill="none" stroke="#4477aa" stroke-width="1.5">{faint}<polyline points="{_line(mean, low, high, box)}"/></g>'
            f'<rect x="{box[0]:.0f}" y="28" width="{width:.0f}" height="{height:.0f}" fill="none" stroke="#999"/>'
            f'<text x="{box[0]:.0f}" y="18">{_escaped(name.replace("_", " "))}</text>'
            f'<text x="{box[0] - 4:.0f}" y="36" text-anchor="end">{high:.3g}</text>'
            f'<text x="{box[0] - 4:.0f}" y="{28 + height:.0f}" text-anchor="end">{low:.3g}</text>'
            f'<text x="{box[0] + width:.0f}" y="{46 + height:.0f}" text-anchor="end">epoch {curve.shape[1]}</text>')
    total = 44 + len(names) * (width + 70)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{total:.0f}" height="{height + 60:.0f}" '
            f'font-family="sans-serif" font-size="11" fill="currentColor">{"".join(panels)}</svg>')
