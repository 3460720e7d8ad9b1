"""The figure that every plot draws into; this module imports matplotlib and is imported only when one is drawn."""

from __future__ import annotations

import io

from matplotlib import rc_context
from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure that a notebook shows as it stands, pyplot or not; tied to no window and no backend."""

    def _repr_svg_(self) -> str:
        """Draw it; the same figure gives the same text."""
        text = io.StringIO()
        with rc_context({"svg.hashsalt": "rankadapters"}):
            self.savefig(text, format="svg", metadata={"Date": None})
        return text.getvalue()
