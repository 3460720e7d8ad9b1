"""The figure class of every plot; this module imports matplotlib, so it is imported only for drawing."""

from __future__ import annotations

import io

from matplotlib import rc_context
from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure that a notebook displays without pyplot, a window or a backend."""

    def _repr_svg_(self) -> str:
        """Return the figure as SVG; the same figure gives the same text."""
        text = io.StringIO()
        with rc_context({"svg.hashsalt": "rankadapters"}):
            self.savefig(text, format="svg", metadata={"Date": None})
        return text.getvalue()
