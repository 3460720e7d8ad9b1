"""Tallies of hours merge into those of the day, with its values and intervals, also from JSON."""

from __future__ import annotations

import json
from datetime import date

import numpy as np
import pytest

import rankadapters as ra
from tests.evaluation.segment_rows import rows

pytest.importorskip("pyarrow")

DATA = rows()
ORDER = np.argsort(DATA["qid"], kind="stable")
DAY = {name: column[ORDER] for name, column in DATA.items()}
DAY["size"] = DAY["qid"] % 3
DAY["launch"] = np.array([date(2026, 1, 1), date(2026, 2, 1)], object)[DAY["qid"] % 2]
HOURS = [{name: column[DAY["qid"] // 7 == hour] for name, column in DAY.items()} for hour in range(6)]
CONVENTIONS = ["yahoo@5", "catboost.map@3"]


def tallies(hours=HOURS, convention=CONVENTIONS, **keywords):
    return [ra.tally_table(hour, convention, **keywords) for hour in hours]


def through_json(tally):
    return ra.SegmentTallies.from_dict(json.loads(json.dumps(tally.to_dict())))


def test_names_of_conventions_stay_in_json():
    day = ra.SegmentTallies.merge(map(through_json, tallies(convention={"mine": "yahoo@5", "other": "textbook@3"})))
    assert [convention.name for convention in day.result().all] == ["mine", "other"]


@pytest.mark.parametrize("by", [None, "segment", "size", ["segment", "size"]])
def test_hours_make_the_day_also_from_json(by):
    keywords = {"by": by, "score": ["score", "other"]}
    day = ra.SegmentTallies.merge(map(through_json, tallies(**keywords)[::-1])).result()
    [whole] = tallies([DAY], **keywords)
    assert (str(day), day.to_dict()) == (str(whole.result()), whole.result().to_dict())
    evaluated = ra.evaluate_table(DAY, CONVENTIONS, **keywords)
    assert repr(day if by else day.all) == repr(evaluated)
    assert not by or day.to_dict() == evaluated.to_dict()


def test_a_day_of_dates_is_merged_and_its_json_has_their_texts():
    day = ra.SegmentTallies.merge(tallies(by="launch"))
    assert list(day.result()) == [date(2026, 1, 1), date(2026, 2, 1)]
    assert list(through_json(day).result()) == ["2026-01-01", "2026-02-01"]
    assert repr(day) == "SegmentTallies(40 queries, 2 segments)"


def test_json_has_at_most_sixteen_bytes_for_each_query():
    sizes = []
    for n in (1_000, 3_000):
        table = {"qid": np.arange(n), "label": np.ones(n), "score": np.ones(n)}
        sizes += [len(json.dumps(part.to_dict())) for part in (ra.tally_table(table, "yahoo@5"), one_tally(table))]
    assert max(sizes[2] - sizes[0], sizes[3] - sizes[1]) < 2_000 * 12


def one_tally(table):
    return ra.Evaluator(table["label"], "yahoo@5", qid=table["qid"]).tally(table["score"])


def test_tallies_that_do_not_add_up_are_refused():
    first, second, *_ = tallies()
    with pytest.raises(ra.InputError, match=r"query number \d+ of tally 0 is in tallies 0 and 2, and 6 more queries"):
        ra.SegmentTallies.merge([first, second, first])
    for others in (tallies(convention="yahoo@5"), tallies(score=["other"])):
        with pytest.raises(ra.IncomparableScoresError, match="different conventions or models do not add up"):
            ra.SegmentTallies.merge([first, others[1]])
    for wrong in ([], [first, 7], 7):
        with pytest.raises(ra.InputError, match="tallies="):
            ra.SegmentTallies.merge(wrong)


@pytest.mark.parametrize(
    "change", [{"ids": "AA=="}, {"ids": ""}, {"tallies": []}, {"tallies": [7]}, {"conventions": 7}, {"ids": 7}]
)
def test_damaged_data_are_refused(change):
    with pytest.raises(ra.InputError, match=r"th(ese are no tallies|is is not a tally)"):
        ra.SegmentTallies.from_dict(tallies()[0].to_dict() | change)
    with pytest.raises(ra.InputError, match="these are no tallies"):
        ra.SegmentTallies.from_dict({})
