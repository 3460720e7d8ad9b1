"""docs/measures.md shows the formula, fields, presets and direction of every measure."""

from __future__ import annotations

from pathlib import Path

import pytest

import rankadapters as ra
from rankadapters.core.measures import MEASURES

PAGE = Path(__file__).parent.parent.parent / "docs" / "measures.md"


@pytest.fixture(scope="module")
def sections():
    parts = PAGE.read_text(encoding="utf-8").split("\n## ")[1:]
    return {part.partition("\n")[0]: part for part in parts}


@pytest.mark.parametrize("word", MEASURES)
def test_a_section_lists_the_fields_and_presets_of_its_measure(sections, word):
    measure = MEASURES[word]
    assert measure.__name__ in sections, "`python docs/tables.py` writes its section"
    text = sections[measure.__name__]
    assert [name for name in measure.fields() if f"| `{name}` |" not in text] == []
    assert [name for name in ra.presets.names(word) if f"| `{name}` |" not in text] == []
    assert ("**Lower is better.**" in text) is not measure.higher_is_better
    assert f"Word in signatures: `{word}`." in text


def test_formulas_are_copied_from_the_docstrings(sections):
    assert "QueryRMSE = sqrt(sum w_i (l_i - s_i - m)^2 / sum w_i)" in sections["QueryRMSE"]
    assert "RR@k = 1 / rank of the first relevant row at ranks 1..k" in sections["RR"]
    assert "Parameters" not in "".join(sections.values())


def test_the_table_of_presets_shows_the_fields_that_differ(sections):
    lines = [line for line in sections["RR"].splitlines() if line.startswith("| `catboost.mrr` |")]
    assert lines[0].startswith(
        "| `catboost.mrr` | `MRR:top=k`, metric.cpp. Run against 1.2.10: equal within 1e-12. | above_0.5"
    )
    assert "All have `count=first`, `short=pad`" in sections["RR"]
