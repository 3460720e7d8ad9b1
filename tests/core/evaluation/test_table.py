"""Tables are printed as aligned text."""

from __future__ import annotations

from rankadapters.core.evaluation.table import Table


def test_numbers_are_aligned_to_the_right_and_words_to_the_left():
    table = Table("Caption", ("model", "value"), (("a", "10.5"), ("longer", "-")))
    assert str(table) == "Caption\nmodel   value\na        10.5\nlonger      -"
