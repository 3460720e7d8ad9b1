"""Checks of a built site: no link within it is broken, and every picture has an alternative text."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The ids and links of a page, and its pictures without an alternative text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.silent: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect ids, links and pictures."""
        attributes = dict(attrs)
        self.ids.update(attributes[name] or "" for name in ("id", "name") if name in attributes)
        self.links.extend(attributes[name] or "" for name in ("href", "src") if name in attributes)
        if tag == "img" and not (attributes.get("alt") or "").strip():
            self.silent.append(attributes.get("src") or "")


def faults(folder: Path) -> Iterator[str]:
    """Yield a sentence for each broken link, and for each picture without an alternative text."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        yield from (f"{name}: the picture {source} has no alt text" for source in page.silent)
        yield from (f"{name}: the link {link} leads nowhere" for link in page.links if not _leads(link, path, pages))


def _leads(link: str, path: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True  # another site's, which `sphinx-build -b linkcheck` asks
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    # Sphinx's pages of source code lead to the right page, but name some anchors by another module that re-exports.
    if not parts.fragment or target not in pages or "_modules" in path.parts:
        return target.exists()
    return unquote(parts.fragment) in pages[target].ids
