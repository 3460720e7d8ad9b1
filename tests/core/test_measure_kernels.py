"""Every measure that an objective takes has a row in the table of kernels."""

from __future__ import annotations

from contextlib import suppress
from typing import get_args

import pytest

import rankadapters as ra
from rankadapters.core import presets
from rankadapters.objectives.lambda_rank import Trading
from rankadapters.objectives.measure_kernels import KERNELS, kernel_kinds
from rankadapters.objectives.moves import require_moves

CONVENTIONS = [presets.make(name, 3) for name in presets.names(None)]


def moved() -> set[type[ra.Convention]]:
    """Measures that an objective which moves rows takes."""
    classes = set()
    for convention in CONVENTIONS:
        with suppress(ra.ConventionError):
            require_moves("an objective", convention)
            classes.add(type(convention))
    return classes


def test_the_table_has_the_measures_whose_rows_are_moved_and_no_others():
    assert set(KERNELS) == moved()


def test_the_measures_whose_rows_are_traded_have_a_change_of_their_own():
    traded = [kernels.trade for measure, kernels in KERNELS.items() if kernels.trade >= 0]
    assert {measure for measure, kernels in KERNELS.items() if kernels.trade >= 0} == set(get_args(Trading))
    assert len(set(traded)) == len(traded)


@pytest.mark.parametrize(
    ("name", "field", "values"),
    [("lightgbm.map@3", "divisor", ("relevant", "found")), ("yahoo.err", "complement", ("float64", "float32"))],
)
def test_a_field_of_the_convention_changes_what_a_trade_changes(name, field, values):
    one, other = (kernel_kinds(ra.parse(name).replace(**{field: value})) for value in values)
    assert one.trade != other.trade
    assert one.catboost_trade == other.catboost_trade
