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
#: Graphs side by side are at most so wide together, where one is not.
_WIDTH = 1100.0


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def _colour(number: int, classes: int) -> str:
    """A hue per colour class; the golden angle keeps neighbours apart."""
    return f"hsl({(number * 137.508) % 360:.0f},65%,{45 + 12 * (number % 3)}%)" if classes > 1 else "#4477aa"


def _svg(width: float, height: float, size: int, parts: Sequence[str]) -> str:
    """A picture that shrinks where there is less room; its words have the page's colour."""
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:100%;height:auto" font-family="sans-serif" '
            f'font-size="{size}" fill="currentColor">{"".join(parts)}</svg>')


def _words(lines: Sequence[str]) -> str:
    rows = [f'<text x="8" y="{20 + 18 * i}">{_escaped(line)}</text>' for i, line in enumerate(lines)]
    return _svg(16 + 8 * max(len(line) for line in lines), 16 + 18 * len(lines), 13, rows)


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
    left, top, right, bottom = 12.0, 0.0, 0.0, 0.0
    first = 0
    for g in graphs:
        drawing = _library.handle("tyche_draw", *g._where())
        size, points = drawing.info(), drawing.array("points")
        words = repr(g)[len("Graph("):-1]
        width = max(size["width"] * _SCALE + 16, 7.0 * len(words))
        if left > 12 and left + width > _WIDTH:
            left, top = 12.0, bottom
        at = points * _SCALE + np.array([left + 8, top + 34.0])
        lines = "".join(f'<line x1="{at[u, 0]:.1f}" y1="{at[u, 1]:.1f}" x2="{at[v, 0]:.1f}" y2="{at[v, 1]:.1f}"/>'
                        for u, v in g.edges)
        dots = "".join(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{_colour(int(c), classes)}"><title>node {v}, type {t}, '
            f'colour {c}</title></circle>'
            for v, ((x, y), t, c) in enumerate(zip(at, g.types, stable[first:first + g.num_nodes])))
        if g.set._symbols:  # a molecule has its atoms' names
            from .molecules import symbol

            dots += '<g stroke="none" text-anchor="middle" font-weight="bold">' + "".join(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="9" fill="#fff" stroke="{_colour(int(c), classes)}" stroke-width="2"/>'
                f'<text x="{x:.1f}" y="{y + 4:.1f}" fill="#223" font-size="11">{symbol(int(t))}</text>'
                for (x, y), t, c in zip(at, g.types, stable[first:first + g.num_nodes])) + "</g>"
        body.append(f'<text x="{left:.0f}" y="{top + 16:.0f}">{words}</text><g stroke="#888">{lines}</g>'
                    f'<g stroke="#fff" stroke-width="1">{dots}</g>')
        left += width + 24
        right, bottom = max(right, left), max(bottom, top + size["height"] * _SCALE + 52)
        first += g.num_nodes
    return _svg(right, bottom, 12, body)


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
    steps = max(len(values) - 1, 1)
    points = [f"{x0 + width * i / steps:.1f},{y0 + height * (1 - (v - low) / (high - low)):.1f}"
              for i, v in enumerate(values) if np.isfinite(v)]
    return " ".join(points)


def _range(name: str, curve: Any) -> Tuple[float, float]:
    """What a panel shows: shares from 0 to 1, other numbers from the least to the greatest."""
    known = curve[np.isfinite(curve)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    if "loss" not in name and 0 <= low and high <= 1:
        return 0.0, 1.0
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def curves_svg(result: "TrainResult") -> str:
    """Loss and what was measured besides, epoch by epoch: the mean over folds, and each fold faintly."""
    skip = {"epoch", "seconds", "eval_seconds"}
    names: List[str] = []
    for epoch in result.history:
        names += [name for name in epoch if name not in skip and name not in names]
    if not names:
        return _words(["no epochs"])
    panels: List[str] = []
    width, height, across = 220.0, 110.0, 3
    for i, name in enumerate(names):
        curve = result.curve(name)
        low, high = _range(name, curve)
        left, top = 44 + i % across * (width + 60), 28 + i // across * (height + 52)
        box = (left, top, width, height)
        with np.errstate(all="ignore"):
            mean = np.array([np.mean(c[np.isfinite(c)]) if np.isfinite(c).any() else np.nan for c in curve.T])
        faint = "".join(f'<polyline points="{_line(row, low, high, box)}" opacity="0.25"/>' for row in curve) \
            if len(curve) > 1 else ""
        last = next((f": {v:.4g}" for v in mean[::-1] if np.isfinite(v)), "")
        panels.append(
            f'<rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{height:.0f}" fill="none" stroke="#999"/>'
            f'<g fill="none" stroke="#4477aa" stroke-width="1.5">{faint}<polyline points="{_line(mean, low, high, box)}"/></g>'
            f'<text x="{left:.0f}" y="{top - 10:.0f}">{_escaped(name.replace("_", " "))}{last}</text>'
            f'<text x="{left - 4:.0f}" y="{top + 8:.0f}" text-anchor="end">{high:.3g}</text>'
            f'<text x="{left - 4:.0f}" y="{top + height:.0f}" text-anchor="end">{low:.3g}</text>'
            f'<text x="{left + width:.0f}" y="{top + height + 15:.0f}" text-anchor="end">epoch {curve.shape[1]}</text>')
    rows = (len(names) + across - 1) // across
    return _svg(44 + min(len(names), across) * (width + 60), 28 + rows * (height + 52), 11, panels)
