"""Segments of queries in memory: each scores what its queries score alone, and bad segments are refused."""

from __future__ import annotations

import math
import pickle
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import rankadapters as ra
from tests.evaluation.segment_rows import conventions, evaluate_columns, evaluate_segment, rows

DATA = rows()
WEIGHED = [
    ra.parse("lightgbm@3"),
    ra.parse("xgboost@3"),
    ra.parse("textbook@3").replace(average="query"),
    ra.presets.catboost.query_rmse().replace(average="row"),
    ra.parse("lightgbm.auc"),  # a measure over all rows
]
SKIPPING = ra.parse("textbook@2").replace(empty="skip")
LABELS, SCORES, QID = [1, 0, 1, 0, 1, 0], [2, 1, 1, 2, 2, 1], ["a", "a", "b", "b", "c", "c"]
SEGMENTS = {"a": "se", "b": "se", "c": "no"}


def evaluate_segments(convention="textbook@2", by=SEGMENTS, **arguments):
    return ra.evaluate(LABELS, SCORES, convention, qid=QID, by=by, **arguments)


def test_a_segment_scores_what_its_queries_score_alone():
    for convention in (*conventions(), *WEIGHED):
        arguments = evaluate_columns(DATA, convention)
        segments = ra.evaluate(DATA["label"], DATA["score"], convention, **arguments, by=DATA["segment"])
        assert list(segments) == ["dk", "no", "se"]
        expected = {segment: evaluate_segment(DATA, convention, segment).to_dict() for segment in segments}
        assert {segment: score.to_dict() for segment, score in segments.items()} == expected, convention.name
        overall = ra.evaluate(DATA["label"], DATA["score"], convention, **arguments)
        assert segments.all.to_dict() == overall.to_dict(), convention.name


def test_results_have_the_shape_of_evaluate_in_each_segment():
    names = ["letor4@3", "letor3@3", "lightgbm.auc"]  # letor4 and letor3 are equal conventions
    models = {"first": DATA["score"], "second": DATA["other"]}
    for convention in (names[0], names):
        for scores in (DATA["score"], models):
            segments = ra.evaluate(DATA["label"], scores, convention, qid=DATA["qid"], by=DATA["segment"])
            for segment in segments:
                mask = DATA["segment"] == segment
                part = {name: column[mask] for name, column in models.items()} if scores is models else scores[mask]
                expected = ra.evaluate(DATA["label"][mask], part, convention, qid=DATA["qid"][mask])
                assert repr(segments[segment]) == repr(expected)
            assert repr(segments.all) == repr(ra.evaluate(DATA["label"], scores, convention, qid=DATA["qid"]))


def test_a_series_indexed_by_query_gives_the_same_segments_as_a_mapping():
    pd = pytest.importorskip("pandas")
    series, table = pd.Series(SEGMENTS)[::-1], pd.DataFrame({"label": LABELS, "score": SCORES, "qid": QID})
    expected = evaluate_segments().to_dict()
    assert evaluate_segments(by=series).to_dict() == expected
    assert evaluate_segments(by=series.astype("category")).to_dict() == expected
    assert ra.evaluate_table(table, "textbook@2", by=series).to_dict() == expected
    by_number = ra.evaluate([1, 0], [1, 2], "textbook@2", qid=np.array([8, 7]), by=pd.Series({7: "x", 8: "y"}))
    assert {segment: score.value for segment, score in by_number.items()} == {"x": 0, "y": 1}


def test_a_series_of_rows_stays_a_column_whatever_its_index():
    pd = pytest.importorskip("pandas")
    rows = ["se"] * 4 + ["no"] * 2
    for index in (None, QID, range(6, 12)):
        assert evaluate_segments(by=pd.Series(rows, index=index)).to_dict() == evaluate_segments().to_dict()
    numbered = ra.evaluate([1, 0], [1, 2], "textbook@2", qid=[1, 0], by=pd.Series(["x", "y"]))  # of rows, not queries
    assert {segment: score.value for segment, score in numbered.items()} == {"x": 1, "y": 0}


def test_a_mapping_of_queries_gives_the_same_segments_as_a_column():
    mapping = dict(zip(DATA["qid"].tolist(), DATA["segment"].tolist(), strict=True))
    arguments = (DATA["label"], DATA["score"], "letor4@3")
    by_column = ra.evaluate(*arguments, qid=DATA["qid"], by=DATA["segment"])
    assert repr(ra.evaluate(*arguments, qid=DATA["qid"], by=mapping)) == repr(by_column)
    float_mapping = {np.float64(query): segment for query, segment in mapping.items()}  # ids are equal by value
    assert repr(ra.evaluate(*arguments, qid=DATA["qid"], by=float_mapping)) == repr(by_column)


