"""Convert a figure to SVG inside a page: with the page's colors, unique ids, and text for screen readers."""

from __future__ import annotations

import io
import re
from html import escape
from typing import Any

_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_IDS = (r'\bid="', r'href="#', r"url\(#")


def inline_svg(figure: Any, *, name: str, title: str, description: str) -> str:
    """Return a matplotlib figure as an `<svg>` element for an HTML page; the same figure gives the same text.

    Black becomes the color of the surrounding text, and the background is transparent. All ids start with `name`,
    which must be unique within the page. A screen reader reads the title and the description.
    """
    from matplotlib import rc_context

    text = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(text, format="svg", transparent=True, metadata=_NO_METADATA)
    svg = text.getvalue()
    [box] = re.findall(r'viewBox="([^"]+)"', svg)
    body = svg[svg.index(">", svg.index("<svg")) + 1 :]
    # The style sheet that matplotlib writes would apply to the whole page.
    body = re.sub(r"<style.*?</style>", "", body, flags=re.DOTALL).replace("#000000", "currentColor")
    for pattern in _IDS:
        body = re.sub(pattern, lambda match: f"{match[0]}{name}-", body)
    header = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{box}" '
        f'role="img" aria-labelledby="{name}-title {name}-description">'
        f'<title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-description">{escape(description)}</desc>'
    )
    return header + body.strip()
