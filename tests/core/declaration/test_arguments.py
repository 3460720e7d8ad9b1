"""Checks of arguments: what a range of numbers takes and says, and refused words, flags and seeds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankadapters.core.declaration.arguments import flag, names, number, seed, text, whole, whole_or_none, word
from rankadapters.core.declaration.fields import Range
from rankadapters.core.errors import InputError


@pytest.mark.parametrize(
    ("allowed", "text", "taken", "refused"),
    [
        (Range(), "finite numbers", [-1e300, 0, 1e300], [math.inf, -math.inf, math.nan, "x", None]),
        (Range(0), "finite numbers from 0 on", [0, 1e300], [-1e-300, math.inf]),
        (Range(0, above=True), "finite numbers above 0", [1e-300], [0, -1]),
        (Range(most=1), "numbers to 1", [-5, 1], [1.0001, -math.inf]),
        (Range(0, 1), "numbers from 0 to 1", [0, 1], [-0.0001, 1.0001]),
        (Range(0, 1, above=True), "numbers above 0, up to 1", [1e-9, 1], [0]),
        (Range(0, 1, below=True), "numbers from 0 and below 1", [0, 0.999], [1]),
        (Range(0, 1, above=True, below=True), "numbers above 0 and below 1", [0.5], [0, 1]),
        (Range(1, whole=True), "whole numbers from 1 on", [1, 2**70], [0, 1.5, True]),
        (Range(-2, 3, whole=True), "whole numbers from -2 to 3", [-2, 3], [-3, 4]),
    ],
    ids=str,
)
def test_a_range_takes_the_numbers_that_it_names(allowed, text, taken, refused):
    assert str(allowed) == text
    assert [allowed.take(value) for value in taken] == taken
    assert [allowed.take(value) for value in refused] == [None] * len(refused)


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        (lambda: flag("strict", 1), "strict=1; allowed are True, False"),
        (lambda: names("methods", []), r"methods=\[\]; allowed are different texts, at least 1"),
        (lambda: names("methods", ["a", "a"]), r"methods=\['a', 'a'\]; allowed are different texts"),
        (lambda: names("methods", ["a", 1]), r"methods=\['a', 1\]; allowed are different texts"),
        (lambda: word("by", "c", ["a", "b"]), "by='c'; allowed are 'a', 'b'"),
        (lambda: text("title", 5), "title=5; allowed are texts"),
        (lambda: whole("k", 0), r"k=0; allowed are whole numbers from 1 on\.\nHint: k=1\."),
        (lambda: whole("k", 4, least=2, most=3), r"k=4; allowed are whole numbers from 2 to 3\.\nHint: k=2\."),
        (lambda: whole_or_none("k", 0, "all"), r"k=0; allowed are whole numbers from 1 on, or None: all"),
        (lambda: number("p", 1, most=1, below=True), "p=1; allowed are numbers below 1"),
        (lambda: seed(-1), "random_state=-1; allowed are whole numbers from 0 on, a numpy Generator or a RandomState"),
        (lambda: seed(0.5), "random_state=0.5; allowed are whole numbers"),
    ],
)
def test_a_refused_argument_is_named_with_what_is_allowed(check, problem):
    with pytest.raises(InputError, match=problem):
        check()


def test_arguments_become_plain_objects():
    assert (flag("strict", np.True_), names("methods", ("a", "b")), whole_or_none("k", None, "all")) == (
        True, ["a", "b"], None,
    )  # fmt: skip
    assert math.copysign(1, number("p", -0.0)) == 1
    assert seed(0) == 0
    assert seed(np.random.RandomState(0)) == np.random.RandomState(0).randint(2**32, dtype=np.uint64)
    assert seed(np.random.default_rng(0)) == np.random.default_rng(0).integers(2**32)
