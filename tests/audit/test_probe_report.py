"""What the report of a probe says: the convention, or what the function does differently, and an example."""

from __future__ import annotations

import pytest

import rankadapters as ra
from rankadapters.audit.probing import Example, Probe, Refused

LIGHTGBM = ra.parse("lightgbm@5")
EXAMPLE = Example(labels=(1.0, 0.0), scores=(0.5, 1.0), group_sizes=(2,), value=0.25, expected=None)


def report(convention=None, **fields):
    needed = {"conventions": (), "presets": (), "undecided": {}, "measured": (), "refused": (), "calls": 7}
    return Probe(convention=convention, tolerance=1e-9, **{**needed, **fields})


TIRES = "Most likely it tires."
SUMMARIES = [
    (report(LIGHTGBM), f"The function computes {LIGHTGBM.name} (7 calls).\n{LIGHTGBM}"),
    (
        report(LIGHTGBM, presets=("lightgbm@5", "yahoo@5")),
        f"The function computes {LIGHTGBM.name}, as lightgbm@5, yahoo@5 (7 calls).\n{LIGHTGBM}",
    ),
    (report(), "The function computes no known convention: it gave no number (7 calls)."),
    (report(explanation="it tires"), "The function computes no known convention: it tires (7 calls)."),
    (
        report(nearest=LIGHTGBM),
        f"The function computes no known convention (7 calls). The nearest is {LIGHTGBM.name}.\n{LIGHTGBM}",
    ),
    (
        report(nearest=LIGHTGBM, explanation="it tires"),
        f"The function computes no known convention (7 calls). The nearest is {LIGHTGBM.name}. {TIRES}\n{LIGHTGBM}",
    ),
    (
        report(nearest=LIGHTGBM, explanation="it tires", presets=("lightgbm@5",)),
        f"The function computes {LIGHTGBM.name}, as lightgbm@5, but it tires (7 calls).\n{LIGHTGBM}",
    ),
]


@pytest.mark.parametrize(("result", "text"), SUMMARIES)
def test_a_report_begins_with_what_the_function_computes(result, text):
    assert result.blocks()[0] == text
    assert len(result.blocks()) == (1 if result.convention is None else 2)


def test_the_fields_that_calls_cannot_decide_have_a_note():
    [_, table] = report(LIGHTGBM, undecided={"ties": ("input", "reverse")}).blocks()
    lines = {name: (value, note) for name, value, note in table.lines}
    assert list(lines) == list(LIGHTGBM.fields())
    assert lines["ties"] == (LIGHTGBM.ties, "not shown: input, reverse fit")
    assert lines["k"] == ("5", "")


def test_measurements_refusals_notes_and_faults_are_shown_in_this_order():
    refused = Refused(what="one document", problem="raised an error", meaning="leave them out")
    blocks = report(
        measured=("gains 0, 1", "discounts 1"), example=EXAMPLE, nearest=LIGHTGBM, refused=(refused,),
        notes=("a note",), faults=("a fault",),
    ).blocks()  # fmt: skip
    _, measured, example, refusals, *notes = blocks
    assert measured == "Measured: gains 0, 1; discounts 1."
    assert f"the function returns 0.25, {LIGHTGBM.name} is None" in str(example)
    assert [*refusals.lines] == [("one document", "raised an error", "leave them out")]
    assert notes == ["Note: a note.", "Note: a fault."]


@pytest.mark.parametrize(
    ("sizes", "head", "lines"),
    [
        ((3,), ("label", "score"), [("1", "0.5"), ("0.25", "1.0"), ("2", "-0.0")]),
        ((1, 2), ("query", "label", "score"), [("0", "1", "0.5"), ("1", "0.25", "1.0"), ("1", "2", "-0.0")]),
    ],
)
def test_the_rows_of_the_example_have_a_query_if_there_are_several(sizes, head, lines):
    example = Example(labels=(1.0, 0.25, 2.0), scores=(0.5, 1.0, -0.0), group_sizes=sizes, value=0.5, expected=0.75)
    table = report(example=example).blocks()[1]
    assert (tuple(table.head), [*map(tuple, table.lines)]) == (head, lines)