@pytest.mark.parametrize(
    ("segments", "order"),
    [
        ([10, 9, 10], [9, 10]),
        ([True, False, True], [False, True]),
        ([np.datetime64(f"2026-0{month}-01") for month in (2, 1, 2)], [date(2026, 1, 1), date(2026, 2, 1)]),
        ([np.timedelta64(days, "D") for days in (2, 1, 2)], [timedelta(days=1), timedelta(days=2)]),
        ([("x", 1), (1, "x"), ("x", 1)], [("x", 1), (1, "x")]),
        (["b", 2, 10], [2, 10, "b"]),
        ([2, "b", 0.5], [0.5, 2, "b"]),
        ([("x", 2), ("x", 1), ("x", 2)], [("x", 1), ("x", 2)]),
        ([0.5, 0.25, 0.5], [0.25, 0.5]),
        (["all", "all", "all"], ["all"]),
    ],
)
def test_segments_may_be_any_hashables_and_are_sorted_by_value(segments, order):
    scores = evaluate_segments(by=[segments[query] for query in (0, 0, 1, 1, 2, 2)])
    assert list(scores) == order
    assert [type(segment) for segment in scores] == [type(segment) for segment in order]
    assert scores[segments[0]] == scores[order[-1] if len(order) > 1 and segments[0] == order[-1] else segments[0]]
    assert list(evaluate_segments(by=dict(zip("abc", segments, strict=True)))) == order
    assert "xx" not in scores
    with pytest.raises(KeyError, match="there is no segment 'xx'"):
        scores["xx"]
    assert dict(scores)[order[0]] == scores[order[0]]


def test_intervals_use_students_t_and_the_standard_error_of_the_queries():
    stats = pytest.importorskip("scipy.stats")
    pytest.importorskip("pandas")
    for n_queries in (3, 8, 12, 40, 400):
        data = rows(1, n_queries)
        frame = ra.evaluate(
            data["label"], data["score"], ["textbook@3", "catboost.query_rmse"], qid=data["qid"], by=data["segment"]
        ).to_frame()
        for row in frame.itertuples():
            mask = data["segment"] == row.segment if row.segment in {"se", "no", "dk"} else slice(None)
            evaluator = ra.Evaluator(data["label"][mask], row.name, qid=data["qid"][mask])
            expected = evaluator.standard_error(data["score"][mask])
            assert row.standard_error == pytest.approx(expected, rel=1e-13, nan_ok=True)
            half_width = stats.t.ppf(0.975, row.n_scored - 1) * expected if row.n_scored > 1 else math.nan
            most = 1 if row.name == "ndcg@3/textbook" else math.inf
            interval = [np.maximum(row.value - half_width, 0), np.minimum(row.value + half_width, most)]
            assert [row.low, row.high] == pytest.approx(interval, rel=1e-5, abs=1e-6, nan_ok=True)


def test_an_interval_stays_within_the_limits_of_the_measure():
    labels, scores = [1, 0, 0, 0, 0, 0, 1, 0], [4, 3, 2, 1, 4, 3, 2, 1]  # RR 1 and 1/3
    measures = ["catboost.mrr@4", "catboost.query_rmse", "scipy.kendalltau", "ranx.dcg@4"]
    segments = ra.evaluate(labels, scores, measures, group_sizes=[4, 4], by=["x"] * 8)
    reciprocal, loss, tau, dcg = segments.to_dict()["segments"][:4]
    assert (dcg["low"], dcg["high"] > 1) == (0, True)
    assert (reciprocal["low"], reciprocal["value"], reciprocal["high"]) == (0, pytest.approx(2 / 3), 1)
    assert loss["low"] == 0
    assert loss["high"] > 2 * loss["value"]
    assert (tau["low"], tau["high"]) == (-1, 1)


def test_equal_values_have_a_zero_width_interval_and_one_query_has_none():
    lines = ra.evaluate(LABELS, LABELS, "textbook@2", qid=QID, by=SEGMENTS).to_dict()["segments"]
    assert [(line["segment"], line["low"], line["high"]) for line in lines] == [
        ("no", None, None), ("se", 1.0, 1.0), (None, 1.0, 1.0),
    ]  # fmt: skip


