"""Compare every formula with the plain-Python definition, on data and conventions that reach all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.declaration.fields import Cutoff
from rankadapters.core.measures import MEASURES
from rankadapters.core.ranking.compiled import NEVER, NOW, kernels
from tests.helpers.conventions import WITH_PRESET, first_preset
from tests.helpers.oracle_rows import columns_and_scores, takes_probabilities, weights_and_pairs
from tests.oracles import definition
from tests.oracles.rows import Row

pytestmark = pytest.mark.long

# Up to 24 rows in all are sorted without numpy.
SIZES = {"a few rows": (1, 2, 8, 3, 5, 4), "more rows": (1, 12, 30, 2, 19, 24)}
RANKED, PAIRED = ("k", "ties", "retrieve"), ("pairs", "pool", "average", "ties")
POLICIES = ("missing", "unjudged", "empty")  # the value of a preset may refuse rows


def field_values(name: str, kind: Any) -> list[Any]:
    """Return values of a field: those that searches try, each word, and each word with a number."""
    if isinstance(kind, Cutoff):
        return [3, None]
    words = [word for word in getattr(kind, "words", ()) if word != "error"]
    numbers = (1,) if name == "retrieve" else (0.5, 1)
    numbered = [f"{word}_{number}" for word in getattr(kind, "numbered", ()) for number in numbers]
    return list(dict.fromkeys([*kind.tried, *words, *numbered]))


@cache
def grid(measure: str) -> tuple[ra.Convention, ...]:
    """Return a preset with each way to rank or pair, and with each value of the other fields under three tie orders."""
    kinds = MEASURES[measure].declared()
    base = first_preset(measure)
    base = base.replace(**{name: kinds[name].tried[0] for name in POLICIES if name in kinds})
    values = {name: field_values(name, kind) for name, kind in kinds.items()}
    crossed = [name for name in (PAIRED if "pairs" in kinds else RANKED) if name in kinds]
    changes = [dict(zip(crossed, row, strict=True)) for row in product(*(values[name] for name in crossed))]
    ties = [{"ties": word} for word in ("input", "average", "together") if word in values.get("ties", ())] or [{}]
    changes += [{**tie, name: value} for tie in ties for name in kinds if name not in crossed for value in values[name]]
    single_changes = [{name: value} for name in kinds for value in values[name]]
    return tuple(dict.fromkeys(varied(base, changes, single_changes)))


def varied(base: ra.Convention, changes: list[dict[str, Any]], extras: list[dict[str, Any]]) -> Iterator[ra.Convention]:
    """Yield the base with each change, and with the first extra change that makes an invalid one valid."""
    for change in changes:
        for extra in [{}, *extras]:
            with suppress(ra.ConventionError):
                yield base.replace(**{**extra, **change})
                break


@cache
def queries_of(sizes: tuple[int, ...], *, units: bool) -> list[list[Row]]:
    """Return queries with many ties; the query of two rows has no retrieved row.

    In the last query an irrelevant row ranks first and the others tie across any k.
    """
    rng = np.random.default_rng(0)
    queries = []
    for n in sizes:
        labels = rng.choice([0, 0, 0, 1, 2], n) / (4 if units else 1)
        judged = rng.random(n) < 0.9
        retrieved = ~judged | (rng.random(n) < 0.9)
        if n == 2:
            judged[:], retrieved[:] = True, False
        scores, docids = rng.integers(0, 3, n), rng.permutation(n)
        if n == sizes[-1]:
            labels[:2], scores, retrieved[:], judged[:] = (0, labels.max()), np.arange(n) < 1, True, True
        beats = [tuple((j, 0.5) for j in (i - 1, i + 2) if 0 <= j < n) for i in range(n)]
        queries.append([Row(float(labels[i]), float(scores[i]), f"d{docids[i]}", bool(retrieved[i]), bool(judged[i]),
                          (1.0, 2.5, 0.25)[i % 3], beats[i]) for i in range(n)])  # fmt: skip
    return queries


def bind(queries: list[list[Row]], convention: ra.Convention) -> tuple[ra.Evaluator, list[float]]:
    table, scores = columns_and_scores(queries)
    return ra.Evaluator(ra.Queries(**table, **weights_and_pairs(queries, convention)), convention), scores


@pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("measure", WITH_PRESET)
def test_values_equal_the_definition_for_each_value_of_a_field(measure, sizes):
    for convention in grid(measure):
        queries = queries_of(SIZES[sizes], units=takes_probabilities(convention))
        weights = weights_and_pairs(queries, convention).get("query_weight") or [1.0] * len(queries)
        expected = definition.evaluate(list(zip(queries, weights, strict=True)), convention)
        per_query = []
        for choice in (NOW, NEVER):
            with kernels(choice):
                evaluator, scores = bind(queries, convention)
                value = evaluator.evaluate(scores).value
                per_query += [] if convention.over == "rows" else [evaluator.per_query(scores)]
            assert value == pytest.approx(expected, rel=1e-12), (choice, str(convention))
        np.testing.assert_array_equal(*per_query or ([], []), err_msg=str(convention))
