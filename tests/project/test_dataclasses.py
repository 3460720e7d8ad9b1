"""Public dataclasses: every field is documented, and `asdict` and `repr` show nothing else."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re

import pytest

import rankadapters as ra

TOOLKITS = ("lightgbm", "xgboost", "catboost", "sklearn")
MODULES = ("", "audit", "compare", "datasets", "io", "objectives", "parity")


def public_classes(name):
    """Return the public dataclasses of a module, or of the package itself if the name is empty."""
    if name in TOOLKITS:
        pytest.importorskip(name)
    module = importlib.import_module(f"rankadapters.{name}".rstrip("."))
    public_names = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
    values = (getattr(module, name) for name in public_names)
    return [value for value in values if isinstance(value, type) and dataclasses.is_dataclass(value)]


@pytest.mark.parametrize("module", [*MODULES, *TOOLKITS])
def test_every_field_is_public_documented_and_frozen(module):
    classes = public_classes(module)
    assert classes or module in TOOLKITS
    for kind in classes:
        docs = " ".join(base.__doc__ or "" for base in kind.__mro__)
        for field in dataclasses.fields(kind):
            assert not field.name.startswith("_"), (kind, field.name)
            if not hasattr(kind, "declared"):  # fields of declared values have docstrings of their own
                assert re.search(rf"^ *(\w+, )*{field.name}(, \w+)*( :|$)", docs, re.MULTILINE), (kind, field.name)
            if not inspect.isabstract(kind):
                with pytest.raises(dataclasses.FrozenInstanceError):
                    setattr(object.__new__(kind), field.name, 1)


@pytest.mark.parametrize("name", ["k", "other", "_preset"])
def test_a_convention_takes_no_other_attribute_and_says_how_to_change_a_field(name):
    convention = ra.presets.textbook(5)
    with pytest.raises(dataclasses.FrozenInstanceError, match=rf"is frozen, so '{name}' (.|\n)*Hint: .replace\("):
        setattr(convention, name, 1)
    with pytest.raises(dataclasses.FrozenInstanceError, match=f"is frozen, so '{name}' "):
        delattr(convention, name)


TAKE_POSITIONS = {"Queries", "Tally", "Grouped", "ParityReport"}


@pytest.mark.parametrize("module", MODULES)
def test_values_have_no_attributes_besides_their_fields_and_take_keywords_only(module):
    for kind in public_classes(module):
        if module != "objectives" and kind is not ra.Queries and not inspect.isabstract(kind):
            assert not hasattr(object.__new__(kind), "__dict__"), kind  # Queries cache arrays that they compute
        if kind.__name__ not in TAKE_POSITIONS:
            kinds = {parameter.kind for parameter in inspect.signature(kind).parameters.values()}
            assert kinds <= {inspect.Parameter.KEYWORD_ONLY}, kind


def test_a_score_and_a_tally_as_dicts_and_texts_show_no_query_ids():
    evaluator = ra.Evaluator([1, 0], "yahoo@2", qid=["secret", "secret"])
    score, tally = evaluator.evaluate([2.0, 1.0]), evaluator.tally([2.0, 1.0])
    counts = ["n_queries", "n_scored", "n_empty", "n_short"]
    assert list(score.to_dict()) == ["value", "name", "convention", *counts, "digest"]
    assert list(dataclasses.asdict(tally)) == ["convention", "numerator", "denominator", *counts, "digest", "ids"]
    assert "secret" not in repr(score) + str(score.to_dict()) + repr(tally) + repr(dataclasses.asdict(tally)) + str(
        tally.to_dict()
    )


LONG_FIELDS = {  # fields as long as the data
    "audit.OrderReport": ["comparisons", "changes"],
    "audit.SegmentOrderReport": ["segments"],
    "audit.Explanation": ["mixtures", "query_ids", "per_query", "top", "set_aside"],
    "audit.Match": ["blocks"],
    "compare.LeaveOneOut": ["wn", "iwn", "all_wn", "all_iwn"],
    "compare.WinningNumbers": ["wn", "iwn", "n_datasets"],
    "io.Judgments": ["scores", "place"],
    "parity.ParityRow": ["per_query"],
}


def test_a_repr_shows_all_fields_except_long_ones():
    left_out = {}
    for module in MODULES:
        for kind in public_classes(module):
            names = [field.name for field in dataclasses.fields(kind) if not field.repr]
            left_out |= {f"{module}.{kind.__name__}".lstrip("."): names} if names else {}
    assert left_out == LONG_FIELDS
