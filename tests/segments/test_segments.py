"""Segments of queries in memory: each score is that of its queries alone, and what has no segment is refused."""

from __future__ import annotations

import math
from datetime import date

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.segments.segments import _student
from tests.helpers.segment_rows import alone, columns, conventions, rows
from tests.helpers.tables import for_each

DATA = rows()
WEIGHED = [
    ra.parse("lightgbm@3"),
    ra.parse("xgboost@3"),
    ra.parse("textbook@3").replace(average="query"),
    ra.presets.catboost.query_rmse().replace(average="row"),
    ra.parse("lightgbm.auc"),  # over all rows
]
SKIPPING = ra.parse("textbook@2").replace(empty="skip")
LABELS, SCORES, QID = [1, 0, 1, 0, 1, 0], [2, 1, 1, 2, 2, 1], ["a", "a", "b", "b", "c", "c"]
BY = {"a": "se", "b": "se", "c": "no"}


def evaluated(convention="textbook@2", by=BY, **changes):
    return ra.evaluate(LABELS, SCORES, convention, **{"qid": QID, "by": by, **changes})


def test_a_segment_scores_what_its_queries_score_alone():
    for convention in (*conventions(), *WEIGHED):
        given = columns(DATA, convention)
        found = ra.evaluate(DATA["label"], DATA["score"], convention, **given, by=DATA["segment"])
        assert list(found) == ["dk", "no", "se"]
        expected = {segment: alone(DATA, convention, segment).to_dict() for segment in found}
        assert {segment: score.to_dict() for segment, score in found.items()} == expected, convention.name
        of_all = ra.evaluate(DATA["label"], DATA["score"], convention, **given)
        assert found.all.to_dict() == of_all.to_dict(), convention.name


def test_several_conventions_and_models_have_the_shape_of_evaluate():
    texts = ["letor4@3", "letor3@3", "lightgbm.auc"]  # two names of one convention
    models = {"one": DATA["score"], "two": DATA["other"]}
    for convention in (texts[0], texts):
        for scores in (DATA["score"], models):
            found = ra.evaluate(DATA["label"], scores, convention, qid=DATA["qid"], by=DATA["segment"])
            for segment in found:
                kept = DATA["segment"] == segment
                part = {name: column[kept] for name, column in models.items()} if scores is models else scores[kept]
                expected = ra.evaluate(DATA["label"][kept], part, convention, qid=DATA["qid"][kept])
                assert repr(found[segment]) == repr(expected)
            assert repr(found.all) == repr(ra.evaluate(DATA["label"], scores, convention, qid=DATA["qid"]))


def test_a_mapping_says_the_same_as_a_column():
    by = dict(zip(DATA["qid"].tolist(), DATA["segment"].tolist(), strict=True))
    arguments = (DATA["label"], DATA["score"], "letor4@3")
    by_column = ra.evaluate(*arguments, qid=DATA["qid"], by=DATA["segment"])
    assert repr(ra.evaluate(*arguments, qid=DATA["qid"], by=by)) == repr(by_column)
    floats = {np.float64(query): segment for query, segment in by.items()}  # ids are equal by value
    assert repr(ra.evaluate(*arguments, qid=DATA["qid"], by=floats)) == repr(by_column)


@for_each(
    ("segments", "order"),
    [
        ([10, 9, 10], [9, 10]),
        ([True, False, True], [False, True]),
        ([np.datetime64(f"2026-0{month}-01") for month in (2, 1, 2)], [date(2026, 1, 1), date(2026, 2, 1)]),
        (["b", 2, 10], [2, 10, "b"]),
        ([2, "b", 0.5], [0.5, 2, "b"]),
        ([("x", 2), ("x", 1), ("x", 2)], [("x", 1), ("x", 2)]),
        ([0.5, 0.25, 0.5], [0.25, 0.5]),
        (["all", "all", "all"], ["all"]),
    ],
)
def test_segments_are_any_hashables_in_the_order_of_their_values(segments, order):
    found = evaluated(by=[segments[query] for query in (0, 0, 1, 1, 2, 2)])
    assert list(found) == order
    assert [type(segment) for segment in found] == [type(segment) for segment in order]
    assert found[segments[0]] == found[order[-1] if len(order) > 1 and segments[0] == order[-1] else segments[0]]
    assert list(evaluated(by=dict(zip("abc", segments, strict=True)))) == order
    assert "xx" not in found
    with pytest.raises(KeyError, match="there is no segment 'xx'"):
        found["xx"]
    assert dict(found)[order[0]] == found[order[0]]


def test_scores_of_two_segments_do_not_compare_but_those_of_two_models_do():
    found = evaluated()
    with pytest.raises(ra.IncomparableScoresError, match="over different queries"):
        found["se"] < found["no"]  # noqa: B015 - the comparison raises
    other = ra.evaluate(LABELS, LABELS, "textbook@2", qid=QID, by=BY)
    assert other["se"] - found["se"] == pytest.approx((1 - 1 / math.log2(3)) / 2)
    with pytest.raises(ra.IncomparableScoresError, match="the conventions differ"):
        found["se"] - evaluated("yahoo@2")["se"]


