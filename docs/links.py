"""What a built site must keep: every link within it leads somewhere, and every picture has a text in its place."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The ids, links and pictures without a text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.silent: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what is checked."""
        found = dict(attrs)
        self.ids.update(found[name] or "" for name in ("id", "name") if name in found)
        self.links.extend(found[name] or "" for name in ("href", "src") if name in found)
        if tag == "img" and not (found.get("alt") or "").strip():
            self.silent.append(found.get("src") or "")


def faults(folder: Path) -> Iterator[str]:
    """Say of each page of a built site which of its links are broken and which pictures have no text."""
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
