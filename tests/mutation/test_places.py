"""Where mutants are made."""

from __future__ import annotations

import pytest

pytest.importorskip("cosmic_ray", reason="tox -e mutation brings it")

from tests.mutation.places import mutated, places

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


def test_what_only_type_checkers_read_is_not_mutated():
    found = {(place.start[0], place.definition) for place in places(MODULE)}
    assert found == {(14, "half")}
    assert len(places(MODULE)) == 2


def test_a_place_is_one_however_many_operators_mutate_it():
    [division, number] = sorted(places(MODULE), key=lambda place: place.start)
    assert {mutated(MODULE, *each).splitlines()[-1].strip() for each in number.variants} == {
        "return kept / 3",
        "return kept / 1",
    }
    assert len(division.variants) == 11


def test_a_mutant_that_is_not_python_is_none():
    source = "def keywords(*, a): ...\nx = a is None\n"
    [star] = [place for place in places(source) if place.start[0] == 1]
    texts = [mutated(source, *each) for each in star.variants]
    assert [text for text in texts if text is not None] == ["def keywords(/, a): ...\nx = a is None\n"] or not any(
        texts
    )