def test_intervals_do_not_depend_on_the_scale_of_the_weights():
    def overall_row(scale):
        convention, weights = ra.parse("textbook@2").replace(average="query"), scale * np.array([0.5, 1.5, 1.0])
        return evaluate_segments(convention, by=["x"] * 6, query_weight=weights).to_dict()["segments"][0]

    for scale in (1e-100, 1e140):
        assert overall_row(scale)["standard_error"] == pytest.approx(overall_row(1)["standard_error"], rel=1e-12)
    assert overall_row(1e-300)["low"] is None  # these squares underflow: better no interval than one of width 0


def test_frame_dict_and_table_have_rows_for_each_segment_and_for_all_queries():
    pytest.importorskip("pandas")
    segments = evaluate_segments(["textbook@2", "yahoo@2"])
    frame = segments.to_frame()
    assert list(frame.columns) == [
        "segment", "name", "signature", "value", "n_queries", "n_scored", "n_empty", "n_short", "standard_error",
        "low", "high",
    ]  # fmt: skip
    assert frame.segment.fillna("-").tolist() == ["no", "no", "se", "se", "-", "-"]
    assert frame.value.tolist()[4:] == [score.value for score in segments.all.values()]
    assert [row["value"] for row in segments.to_dict()["segments"]] == frame.value.tolist()
    lines = str(segments.table()).splitlines()
    assert lines[0] == "Segments, intervals of 95 %"
    assert lines[2].split() == ["no", "ndcg@2/textbook", "1.0000", "1", "1", "0", "0", "-", "-"]
    assert lines[-1].split()[:3] == ["all", "ndcg@2/yahoo", "0.8770"]
    assert segments._repr_html_() == segments.table().html()
    assert segments._repr_markdown_() == segments.table().markdown()
    assert repr(segments).startswith("Segments({'no': Scores(")


CET, CEST = timezone(timedelta(hours=1)), timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("segments", "values"),
    [
        ([2**53, 2**53 + 1, 2**53], [2**53, 2**53 + 1]),
        ([2**70, 2**70 + 1, 2**70], [2**70, 2**70 + 1]),
        ([np.int8(1), np.int8(2), np.int8(1)], [1, 2]),
        ([0.5, 1.0, 0.5], [0.5, 1]),
        ([True, False, True], [False, True]),
        ([Fraction(1, 3), Decimal("0.1"), 2], [0.1, 1 / 3, 2]),
        ([np.longdouble(1) / 3, 0.25, 0.25], [0.25, 1 / 3]),
        ([datetime(2026, 1, 31, 12, tzinfo=CET), datetime(2026, 1, 31, 12, tzinfo=CEST)] * 2,
         [datetime(2026, 1, 31, 12, tzinfo=CEST), datetime(2026, 1, 31, 12, tzinfo=CET)]),
    ],
)  # fmt: skip
def test_a_frame_and_the_rows_of_json_keep_the_values_of_segments(segments, values):
    pytest.importorskip("pandas")
    for by in ([segments[query] for query in (0, 0, 1, 1, 2, 2)], dict(zip("abc", segments, strict=False))):
        result = evaluate_segments(by=by)
        column = result.to_frame().segment
        assert column.isna().tolist() == [*[False] * len(values), True]
        assert column.tolist()[:-1] == values
        assert [str(segment) for segment in column.tolist()[:-1]] == [str(value) for value in values]
        json_values = [value if isinstance(value, (int, float)) else str(value) for value in values]
        assert [row["segment"] for row in result.to_dict()["segments"]] == [*json_values, None]
        assert all(result[segment] is result[key] for key in result for segment in segments if segment == key)


def test_times_of_a_pandas_column_keep_their_zone_and_all_digits():
    pd = pytest.importorskip("pandas")
    times = pd.DatetimeIndex(["2026-01-31 12:00:00.000000001", "2026-07-31 12:00:00.000000000"], tz="Europe/Oslo")
    segments = evaluate_segments(by=pd.Series(times[[0, 0, 1, 1, 1, 1]]))
    assert list(segments) == times.tolist()
    assert segments.to_frame().segment.dtype == times.dtype
    assert segments[times[1].tz_convert("UTC")] is segments[times[1]]


def test_a_plot_has_a_line_at_the_overall_value_if_there_is_one():
    pytest.importorskip("matplotlib")
    [axes] = evaluate_segments().plot().axes
    assert axes.lines[0].get_xdata() == pytest.approx([evaluate_segments().all.value] * 2)
    [axes] = evaluate_segments(["textbook@2", "yahoo@2"]).plot().axes
    assert len(axes.lines) == 8  # an interval and a point for each of 4 rows


def test_a_pandas_column_of_segments_must_have_the_index_of_the_labels():
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


