"""The likeliest mistakes of users: each raises an error that says what is wrong, and suggests a fix.

One entry stands for each kind of mistake and place where it can be made. Tests of a wrong type or value of any one
argument are in test_wrong_arguments.py, of guessed names in test_guesses.py, of missing toolkits in test_imports.py.
Left out are mistakes that scikit-learn, LightGBM, XGBoost and CatBoost refuse themselves, such as
`scoring="lightgbm@10"` and `fit(objective=...)`.
"""

from __future__ import annotations

import re

import pytest

from tests.project.mistakes import entries, error_of, folder_of_files, matches

ENTRIES = entries()
HINTS = "Hint: |allowed are |its fields are |has no parameter|occurs once"


@pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")
@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.heading}: {entry.comment}")
def test_the_error_for_a_mistake_is_the_recorded_one(entry):
    with folder_of_files():
        error = error_of(entry)
    assert matches(error, entry.error), error


def test_every_entry_has_a_comment_of_its_own():
    comments = [entry.comment for entry in ENTRIES]
    assert "" not in comments
    assert len(set(comments)) == len(comments)


def test_every_error_suggests_a_fix_and_no_mistake_is_listed_twice():
    without = [entry.comment for entry in ENTRIES if not re.search(HINTS, entry.error)]
    assert without == ["has a line break in the name of a model"]
    assert len({entry.code for entry in ENTRIES}) == len(ENTRIES) > 200
