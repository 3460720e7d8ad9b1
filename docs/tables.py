"""Tables of the documentation, made from the code whenever it is built."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import rankadapters as ra
from rankadapters.cli.conventions import rows

GENERATED = Path(__file__).parent / "generated"
CUTOFFS = (1, 3, 5, 10)
BM25_LIKE = 24  # a feature of the generated data, standing in for MQ2008's BM25, its feature 25

Table = list[list[str]]


def write(*_: object) -> None:
    """Write every table beside the pages that include it."""
    GENERATED.mkdir(exist_ok=True)
    for name, table in {"presets": presets(), "inexpressible": inexpressible(), "section3": section3()}.items():
        (GENERATED / f"{name}.md").write_text(markdown(table), encoding="utf-8")


def markdown(table: Table) -> str:
    """Spell a table, head first."""
    head, *body = table
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *body]) + "\n"


def presets() -> Table:
    """Every preset with its fields."""
    found = rows(list(ra.presets.names()), 10)
    head = ["preset", *next(iter(found.values()))]
    return [head, *([f"`{name}`", *(text for text, _ in row.values())] for name, row in found.items())]


def inexpressible() -> Table:
    """What no convention reproduces."""
    return [["what", "why"], *([f"`{name}`", reason] for name, reason in ra.presets.inexpressible().items())]


def section3() -> Table:
    """NDCG of one feature of the generated data under the programs of the paper, with exponential gains."""
    _, test = ra.datasets.mq2008_like(seed=0)
    docid = [f"d{row}" for row in range(test.labels.size)]
    queries = ra.Queries(test.labels, qid=test.qid, docid=docid)
    table = [["preset", *(f"NDCG@{k}" for k in CUTOFFS)]]
    for name, at in programs():
        scores = ra.evaluate_many(queries, test.X[:, BM25_LIKE], [at(k) for k in CUTOFFS])
        table.append([name, *(f"{score.value:.4f}" for score in scores.values())])
    return table


def programs() -> Iterable[tuple[str, object]]:
    """The programs of the paper's Section 3, the fork of its first author, and the definition."""
    for name in ("letor3", "letor4", "mslr", "yahoo", "ranklib", "ranklib_busafekete"):
        yield f"`{name}`", getattr(ra.presets, name)
    yield "`trec_eval_9`, gains 2^l - 1", lambda k: ra.presets.trec_eval_9(k).replace(gain="exp2")
    yield "`trec_eval_9`, gains l", ra.presets.trec_eval_9
    yield "`textbook`", ra.presets.textbook
