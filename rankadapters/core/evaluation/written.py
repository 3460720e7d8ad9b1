"""Results written as paragraphs and tables, in Markdown and LaTeX."""

from __future__ import annotations

from abc import ABC, abstractmethod

from rankadapters.core.evaluation.table import Table, as_latex, as_markdown


class Written(ABC):
    """Base class of results that can be written as paragraphs and tables."""

    __slots__ = ()

    @abstractmethod
    def blocks(self) -> list[str | Table]:
        """Return the paragraphs and tables in reading order."""

    def to_markdown(self) -> str:
        """Return the paragraphs and tables in Markdown."""
        return "\n\n".join(b.markdown() if isinstance(b, Table) else _markdown(b) for b in self.blocks()) + "\n"

    def to_latex(self) -> str:
        """Return the paragraphs and tables in LaTeX, which needs the package booktabs; captions are comments.

        Lines may break after the slashes of a signature.
        """
        return "\n\n".join(b.latex() if isinstance(b, Table) else _latex(b) for b in self.blocks()) + "\n"


def _markdown(paragraph: str) -> str:
    return as_markdown(paragraph).replace("\n", "  \n")  # two spaces keep a line's end in Markdown


def _latex(paragraph: str) -> str:
    lines = [as_latex(line).replace("/", r"/\allowbreak{}") for line in paragraph.split("\n")]
    return "{\\footnotesize\\raggedright " + " \\\\\n".join(lines) + "\\par}"
