"""A figure as SVG that stands inside a page: its colours follow the page, its ids are its own, and it has a text."""

from __future__ import annotations

import io
import re
from html import escape
from typing import Any

_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))
_IDS = (r'\bid="', r'href="#', r"url\(#")


def inline_svg(figure: Any, *, name: str, title: str, description: str) -> str:
    """Write a matplotlib figure as an `<svg>` element for an HTML page; the same figure gives the same text.

    Black becomes the colour of the surrounding text, and the ground stays clear. `name` is unique within the page: its
    ids start with it. A screen reader says the title and the description.
    """
    from matplotlib import rc_context

    text = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(text, format="svg", transparent=True, metadata=_NO_METADATA)
    drawn = text.getvalue()
    [box] = re.findall(r'viewBox="([^"]+)"', drawn)
    body = drawn[drawn.index(">", drawn.index("<svg")) + 1 :]
    # The style sheet that matplotlib writes would hold for the whole page.
    body = re.sub(r"<style.*?</style>", "", body, flags=re.DOTALL).replace("#000000", "currentColor")
    for pattern in _IDS:
        body = re.sub(pattern, lambda found: f"{found[0]}{name}-", body)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="{box}" '
        f'role="img" aria-labelledby="{name}-title {name}-description">'
        f'<title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-description">{escape(description)}</desc>'
    )
    return head + body.strip()
