"""Public dataclasses: every field is one that users are told of, and no other shows in `asdict` or `repr`."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pickle
import re

import pytest

import rankadapters as ra
from tests.helpers.tables import for_each

TOOLKITS = ("lightgbm", "xgboost", "catboost", "sklearn")
MODULES = ("audit", "datasets", "io", "objectives", "parity", *TOOLKITS)


def public(module):
    """Classes that a module names as public, of which its functions may give instances."""
    names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
    found = (getattr(module, name) for name in names)
    return [each for each in found if isinstance(each, type) and dataclasses.is_dataclass(each)]


def made(module):
    """Those of them that have instances of their own."""
    if module in TOOLKITS:
        pytest.importorskip(module)
    found = public(importlib.import_module(f"rankadapters.{module}".rstrip(".")))
    return [kind for kind in found if not inspect.isabstract(kind)]


@pytest.mark.parametrize("module", ["", *MODULES])
def test_every_field_is_documented_and_none_is_private(module):
    if module in TOOLKITS:
        pytest.importorskip(module)
    classes = public(importlib.import_module(f"rankadapters.{module}".rstrip(".")))
    assert classes or module in TOOLKITS
    for kind in classes:
        told = " ".join(base.__doc__ or "" for base in kind.__mro__)
        for field in dataclasses.fields(kind):
            assert not field.name.startswith("_"), (kind, field.name)
            if not hasattr(kind, "declared"):  # a declared value's fields say themselves what they hold
                assert re.search(rf"^ *(\w+, )*{field.name}(, \w+)*( :|$)", told, re.MULTILINE), (kind, field.name)


@for_each("module", ["", *MODULES])
def test_no_field_can_be_assigned(module):
    for kind in made(module):
        for field in dataclasses.fields(kind):
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(object.__new__(kind), field.name, 1)


@pytest.mark.parametrize("module", ["", "objectives"])
def test_what_is_declared_is_declared_by_name(module):
    declared = [kind for kind in made(module) if hasattr(kind, "declared")]
    assert declared
    for kind in declared:
        taken = inspect.signature(kind).parameters.values()
        assert {each.kind for each in taken} <= {inspect.Parameter.KEYWORD_ONLY}, kind


@pytest.mark.parametrize("module", ["", "audit", "compare", "datasets", "io", "parity"])
def test_values_hold_their_fields_and_nothing_beside_them(module):
    for kind in made(module):
        if kind is not ra.Queries:  # keeps what was computed of it
            assert not hasattr(object.__new__(kind), "__dict__"), kind


def test_asdict_and_repr_of_what_evaluation_gives():
    evaluator = ra.Evaluator([1, 0], "yahoo@2", qid=["secret", "secret"])
    score, tally = evaluator.evaluate([2.0, 1.0]), evaluator.tally([2.0, 1.0])
    counts = ["n_queries", "n_scored", "n_empty", "n_short"]
    assert list(dataclasses.asdict(score)) == ["value", "convention", *counts, "digest"]
    assert list(dataclasses.asdict(tally)) == [
        "convention", "numerator", "denominator", *counts, "digest", "ids", "parts",
    ]  # fmt: skip
    assert "secret" not in repr(tally) + repr(dataclasses.asdict(tally)) + str(tally.to_dict())


def test_a_tally_knows_its_queries_while_they_are_at_hand():
    tally = ra.Evaluator([1, 0], "yahoo@2", qid=["a", "a"]).tally([2.0, 1.0])
    assert tally.query_ids.tolist() == ["a"]
    assert pickle.loads(pickle.dumps(tally)).query_ids is None
    assert ra.Tally.from_dict(tally.to_dict()).query_ids is None
    assert dataclasses.replace(tally, n_short=0).query_ids is None


LONG_FIELDS = {  # what is as long as the data, or a function
    "Score": ["digest"],
    "Tally": ["ids"],
    "audit.OrderReport": ["comparisons", "changes"],
    "audit.Explanation": ["mixtures", "query_ids", "per_query", "top", "set_aside"],
    "audit.Match": ["blocks"],
    "compare.LeaveOneOut": ["wn", "iwn", "all_wn", "all_iwn"],
    "compare.StratifiedReport": ["comparisons"],
    "compare.WinningNumbers": ["wn", "iwn", "n_datasets"],
    "io.Judgments": ["place", "metadata"],
    "io.ScoredJudgments": ["place", "metadata"],
    "parity.ParityRow": ["per_query"],
}


def test_a_repr_shows_all_fields_but_long_ones():
    left_out = {}
    for module in ("", "audit", "compare", "datasets", "io", "objectives", "parity"):
        for kind in public(importlib.import_module(f"rankadapters.{module}".rstrip("."))):
            names = [field.name for field in dataclasses.fields(kind) if not field.repr]
            left_out |= {f"{module}.{kind.__name__}".lstrip("."): names} if names else {}
    assert left_out == LONG_FIELDS