def test_an_interval_is_that_of_student_with_the_standard_error_of_the_queries():
    stats = pytest.importorskip("scipy.stats")
    pytest.importorskip("pandas")
    for n_queries in (3, 8, 12, 40, 400):
        data = rows(1, n_queries)
        frame = ra.evaluate(
            data["label"], data["score"], ["textbook@3", "catboost.query_rmse"], qid=data["qid"], by=data["segment"]
        ).to_frame()
        for row in frame.itertuples():
            kept = data["segment"] == row.segment if row.segment in {"se", "no", "dk"} else slice(None)
            evaluator = ra.Evaluator(data["label"][kept], row.name, qid=data["qid"][kept])
            expected = evaluator.standard_error(data["score"][kept])
            assert row.standard_error == pytest.approx(expected, rel=1e-13, nan_ok=True)
            half = stats.t.ppf(0.975, row.n_scored - 1) * expected if row.n_scored > 1 else math.nan
            ends = [row.value - half, row.value + half]
            assert [row.low, row.high] == pytest.approx(ends, rel=1e-5, abs=1e-6, nan_ok=True)


def test_students_t_is_from_a_table_up_to_ten_degrees_and_then_by_five_terms_of_abramowitz_and_stegun():
    assert [_student(degrees) for degrees in (1, 10)] == [12.706205, 2.228139]
    assert _student(11) == pytest.approx(2.200980255324826, rel=1e-12)


def test_equal_values_have_an_interval_without_width_and_a_single_query_has_none():
    lines = ra.evaluate(LABELS, LABELS, "textbook@2", qid=QID, by=BY).to_dict()["segments"]
    assert [(line["segment"], line["low"], line["high"]) for line in lines] == [
        ("no", None, None), ("se", 1.0, 1.0), (None, 1.0, 1.0),
    ]  # fmt: skip


def test_an_interval_does_not_depend_on_the_unit_of_the_weights():
    def of_unit(scale):
        convention, weights = ra.parse("textbook@2").replace(average="query"), scale * np.array([0.5, 1.5, 1.0])
        return evaluated(convention, by=["x"] * 6, query_weight=weights).to_dict()["segments"][0]

    for scale in (1e-100, 1e140):
        assert of_unit(scale)["standard_error"] == pytest.approx(of_unit(1)["standard_error"], rel=1e-12)
    assert of_unit(1e-300)["low"] is None  # such squares are beyond float64, which is better said than rounded to 0


def test_a_frame_a_dict_and_a_table_hold_a_row_for_each_segment_and_one_for_all():
    pytest.importorskip("pandas")
    found = evaluated(["textbook@2", "yahoo@2"])
    frame = found.to_frame()
    assert list(frame.columns) == [
        "segment", "name", "signature", "value", "n_queries", "n_scored", "n_empty", "n_short", "standard_error",
        "low", "high",
    ]  # fmt: skip
    assert frame.segment.fillna("-").tolist() == ["no", "no", "se", "se", "-", "-"]
    assert frame.value.tolist()[4:] == [score.value for score in found.all.values()]
    assert [row["value"] for row in found.to_dict()["segments"]] == frame.value.tolist()
    lines = str(found.table()).splitlines()
    assert lines[0] == "Segments, intervals of 95 %"
    assert lines[2].split() == ["no", "ndcg@2/textbook", "1.0000", "1", "1", "0", "0", "-", "-"]
    assert lines[-1].split()[:3] == ["all", "ndcg@2/yahoo", "0.8770"]
    assert found._repr_html_() == found.table().html()
    assert found._repr_markdown_() == found.table().markdown()
    assert repr(found).startswith("Segments({'no': Scores(")


def test_a_plot_has_a_line_for_each_segment_and_one_at_the_value_of_all():
    pytest.importorskip("matplotlib")
    [axes] = evaluated().plot().axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["no", "se"]
    assert axes.lines[0].get_xdata() == pytest.approx([evaluated().all.value] * 2)
    [axes] = ra.evaluate(LABELS, {"x": SCORES, "y": LABELS}, ["textbook@2", "yahoo@2"], qid=QID, by=BY).plot().axes
    assert [text.get_text() for text in axes.get_yticklabels()][:2] == [
        "no, x, ndcg@2/textbook",
        "no, y, ndcg@2/textbook",
    ]
    assert len(axes.lines) == 16  # an interval and a point each, without a line of all


