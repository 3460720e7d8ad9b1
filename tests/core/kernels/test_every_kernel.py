"""Every kernel of evaluation against the plain-Python definition, on rows and conventions that leave none out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from inspect import getmembers, isfunction
from itertools import product
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core import kernels as kernels_of_core
from rankadapters.core import presets
from rankadapters.core.declaration.number_fields import Cutoff
from rankadapters.core.kernels import Kernel, Steps, dispatch
from rankadapters.core.kernels.dispatch import NEVER, NOW, kernels
from rankadapters.core.measures import MEASURES
from tests.core.kernels.test_against_definition import columns, takes_probabilities, weights_of
from tests.helpers.tables import for_each
from tests.oracles import definition
from tests.oracles.rows import Row

AROUND_KERNELS = {"compiling", "dispatch", "kept_code", "in_numpy", "views"}
HELPERS = {"sorting"}  # what kernels share
UNRANKED = {"exact"}  # sums of values and digests of rows, whose tests are those of tallies and fingerprints
INSIDE = {"gather", "exponentials_below"}  # other kernels
# Tested by Trials and where much was compiled, in test_forms.
TRIED = {"dcg.discounted_sums_in_steps", "dcg.discounted_sums_of_short_queries"}
# Queries of at most 8 rows are ranked and summed up at once, and 24 rows in all are not worth numpy.
SIZES = {"a few rows": (1, 2, 8, 3, 5, 4), "more rows": (1, 12, 30, 2, 19, 24)}
RANKED, PAIRED = ("k", "ties", "retrieve"), ("pairs", "pool", "average", "ties")
POLICIES = ("missing", "unjudged", "empty")  # which refuse some of the rows, unless they are told what to do


def listed(name: str, kind: Any) -> list[Any]:
    """Values of one field: those that searches try, each word, and each word with a number."""
    if isinstance(kind, Cutoff):
        return [3, None]
    words = [word for word in getattr(kind, "words", ()) if word != "error"]
    numbers = (1,) if name == "retrieve" else (0.5, 1)
    numbered = [f"{word}_{number}" for word in getattr(kind, "numbered", ()) for number in numbers]
    return list(dict.fromkeys([*kind.tried, *words, *numbered]))


@cache
def grid(measure: str) -> tuple[ra.Convention, ...]:
    """A preset in each way to rank or to pair, and under three orders of ties with each other field in turn."""
    kinds = MEASURES[measure].declared()
    base = presets.make(presets.names(measure)[0], 3)
    base = base.replace(**{name: kinds[name].tried[0] for name in POLICIES if name in kinds})
    values = {name: listed(name, kind) for name, kind in kinds.items()}
    crossed = PAIRED if "pairs" in kinds else RANKED
    ways = product(*(values[name] for name in crossed if name in kinds))
    changes = [dict(zip((name for name in crossed if name in kinds), way, strict=True)) for way in ways]
    ties = [{"ties": word} for word in ("input", "average", "together") if word in values.get("ties", ())] or [{}]
    changes += [{**tie, name: value} for tie in ties for name in kinds if name not in crossed for value in values[name]]
    singly = [{name: value} for name in kinds for value in values[name]]
    return tuple(dict.fromkeys(varied(base, changes, singly)))


def varied(base: ra.Convention, changes: list[dict[str, Any]], others: list[dict[str, Any]]) -> Iterator[ra.Convention]:
    """Change fields, and where they do not go together with the rest, the first other one that lets them."""
    for change in changes:
        for other in [{}, *others]:
            with suppress(ra.ConventionError):
                yield base.replace(**{**other, **change})
                break


@cache
def queries_of(sizes: tuple[int, ...], *, units: bool) -> list[list[Row]]:
    """Many ties; in the last query one row that is not relevant stands before all others, which tie across any k."""
    rng = np.random.default_rng(0)
    found = []
    for n in sizes:
        labels = rng.choice([0, 0, 0, 1, 2], n) / (4 if units else 1)
        judged = rng.random(n) < 0.9
        retrieved = ~judged | (rng.random(n) < 0.9)
        scores, docids = rng.integers(0, 3, n), rng.permutation(n)
        if n == sizes[-1]:
            labels[:2], scores, retrieved[:], judged[:] = (0, labels.max()), np.arange(n) < 1, True, True
        beats = [tuple((j, 0.5) for j in (i - 1, i + 2) if 0 <= j < n) for i in range(n)]
        found.append([Row(float(labels[i]), float(scores[i]), f"d{docids[i]}", bool(retrieved[i]), bool(judged[i]),
                          (1.0, 2.5, 0.25)[i % 3], beats[i]) for i in range(n)])  # fmt: skip
    return found


def bound(queries: list[list[Row]], convention: ra.Convention) -> tuple[ra.Evaluator, list[float]]:
    table, scores = columns(queries)
    return ra.Evaluator(ra.Queries(**table, **weights_of(queries, convention)), convention), scores


@pytest.mark.filterwarnings("ignore::rankadapters.AboveValuesWarning")  # the definition does not warn
@pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("measure", MEASURES)
def test_values_are_those_of_the_definition_field_by_field(measure, sizes):
    for convention in grid(measure):
        queries = queries_of(SIZES[sizes], units=takes_probabilities(convention))
        weights = weights_of(queries, convention).get("query_weight") or [1.0] * len(queries)
        expected = definition.evaluate(list(zip(queries, weights, strict=True)), convention)
        of_queries = []
        for choice in (NOW, NEVER):
            with kernels(choice):
                evaluator, scores = bound(queries, convention)
                value = evaluator.evaluate(scores).value
                of_queries += [] if convention.over == "rows" else [evaluator.per_query(scores)]
            assert value == pytest.approx(expected, rel=1e-12), (choice, str(convention))
        np.testing.assert_array_equal(*of_queries or ([], []), err_msg=str(convention))


MODULES = sorted({each.name for each in iter_modules(kernels_of_core.__path__)} - AROUND_KERNELS)


@for_each("name", MODULES)
def test_every_kernel_is_machine_code(name):
    """Called from Python without its decorator, a kernel gives the same numbers, a hundred times as slowly."""
    module = import_module(f"{kernels_of_core.__name__}.{name}")
    own = (name for name, each in getmembers(module, isfunction) if each.__module__ == module.__name__)
    assert [name for name in own if not name.startswith(("_", "make_"))] == []


def kernels_of_evaluation() -> set[str]:
    """Name each kernel of the core that a dispatch may run by itself, and not inside another."""
    outputs, names = {"values", "numerators", "out", "order", "ends", "rows", "ranks"}, set()
    for module in set(MODULES) - UNRANKED - HELPERS:
        loaded = import_module(f"{kernels_of_core.__name__}.{module}")
        own = (each for each in vars(loaded).values() if isinstance(each, Kernel | Steps))
        names |= {f"{module}.{each.__name__}" for each in own if each.__module__ == loaded.__name__
                  and each.parameters[-1] in outputs and each.__name__ not in INSIDE}  # fmt: skip
    return names - TRIED


@pytest.mark.filterwarnings("ignore::rankadapters.AboveValuesWarning")
@pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")
def test_no_kernel_is_left_out(monkeypatch):
    """What the test above compares with the definition comes from each kernel of evaluation."""
    ran, run = set(), dispatch._run_in_python

    def note(kernel, arguments):
        ran.add(f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__}")
        return run(kernel, arguments)

    monkeypatch.setattr(dispatch, "_run_in_python", note)
    for measure, sizes in product(MEASURES, SIZES.values()):
        for convention in grid(measure):
            queries = queries_of(sizes, units=takes_probabilities(convention))
            with kernels(NEVER):
                evaluator, scores = bound(queries, convention)
                evaluator.evaluate(scores)
    assert {name for name in ran if name.partition(".")[0] not in UNRANKED} == kernels_of_evaluation()
