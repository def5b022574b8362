"""A progress bar: tqdm's where it is installed, a plain one elsewhere, none where nobody looks."""
from __future__ import annotations

import sys
import time
from typing import Any, Optional


def _watched() -> bool:
    """Whether somebody may look: a terminal, or a notebook."""
    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", lambda: False)())


class Bar:
    """``wanted`` None: where somebody may look, and only for work of more than a second."""

    def __init__(self, total: int, unit: str, wanted: Optional[bool]) -> None:
        self._total, self._unit, self._done = total, unit, 0
        self._on = _watched() if wanted is None else wanted
        self._begun = self._shown = time.monotonic()
        self._wait = 1.0 if wanted is None else 0.0
        self._bar: Any = None

    def add(self, note: str) -> None:
        """One more is done."""
        self._done += 1
        now = time.monotonic()
        if not self._on or now - self._begun < self._wait:
            return
        if self._bar is None:
            self._bar = self._make()
        if self._bar is not False:
            self._bar.set_postfix_str(note, refresh=False)
            self._bar.update(self._done - self._bar.n)
        elif now - self._shown > 0.2 or self._done == self._total:
            self._shown = now
            sys.stderr.write(f"\r{self._unit} {self._done}/{self._total}  {note}\x1b[K")
            sys.stderr.flush()

    def _make(self) -> Any:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return False
        return tqdm(total=self._total, unit=self._unit, initial=0, leave=False)

    def close(self) -> None:
        """Takes the bar away."""
        if self._bar:
            self._bar.close()
        elif self._bar is False:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