def test_a_segment_without_a_value_is_refused_by_name():
    with pytest.raises(ra.InputError, match="segment 'no': nothing is left to average: every query was skipped"):
        ra.evaluate([1, 0, 0, 0], [1, 2, 1, 2], SKIPPING, qid=[1, 1, 2, 2], by={1: "se", 2: "no"})


def test_a_frame_of_query_values_tells_about_each_query():
    pytest.importorskip("pandas")
    queries = ra.Queries(
        [2, 1, 0, 0, 0, 1], qid=[1, 1, 1, 2, 2, 3], query_weight=[1.0, 2.0, 3.0], docid=list("abcdef"),
        retrieved=[True, False, True, True, True, False], judged=[True, True, True, False, True, True],
    )  # fmt: skip
    conventions = ["trec_eval_9.recip_rank+average=query", "trec_eval_9.P_5+average=query"]
    frame = ra.per_query(queries, {"x": np.arange(6), "y": np.ones(6)}, conventions, frame=True)
    for model in ("x", "y"):
        facts = frame[frame.model == model].set_index("qid")
        assert facts["n_rows"].tolist() == [3, 2, 1]
        assert facts["n_retrieved"].tolist() == [2, 2, 0]
        assert facts["n_relevant"].tolist() == [2, 0, 1]
        assert facts["empty"].tolist() == [False, True, False]
        assert facts["query_weight"].tolist() == [1, 2, 3]
    thresholds = ["trec_eval_9.recip_rank+average=query+relevant=from_2", conventions[1]]
    assert "n_relevant" not in ra.per_query(queries, np.arange(6), thresholds, frame=True)
    assert "n_relevant" not in ra.per_query(
        queries, np.arange(6), "textbook@2+average=query+missing=zero+unjudged=zero", frame=True
    )


def test_per_query_returns_the_values_of_an_evaluator():
    values = ra.Evaluator(LABELS, "textbook@2", qid=QID).per_query(SCORES)
    assert ra.per_query(LABELS, SCORES, "textbook@2", qid=QID).tolist() == values.tolist()
    by_convention = ra.per_query(LABELS, SCORES, ["textbook@2", "yahoo@1"], qid=QID)
    assert by_convention["textbook@2"].tolist() == values.tolist()
    models = ra.per_query(LABELS, {"x": SCORES, "y": LABELS}, ["textbook@2"], qid=QID)
    assert models["textbook@2"]["x"].tolist() == values.tolist()
    with pytest.raises(ra.UnsupportedConventionError, match="has no per-query values"):
        ra.per_query(LABELS, SCORES, "lightgbm.auc", qid=QID)


@pytest.mark.parametrize(
    ("segments", "problem"),
    [
        ([True, 1, 1], r"1 \(number\), but by\[\d\] is True \(bool\)"),
        ([1, True, 2.0], r"True \(bool\), but by\[\d\] is 1 \(number\)"),
        ([("x", 1), ("x", True), ("x", 1)], r"\(\(text, bool\)\), but by\[\d\] is \('x', 1\)"),
        ([1, "1", 2], "by has the segments 1 and '1', which results would print alike"),
        (["True", True, False], "by has the segments .*True.*, which results would print alike"),
        ([(1, 2), "(1, 2)", "x"], "which results would print alike"),
        ([Decimal("0.1"), 0.1, 0.2], "which results would print alike"),
    ],
)
def test_segments_that_are_equal_or_printed_alike_are_refused(segments, problem):
    by_row = [segments[query] for query in (0, 0, 1, 1, 2, 2)]
    for by in (by_row, np.fromiter(by_row, object, 6), dict(zip("abc", segments, strict=True))):
        with pytest.raises(ra.InputError, match=problem):
            evaluate_segments(by=by)
    table = {"label": LABELS, "score": SCORES, "qid": QID}
    with pytest.raises(ra.InputError, match=problem):
        ra.evaluate_table(table, "textbook@2", by=dict(zip("abc", segments, strict=True)))


def test_a_query_that_a_mapping_names_in_two_ways_is_refused():
    noon = datetime(2026, 1, 31, 12)  # noqa: DTZ001 - ids without a zone are in UTC
    by = {noon: "x", noon.replace(tzinfo=UTC): "y"}
    arguments = [1, 0], [1, 2], "textbook@2"
    with pytest.raises(ra.InputError, match=r"by names one query twice, as datetime.* and as datetime"):
        ra.evaluate(*arguments, qid=[noon, noon], by=by)
    with pytest.raises(ra.InputError, match="by names one query twice"):
        ra.evaluate_table({"label": [1, 0], "score": [1, 2], "qid": [noon, noon]}, "textbook@2", by=by)


