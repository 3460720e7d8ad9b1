"""Checks of a built site: no link within it is broken, and every picture has an alternative text."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The ids, links and linked words of a page, and its pictures without an alternative text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.silent: list[str] = []
        self.words: list[str] = []  # that are links
        self._in_link = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect ids, links and pictures."""
        attributes = dict(attrs)
        self.ids.update(attributes[name] or "" for name in ("id", "name") if name in attributes)
        self.links.extend(attributes[name] or "" for name in ("href", "src") if name in attributes)
        self._in_link = tag == "a" or (self._in_link and tag == "em")
        if tag == "img" and not (attributes.get("alt") or "").strip():
            self.silent.append(attributes.get("src") or "")

    def handle_data(self, data: str) -> None:
        """Collect the words that are links of their own."""
        if self._in_link:
            self.words.append(data)

    def handle_endtag(self, tag: str) -> None:
        """End a link."""
        self._in_link = self._in_link and tag != "a"


def faults(folder: Path) -> Iterator[str]:
    """Yield a sentence for each broken link, and for each picture without an alternative text."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        yield from (f"{name}: the picture {source} has no alt text" for source in page.silent)
        yield from (f"{name}: the link {link} leads nowhere" for link in page.links if not _leads(link, path, pages))
        yield from (f"{name}: {link} is a text such as measure@10" for link in page.links if _is_measure(link))
        yield from (f"{name}: the word {word} of a type is a link" for word in page.words if word == "optional")


def _is_measure(link: str) -> bool:
    """Return whether a link is to the "address" of a text such as `ndcg@10`."""
    return link.startswith("mailto:") and unquote(link).rpartition("@")[2].isdigit()


def _leads(link: str, path: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True  # another site's, which `sphinx-build -b linkcheck` asks
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    # Sphinx's pages of source code lead to the right page, but name some anchors by another module that re-exports.
    if not parts.fragment or target not in pages or "_modules" in path.parts:
        return target.exists()
    return unquote(parts.fragment) in pages[target].ids
