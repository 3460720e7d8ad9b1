"""The places at which mutants are made."""

from __future__ import annotations

import pytest

pytest.importorskip("cosmic_ray", reason="tox -e mutation installs it")

from tests.mutation.places import mutate, places

MODULE = '''\
"""A module of 2 places, and of 1 + 1 that are none."""
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    TYPES = 1

__all__ = ["a" + "b"]

@overload
def half(n: int | None = ...) -> float | int: ...

def half(n: int | None = None) -> float | int:
    kept: int | str = n
    return kept / 2
'''


def test_code_for_type_checkers_is_not_mutated():
    assert [(place.start[0], place.definition) for place in places(MODULE)] == [(14, "half"), (14, "half")]


def test_several_mutants_at_one_position_are_one_place():
    [division, number] = sorted(places(MODULE), key=lambda place: place.start)
    lines = {mutate(MODULE, *variant).splitlines()[-1].strip() for variant in number.variants}
    assert lines == {"return kept / 3", "return kept / 1"}
    assert len(division.variants) == 11


def test_a_mutant_with_a_syntax_error_is_none():
    source = "def keywords(*, a): ...\nx = a is None\n"
    [star] = [place for place in places(source) if place.start[0] == 1]
    mutants = [mutate(source, *variant) for variant in star.variants]
    valid = [mutant for mutant in mutants if mutant is not None]
    assert valid in ([], ["def keywords(/, a): ...\nx = a is None\n"])
