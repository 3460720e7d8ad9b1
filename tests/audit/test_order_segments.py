"""`ra.audit.order(..., by=)` compares models in segments of queries."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.statistics.significance import holm
from tests.audit.test_order import CATBOOST, YAHOO, make_models

SEGMENTS = np.array(["de", "fr", "us"])


def segment_order(conventions=YAHOO, names=("good", "noise"), **options):
    queries, scores = make_models()
    by = queries.per_row(SEGMENTS[np.arange(queries.n_queries) % 3])
    models = {name: scores[name] for name in names}
    return queries, models, by, ra.audit.order(queries, models, conventions, by=by, n_resamples=199, **options)


def uncorrected(report):
    return [replace(c, p_corrected=None, significant=False) for c in report.comparisons]


@pytest.mark.parametrize("n_models", [2, 3])
def test_a_segment_equals_order_of_its_queries(n_models):
    names = ("good", "noise", "tied")[:n_models]
    queries, models, by, report = segment_order([YAHOO, CATBOOST], names)
    assert list(report.segments) == ["de", "fr", "us"]
    for segment, in_segment in [*report.segments.items(), (None, report.all)]:
        rows = np.full(by.size, True) if segment is None else by == segment
        columns = {name: scores[rows] for name, scores in models.items()}
        qid = queries.query_of_row[rows]
        alone = ra.audit.order(queries.labels[rows], columns, [YAHOO, CATBOOST], qid=qid, n_resamples=199)
        with_first = [c for c in uncorrected(alone) if c.first == "good"]
        assert uncorrected(in_segment) == with_first
        values = [[score.value for score in of.values()] for of in in_segment.scores.values()]
        assert values == [[score.value for score in of.values()] for of in alone.scores.values()]


def test_p_values_are_corrected_over_all_segments_models_and_conventions():
    *_, report = segment_order([YAHOO, CATBOOST], ("good", "tied", "noise"))
    comparisons = report.comparisons
    assert len(comparisons) == 4 * 2 * 2
    assert [c.p_corrected for c in comparisons] == holm([c.p_value for c in comparisons]).tolist()
    assert {(c.first, c.second) for c in comparisons} == {("good", "tied"), ("good", "noise")}
    assert "corrected for 16 comparisons" in report.notes[0]
    assert report.notes[0].startswith("de, fr, us: ")


def test_p_values_equal_scipys_paired_tests_within_resampling():
    stats = pytest.importorskip("scipy.stats")
    queries, models, by, _ = segment_order()
    report = ra.audit.order(queries, models, YAHOO, by=by, n_resamples=9999)
    values = [ra.per_query(queries, scores, YAHOO) for scores in models.values()]
    for number, comparison in enumerate(report.comparisons):
        chosen = np.arange(queries.n_queries) % 3 == number if number < 3 else slice(None)
        first, second = (column[chosen] for column in values)
        resampled = stats.permutation_test(
            (first, second),
            lambda a, b: a.mean() - b.mean(),
            permutation_type="samples",
            n_resamples=9999,
            random_state=0,
        ).pvalue
        assert comparison.p_value == pytest.approx(resampled, abs=5 * math.sqrt(0.01 * 0.99 / 9999) + 2e-3)
        assert comparison.p_value == pytest.approx(stats.ttest_rel(first, second).pvalue, abs=0.02)


def test_every_form_of_by_gives_the_same_report():
    queries, models, by, report = segment_order()
    mapping = dict(zip(queries.query_ids.tolist(), SEGMENTS[np.arange(queries.n_queries) % 3].tolist(), strict=True))
    forms = [mapping, by.tolist()]
    for form in forms:
        assert ra.audit.order(queries, models, YAHOO, by=form, n_resamples=199).to_dict() == report.to_dict()


def test_segments_of_several_columns_are_tuples():
    queries, models, by, _ = segment_order()
    columns = {"market": by, "device": np.where(queries.query_of_row % 2, "desk", "phone")}
    report = ra.audit.order(queries, models, YAHOO, by=columns, n_resamples=199)
    assert len(report.segments) == 6
    assert "device=phone, market=us, device=desk and 1 more: no difference can be sign" in report.notes[0]
    assert "market=de, device=phone  " in str(report)
    alone = ra.audit.order(queries, models, YAHOO, by=list(zip(*columns.values(), strict=True)), n_resamples=199)
    assert report.comparisons == alone.comparisons
    assert report.segments["de", "phone"] == alone.segments["de", "phone"]


def test_models_with_queries_of_their_own_are_aligned():
    queries, models, _, report = segment_order()
    reverse = np.arange(queries.n_docs)[::-1]
    turned = ra.Queries(queries.labels[reverse], qid=queries.query_of_row[reverse])
    by = {query: str(SEGMENTS[query % 3]) for query in range(queries.n_queries)}
    of_ids = ra.Queries(queries.labels, qid=queries.query_of_row)
    both = {"good": of_ids, "noise": turned}
    scores = {"good": models["good"], "noise": models["noise"][reverse]}
    assert ra.audit.order(both, scores, YAHOO, by=by, n_resamples=199).to_dict() == report.to_dict()


def test_the_report_prints_a_table_a_frame_and_a_forest_plot():
    *_, report = segment_order()
    text = str(report)
    assert text.startswith("good minus noise is +0.176969")
    assert "good is ahead in 3 of 3 segments and noise in 0; 3 of these differences are significant." in text
    assert [line.split()[0] for line in text.splitlines()[4:8]] == ["de", "fr", "us", "all"]
    assert "| de | 20 | good - noise | ndcg@5/yahoo | good |" in report.to_markdown()
    assert r"\toprule" in report.to_latex()
    assert list(json.loads(report.to_json())["segments"]) == ["de", "fr", "us"]


def test_the_frame_has_a_row_for_each_comparison():
    pytest.importorskip("pandas")
    *_, report = segment_order()
    frame = report.to_frame()
    assert frame["segment"].tolist()[:3] == ["de", "fr", "us"]
    assert frame["segment"].isna().tolist() == [False, False, False, True]
    assert frame["difference"].tolist() == [c.difference for c in report.comparisons]
    assert frame["n_scored"].tolist() == [20, 20, 20, 60]


def test_the_forest_plot_draws_each_difference_with_its_interval():
    pytest.importorskip("matplotlib")
    *_, report = segment_order()
    [axes] = report.plot().axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["de", "fr", "us", "all"]
    drawn = [tuple(line.get_xdata()) for line in axes.lines[1::2]]
    assert drawn == [(c.low, c.high) for c in report.comparisons]
    assert axes.get_xlabel() == "good minus noise, 95 % interval"


@pytest.mark.parametrize(("n_segments", "more"), [(5, ""), (7, " and 2 more")])
def test_a_note_of_many_segments_names_five(n_segments, more):
    scores, by = {"a": [1, 2] * n_segments, "b": [2, 1] * n_segments}, np.repeat(np.arange(n_segments), 2)
    report = ra.audit.order([1, 0] * n_segments, scores, "textbook@2", group_sizes=[2] * n_segments, by=by)
    assert report.notes[0].startswith(f"0, 1, 2, 3, 4{more}: a single query says nothing of significance")


def test_a_segment_named_all_differs_from_all_queries():
    report = ra.audit.order(
        [1, 0, 0, 1], {"a": [2, 1, 1, 2], "b": [1, 2, 2, 1]}, YAHOO, by=["all"] * 4, group_sizes=[2] * 2
    )
    assert [line.split("  ")[0] for line in str(report).splitlines()[4:6]] == ["all", "all queries"]


def test_a_page_shows_the_segments():
    pytest.importorskip("matplotlib")
    queries, models, by, _ = segment_order()
    page = ra.audit.page(queries, models, YAHOO, by=by, n_resamples=49)
    assert "Segments of queries" in page
    assert "Differences in segments" in page
    assert "Segments of queries" not in ra.audit.page(queries, models, YAHOO, n_resamples=49)


def test_a_measure_over_all_rows_has_no_segments():
    queries, models, by, _ = segment_order()
    with pytest.raises(ra.UnsupportedConventionError, match="takes all rows as one query"):
        ra.audit.order(queries.labels > 0, models, "sklearn.roc_auc_score", by=by, qid=queries.query_of_row)


def test_an_error_names_the_segment():
    scores = {"a": [2, 1, 2, 1], "b": [1, 2, 1, 2]}
    skip = YAHOO.replace(empty="skip")
    with pytest.raises(ra.InputError, match="segment 'fr': "):
        ra.audit.order([1, 0, 0, 0], scores, skip, by=["de", "de", "fr", "fr"], group_sizes=[2, 2])
    with pytest.raises(ra.InputError, match="by has 2 entries but labels has 4 rows"):
        ra.audit.order([1, 0, 0, 1], scores, YAHOO, by=["de", "fr"], group_sizes=[2, 2])


def test_progress_reaches_its_end():
    steps = []
    segment_order(progress=lambda step, n_steps: steps.append(step / n_steps))
    assert steps == sorted(steps)
    assert steps[-1] == 1
