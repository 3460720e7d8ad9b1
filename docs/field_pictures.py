"""A picture of each field's effect."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import query_pictures
import ranking_pictures
from strips import Panel, describe, draw

# Numbers and divisors in a formula have no effect that a picture of a ranking could show.
UNDRAWN = {"scale", "persistence", "beta_squared", "beta", "alpha", "constant", "variant"}

FOLDER = Path(__file__).parent / "pictures"
PICTURES: dict[str, tuple[Callable[[], list[Panel]], str]] = {
    "k": (
        ranking_pictures.cutoff,
        "A bar shows the amount that its rank adds to DCG. Ranks after k add nothing.",
    ),
    "gain": (
        ranking_pictures.gain,
        "The labels are 1, 2, 0 and 1. The discounts are the same, but the gains differ.",
    ),
    "discount": (
        ranking_pictures.discount,
        (
            "Every document has the gain 1, so the bars are the discounts. Below them is NDCG if only the fifth "
            "document is relevant."
        ),
    ),
    "ideal": (
        ranking_pictures.ideal,
        (
            "The first row is the ranking, in which dashed documents were not retrieved. The second row is the ideal "
            "list at k=3."
        ),
    ),
    "relevant": (
        ranking_pictures.relevant,
        "Faint documents are not relevant. Under `label` each counts as much as its label says.",
    ),
    "count": (
        query_pictures.count,
        "Reciprocal rank at k=4, where three of five documents are relevant and the last one is at rank 5.",
    ),
    "divisor": (
        ranking_pictures.divisor,
        "Average precision at k=3 adds up the precisions at relevant ranks. Each value divides by a different number.",
    ),
    "pairs": (
        ranking_pictures.pairs,
        "An arc joins the two documents of each pair. AUC is the share of pairs in the right order.",
    ),
    "ties": (
        ranking_pictures.ties,
        (
            "The last three of four documents have equal scores (the orange line); their labels are 1, 0 and 2 in "
            "the input. Letters are document ids. `together` is for measures of relevant documents, here "
            "average precision."
        ),
    ),
    "precision": (
        ranking_pictures.precision,
        (
            "The second score is 0.2 and the third 0.000000000001 more, which single precision does not tell "
            "apart. So they tie, and `ties=input` keeps their order in the input."
        ),
    ),
    "retrieve": (
        ranking_pictures.retrieve,
        "The scores are below the documents. Faint documents are not retrieved, so they add nothing.",
    ),
    "short": (
        query_pictures.short,
        "Three queries at k=3, two of them shorter. The number on the right is the value of the query.",
    ),
    "empty": (
        query_pictures.empty,
        "Three queries; the second has no relevant document. The number on the right is the value of the query.",
    ),
    "missing": (
        query_pictures.missing,
        "No document of the second query was retrieved (dashed). `missing=error` refuses such data.",
    ),
    "unjudged": (
        ranking_pictures.unjudged,
        (
            "Nobody judged the second document. `drop` removes it before ranking; `drop-negative` also removes "
            "documents with a label below 0. A label gives it a gain that the "
            "ideal list lacks, so the value may exceed 1. `error` refuses such data."
        ),
    ),
    "pool": (
        query_pictures.pool,
        (
            "AUC of two queries: the mean of their values, the share of all their pairs, or all rows as if one query. "
            "`sums` is for precision, recall and F: one division after adding the hits and divisors of all queries."
        ),
    ),
    "average": (
        query_pictures.average,
        (
            "Three queries, the second of them empty under `empty=1`, with the weights 3, 2 and 1 where weights "
            "count. `query-except-empty` counts an empty query once, but divides by its whole weight."
        ),
    ),
}


def files() -> dict[Path, str]:
    """Return the picture of each field, by its file."""
    return {FOLDER / f"{name}.svg": draw(panels()) for name, (panels, _) in PICTURES.items()}


def shown(name: str) -> str:
    """Return the Markdown that shows the picture of a field, with a sentence before it."""
    panels, lead = PICTURES[name]
    return f"{lead}\n\n![{describe(panels())}]({FOLDER.name}/{name}.svg)\n"
