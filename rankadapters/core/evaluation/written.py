"""What results are written as: paragraphs and tables, in Markdown and in LaTeX."""

from __future__ import annotations

from abc import ABC, abstractmethod

from rankadapters.core.evaluation.table import Table, as_latex, as_markdown


class Written(ABC):
    """A result that can be read: paragraphs and tables."""

    __slots__ = ()

    @abstractmethod
    def blocks(self) -> list[str | Table]:
        """Give the paragraphs and tables in the order of reading."""

    def to_markdown(self) -> str:
        """Write paragraphs and tables in Markdown."""
        return "\n\n".join(b.markdown() if isinstance(b, Table) else _markdown(b) for b in self.blocks()) + "\n"

    def to_latex(self) -> str:
        """Write paragraphs and tables in LaTeX, which need the package booktabs; captions are comments.

        Signatures may be broken across lines after a slash.
        """
        return "\n\n".join(b.latex() if isinstance(b, Table) else _latex(b) for b in self.blocks()) + "\n"


def _markdown(paragraph: str) -> str:
    return as_markdown(paragraph).replace("\n", "  \n")  # two spaces keep a line's end in Markdown


def _latex(paragraph: str) -> str:
    lines = [as_latex(line).replace("/", r"/\allowbreak{}") for line in paragraph.split("\n")]
    return "{\\footnotesize\\raggedright " + " \\\\\n".join(lines) + "\\par}"
