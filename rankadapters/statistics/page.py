"""Write self-contained HTML pages: headings, texts, tables, reports and figures."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, NamedTuple

from rankadapters.core import __version__
from rankadapters.evaluation.table import Table, Written
from rankadapters.statistics.document import as_paragraph

_STYLE = """\
:root { color-scheme: light dark; }
body { margin: 0 auto; padding: 1rem; max-width: 100rem; background: Canvas; color: CanvasText;
  font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
p { overflow-wrap: anywhere; max-width: 60rem; } h1 + p { font-size: 1.25rem; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding-bottom: .4rem; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; vertical-align: top; }
td[style], tbody th { white-space: nowrap; }
thead th { border-bottom: 1px solid; }
figure { margin: 1rem 0; } img { max-width: 100%; height: auto; }"""


class Picture(NamedTuple):
    """A matplotlib figure, its caption, and the text that a screen reader reads in its place."""

    figure: Any
    caption: str
    description: str


Part = str | Table | Written | Picture


def write_page(title: str, sections: Mapping[str, Iterable[Part]]) -> str:
    """Return one HTML file that needs no network, no script and no other file; an empty heading is not shown."""
    blocks: list[str] = []
    for heading, parts in sections.items():
        blocks += [*([f"<h2>{escape(heading)}</h2>"] if heading else []), *map(_html, parts)]
    body = "\n".join(blocks)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="rankadapters {__version__}">
<title>{escape(title)}</title>
<style>
{_STYLE}
</style>
</head>
<body>
<main>
<h1>{escape(title)}</h1>
{body}
</main>
<footer><p>Made by rankadapters {__version__}.</p></footer>
</body>
</html>
"""


def _html(part: Part) -> str:
    if isinstance(part, Written):
        return "\n".join(map(_html, part.blocks()))
    if isinstance(part, Table):
        return f'<div class="scroll" role="region" aria-label="{escape(part.caption)}" tabindex="0">{part.html()}</div>'
    if isinstance(part, Picture):
        source = f"data:image/svg+xml;base64,{b64encode(part.figure._repr_svg_().encode()).decode()}"
        image, caption = f'<img src="{source}" alt="{escape(part.description)}">', escape(part.caption)
        return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"
    return as_paragraph(part)
