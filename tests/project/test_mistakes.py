"""The likeliest mistakes of users: each raises an error that says what is wrong, and suggests a fix.

tests/project/test_imports.py tests a missing toolkit. Left out are mistakes that scikit-learn, LightGBM, XGBoost and
CatBoost refuse themselves, such as `scoring="lightgbm@10"` and `fit(objective=...)`.
"""

from __future__ import annotations

import re

import pytest

from tests.helpers.tables import for_each
from tests.project.mistakes import entries, error_of, folder_of_files, matches

ENTRIES = entries()
HINTS = (
    "Hint: |allowed are |its fields are |has no parameter|occurs once|as keywords: |there are '|are needed|"
    "one name for each"
)


def entries_below(heading):
    return [pytest.param(entry, id=entry.title) for entry in ENTRIES if entry.heading == heading]


@pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")
@pytest.mark.parametrize("heading", dict.fromkeys(entry.heading for entry in ENTRIES))
@for_each("entry", entries_below)
def test_the_error_for_a_mistake_is_the_recorded_one(heading, entry):
    with folder_of_files():
        error = error_of(entry)
    assert matches(error, entry.error), error


def test_every_error_suggests_a_fix_and_no_mistake_is_listed_twice():
    without = [entry.title for entry in ENTRIES if not re.search(HINTS, entry.error)]
    overflow = 'evaluate([1023, 0, 1023, 1023], convention="textbook@3", qid=list("babb"))'
    assert set(without) == {'audit("order", scores={"a\\n": [1, 2], "b": [2, 1]})', overflow}
    assert len({entry.code for entry in ENTRIES}) == len(ENTRIES) > 200