@for_each(
    ("by", "message", "row"),
    [
        (["se", "se", "no", "dk", "x", "x"], r"by\[3\] is 'dk', but query b began with 'no'", 3),
        (["se", "se", None, None, "x", "x"], r"by\[2\] is None, but every query belongs to a segment", 2),
        ([1.0, 1.0, 2.0, 2.0, 3.0, float("nan")], r"by\[5\] is nan, but every query belongs to a segment", 5),
        (["se", "se"], "by has 2 entries but labels has 6 rows", None),
        ("market", "by is 'market', but one entry per row is needed", None),
        ([{}] * 6, "by holds a value that is not hashable", None),
        ({"a": "se", "b": "se"}, "by has no segment for query 'c'", None),
        ({**BY, "d": "x", "e": "x"}, "by names query 'd' and 1 more queries, but the data have no such query", None),
        ({**BY, "d": "x"}, "by names query 'd', but the data have no such query", None),
        ({**BY, "c": None}, r"by\['c'\] is None, but every query belongs to a segment", None),
        ({**BY, "c": []}, "by holds a value that is not hashable", None),
        ({}, "by has no segment for query 'a'", None),
    ],
)
def test_what_is_no_segment_is_refused(by, message, row):
    with pytest.raises(ra.InputError, match=message) as error:
        evaluated(by=by)
    assert error.value.row == row
    assert "Hint: " in str(error.value)


def test_a_column_of_pandas_shares_the_index_of_the_rows():
    pd = pytest.importorskip("pandas")
    labels = pd.Series(LABELS, index=list("uvwxyz"))
    with pytest.raises(ra.InputError, match="by has a different pandas index from labels"):
        ra.evaluate(labels, SCORES, "textbook@2", qid=QID, by=pd.Series(["x"] * 6))
    for dtype in ("category", "string", object):
        column = pd.Series(["x", "x", "x", "x", "y", "y"], index=labels.index, dtype=dtype)
        assert list(ra.evaluate(labels, SCORES, "textbook@2", qid=QID, by=column)) == ["x", "y"]
    missing = pd.Series(["x", "x", "x", "x", None, None], index=labels.index, dtype="string")
    with pytest.raises(ra.InputError, match=r"by\[4\] is <NA>"):
        ra.evaluate(labels, SCORES, "textbook@2", qid=QID, by=missing)


def test_a_segment_without_a_value_is_named():
    with pytest.raises(ra.InputError, match="segment 'no': nothing is left to average: every query was skipped"):
        ra.evaluate([1, 0, 0, 0], [1, 2, 1, 2], SKIPPING, qid=[1, 1, 2, 2], by={1: "se", 2: "no"})


def test_a_mean_above_the_values_of_a_segment_is_warned_of():
    lifted = ra.parse("textbook@2").replace(average="query-except-empty", empty=1)
    labels, weights = [0, 0, 1, 0, 1, 0], [0.01, 0.01, 1.0]
    with pytest.warns(ra.AboveValuesWarning) as warned:
        ra.evaluate(labels, SCORES, lifted, qid=QID, by=BY, query_weight=weights)
    messages = [str(each.message).partition(" mean under")[0] for each in warned]
    assert (messages, {each.filename for each in warned}) == (["a", "segment 'se': a"], {__file__})


def test_values_of_queries_join_to_a_table_of_queries():
    pd = pytest.importorskip("pandas")
    frame = ra.per_query(LABELS, SCORES, ["textbook@2", "yahoo@1"], qid=QID, frame=True)
    assert list(frame.columns) == ["qid", "ndcg@2/textbook", "ndcg@1/yahoo"]
    about = pd.DataFrame({"qid": ["c", "a", "b"], "market": ["no", "se", "se"]})
    joined = frame.merge(about, on="qid", validate="one_to_one")
    means = joined.groupby("market")["ndcg@2/textbook"].mean()
    found = evaluated()
    assert {market: score.value for market, score in found.items()} == pytest.approx(means.to_dict())
    models = ra.per_query(LABELS, {"x": SCORES, "y": LABELS}, "textbook@2", qid=QID, frame=True)
    assert models.model.tolist() == ["x"] * 3 + ["y"] * 3
    assert models["ndcg@2/textbook"].tolist()[3:] == [1, 1, 1]


def test_values_of_queries_are_those_of_an_evaluator():
    values = ra.Evaluator(LABELS, "textbook@2", qid=QID).per_query(SCORES)
    assert ra.per_query(LABELS, SCORES, "textbook@2", qid=QID).tolist() == values.tolist()
    several = ra.per_query(LABELS, SCORES, ["textbook@2", "yahoo@1"], qid=QID)
    assert several["textbook@2"].tolist() == values.tolist()
    models = ra.per_query(LABELS, {"x": SCORES, "y": LABELS}, ["textbook@2"], qid=QID)
    assert models["textbook@2"]["x"].tolist() == values.tolist()
    with pytest.raises(ra.UnsupportedConventionError, match="has no per-query values"):
        ra.per_query(LABELS, SCORES, "lightgbm.auc", qid=QID)
