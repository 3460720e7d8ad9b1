"""A self-contained HTML page: sections of paragraphs, tables and charts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, NamedTuple

from rankadapters.core import __version__
from rankadapters.core.errors import MissingToolkitError
from rankadapters.core.evaluation.table import Table


class Chart(NamedTuple):
    """A chart and its caption."""

    svg: str
    caption: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A section of the page."""

    name: str
    heading: str
    paragraphs: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    signatures: Mapping[str, str] | None = None


class Page:
    """The page's template, which needs jinja2.

    Raises
    ------
    MissingToolkitError
        jinja2 is not installed.
    """

    def __init__(self) -> None:
        try:
            from jinja2 import Environment, StrictUndefined
        except ImportError:
            raise MissingToolkitError.of("jinja2", "report") from None
        environment = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
        text = files("rankadapters.statistics").joinpath("page.html.jinja").read_text(encoding="utf-8")
        self._template: Any = environment.from_string(text)

    def write(self, title: str, summary: str, sections: Iterable[Section]) -> str:
        """Return the page's HTML: a title, one sentence of summary, then the sections."""
        return str(self._template.render(title=title, summary=summary, sections=list(sections), version=__version__))