def test_the_total_has_another_name_than_any_segment():
    def first_cells(*names):
        segments = evaluate_segments(by=dict(zip("abc", names, strict=True)))
        return [line.split("  ")[0] for line in str(segments).split("\n")]

    assert first_cells("x", "x", "y")[2:] == ["x", "y", "all"]
    assert first_cells("all", "x", "all")[2:] == ["all", "x", "all queries"]
    assert first_cells("all", "all queries", "x")[-1] == "all queries queries"
    segments = evaluate_segments(by=dict.fromkeys("abc", "all"))
    assert segments["all"] == segments.all
    assert [row["segment"] for row in segments.to_dict()["segments"]] == ["all", None]


def test_a_model_named_none_is_one_of_the_models():
    models = {None: SCORES, "other": LABELS}
    expected = ra.evaluate(LABELS, {"none": SCORES, "other": LABELS}, "textbook@2", qid=QID)
    scores = ra.evaluate(LABELS, models, "textbook@2", qid=QID)
    assert list(scores.items()) == list(zip(models, expected.values(), strict=True))
    assert list(ra.evaluate(LABELS, {None: SCORES}, ["textbook@2"], qid=QID)["textbook@2"]) == [None]
    assert list(evaluate_segments(by=SEGMENTS)["se"].to_dict()) == list(scores[None].to_dict())
    by_segment = ra.evaluate(LABELS, models, "textbook@2", qid=QID, by=SEGMENTS)
    assert [list(result) for result in (by_segment["se"], by_segment.all)] == [[None, "other"]] * 2
    values = ra.per_query(LABELS, models, "textbook@2", qid=QID)
    assert list(values) == [None, "other"]
    pytest.importorskip("pandas")
    frame = ra.per_query(LABELS, models, "textbook@2", qid=QID, frame=True)
    assert frame["model"].isna().tolist() == [True] * 3 + [False] * 3


MARKET, DEVICE = ["se", "se", "no", "no", "no", "no"], ["phone", "phone", "desk", "desk", "phone", "phone"]


def two_columns(form):
    columns = {"market": MARKET, "device": DEVICE}
    if form == "sequence":
        return [np.array(MARKET), DEVICE]
    if form == "mapping":
        return columns
    package = pytest.importorskip(form)
    return package.table(columns) if form == "pyarrow" else package.DataFrame(columns)


@pytest.mark.parametrize("form", ["sequence", "mapping", "pandas", "polars", "pyarrow"])
def test_several_columns_make_a_segment_of_each_combination(form):
    segments = evaluate_segments(by=two_columns(form))
    pairs = evaluate_segments(by=list(zip(MARKET, DEVICE, strict=True)))
    assert list(segments) == [("no", "desk"), ("no", "phone"), ("se", "phone")]
    assert segments == pairs
    assert segments["no", "desk"].n_queries == 1
    names = ["no, desk", "no, phone", "se, phone"]
    if form != "sequence":
        names = ["market=no, device=desk", "market=no, device=phone", "market=se, device=phone"]
    assert [str(segment) for segment in segments] == names
    assert [row["segment"] for row in segments.to_dict()["segments"]] == [*names, None]
    assert all(name in str(segments) for name in names)


def test_columns_of_one_name_are_all_counted():
    pd = pytest.importorskip("pandas")
    both = [pd.Series(MARKET, name="x"), pd.Series(DEVICE, name="x")]
    assert list(evaluate_segments(by=both)) == [("no", "desk"), ("no", "phone"), ("se", "phone")]


def test_columns_of_pandas_name_the_segments():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"market": MARKET, "device": DEVICE})
    segments = evaluate_segments(by=[frame["market"], frame["device"]])
    assert str(next(iter(segments))) == "market=no, device=desk"
    assert segments.to_frame()["segment"].tolist()[0] == ("no", "desk")
    assert str(next(iter(pickle.loads(pickle.dumps(segments))))) == "market=no, device=desk"


@pytest.mark.parametrize(
    ("device", "message"),
    [
        (DEVICE[:4], r"by\['device'\] has 4 entries but labels has 6 rows"),
        ([*DEVICE[:5], "desk"], r"by\['device'\]\[5\] is 'desk', but query c began with 'phone'"),
        ([*DEVICE[:5], None], r"by\['device'\]\[5\] is None, but every query belongs to a segment"),
    ],
)
def test_an_error_names_the_column_of_segments(device, message):
    with pytest.raises(ra.InputError, match=message):
        evaluate_segments(by={"market": MARKET, "device": device})
