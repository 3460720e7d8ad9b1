import importlib
import sys
from math import log2

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.parity import ParityError
from tests.catboost_data import (
    BASE,
    as_dcg,
    convention_of,
    expressible,
    float32,
    kept_records,
    make_data,
    printed,
    records,
    without_exp,
)

cb = pytest.importorskip("catboost")

# What CatBoost 1.2.10 printed.


def our_values(record, metrics):
    labels, weights = float32(record["labels"]), float32(record.get("query_weight"))
    queries = {
        average: ra.Queries(labels, group_sizes=record["group"], query_weight=weights if average == "query" else None)
        for average in ("query", "uniform")
    }
    conventions = {metric: convention_of(metric) for metric in metrics}
    return {m: ra.evaluate(queries[c.average], record["scores"], c).value for m, c in conventions.items()}


@pytest.mark.parametrize("record", records())
def test_golden_values_are_ours(record):
    assert len(printed(record)) == 49
    values = without_exp(printed(record), record["labels"])
    assert our_values(record, values) == pytest.approx(values, rel=1e-9)


@pytest.mark.parametrize("record", [case for case in kept_records() if min(case.values[0]["labels"]) < 0])
def test_negative_labels_under_exp_are_refused_by_name(record):
    with pytest.raises(ra.InputError, match=r"labels\[\d+\] is -\d\.\d+, negative"):
        our_values(record, ["NDCG:top=5;type=Exp;denominator=LogPosition"])


# The metric string.


@pytest.mark.parametrize("convention", expressible(), ids=str)
def test_metric_string_means_the_convention_to_catboost(convention):
    labels, scores, qid, weights = make_data(lowest=0.0 if convention.gain == "exp2" else -9.0)
    metric = ra.catboost.native_metric(convention)
    [theirs] = cb.utils.eval_metric(labels, scores, metric, group_id=qid, group_weight=weights[qid])
    given = weights if convention.average == "query" else None
    assert theirs == pytest.approx(ra.evaluate(labels, scores, convention, qid=qid, query_weight=given).value, rel=1e-9)


@pytest.mark.parametrize(
    ("convention", "metric"),
    [
        (BASE, "NDCG:top=10;type=Base;denominator=LogPosition"),
        (BASE.at(None), "NDCG:top=-1;type=Base;denominator=LogPosition"),
        (as_dcg(BASE.replace(gain="exp2", discount="reciprocal")), "DCG:top=10;type=Exp;denominator=Position"),
        (BASE.replace(average="uniform"), "NDCG:top=10;type=Base;denominator=LogPosition;use_weights=false"),
    ],
)
def test_metric_string_spells_every_parameter(convention, metric):
    assert ra.catboost.native_metric(convention) == metric


@pytest.mark.parametrize("change", [{"missing": "zero"}, {"unjudged": "drop"}, {"ideal": "retrieved"}])
def test_what_only_retrieval_runs_need_is_no_obstacle(change):
    assert ra.catboost.native_metric(BASE.replace(**change)) == ra.catboost.native_metric(BASE)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        *(({"ties": t}, f"ties='{t}', only ties='worst'") for t in ("input", "reverse", "average", "best")),
        ({"ties": "docid-ascending"}, "ties='docid-ascending', only ties='worst'"),
        ({"ties": "docid-descending"}, "ties='docid-descending', only ties='worst'"),
        ({"precision": "float32"}, "precision='float32', only precision='float64'"),
        ({"short": "zero"}, "short='zero', only short='pad'"),
        ({"short": "skip"}, "short='skip', only short='pad'"),
        ({"empty": 0}, "empty=0, only empty=1"),
        ({"empty": 0.5}, "empty=0.5, only empty=1"),
        ({"empty": "skip"}, "empty='skip', only empty=1"),
        ({"empty": "error"}, "empty='error', only empty=1"),
        ({"gain": "exp2-floor"}, "gain='exp2-floor', only gain='exp2'"),
        ({"gain": "linear-positive"}, "gain='linear-positive', only gain='linear'"),
        ({"gain": "table_0_1_3"}, "gain='table_0_1_3', only gain='exp2'"),
        ({"gain": "table_0_1_2"}, "gain='table_0_1_2', only gain='linear'"),
        ({"discount": "jk2"}, "discount='jk2', only discount='log2'"),
        ({"ideal": "all"}, "ideal='all', only ideal='cutoff'"),
        ({"average": "query-except-empty"}, "average='query-except-empty', only average='query'"),
        ({"k": 2**31}, "k=2147483648, only k=None"),
    ],
)
def test_fields_that_catboost_cannot_express_are_named(change, named):
    with pytest.raises(ra.UnsupportedConventionError) as caught:
        ra.catboost.native_metric(BASE.replace(**change))
    assert str(caught.value).startswith(f"CatBoost cannot express {named}.\nHint: the nearest it can express is ")


def test_every_inexpressible_field_is_named_and_the_nearest_convention_is_expressible():
    with pytest.raises(ra.UnsupportedConventionError) as caught:
        ra.catboost.native_metric(ra.presets.letor4(5))
    message = str(caught.value)
    assert message.startswith("CatBoost cannot express gain='table_0_1_3', discount='jk2', ties='input', short='zero'")
    nearest = ra.parse(message.rpartition(" ")[2].removesuffix("."))
    assert ra.catboost.native_metric(nearest) == "NDCG:top=5;type=Exp;denominator=LogPosition;use_weights=false"


@pytest.mark.parametrize(
    ("other", "message"), [("NDCG:top=5", "'NDCG:top=5' is neither a preset@k"), (5, "5 is no convention.\nHint")]
)
def test_what_is_no_convention_is_refused(other, message):
    with pytest.raises(ra.ConventionError, match=message):
        ra.catboost.native_metric(other)


def test_the_text_of_a_convention_is_written_like_the_convention():
    assert ra.catboost.native_metric("catboost@10+gain=exp2") == ra.catboost.native_metric(BASE.replace(gain="exp2"))


# In a training.


def train(metric, weights=None):
    rng = np.random.default_rng(3)
    features = rng.normal(size=(240, 4))
    labels = float32(np.clip(features[:, 0] + rng.normal(size=240) + 1, 0, 4).round(1))
    qid = np.repeat(np.arange(30), 8)
    pool = cb.Pool(features, labels, group_id=qid, group_weight=None if weights is None else weights[qid])
    model = cb.CatBoostRanker(
        iterations=4, depth=3, loss_function="QueryRMSE", eval_metric=metric, thread_count=2, random_seed=0,
        allow_writing_files=False, logging_level="Silent",
    )  # fmt: skip
    model.fit(pool, eval_set=pool, use_best_model=False)
    [key] = [key for key in model.get_evals_result()["validation"] if "DCG" in key]
    return model.get_evals_result()["validation"][key][-1], labels, model.predict(features), qid


@pytest.mark.parametrize(
    "convention", [BASE, BASE.replace(gain="exp2", discount="reciprocal"), as_dcg(BASE.at(None))], ids=str
)
def test_training_reports_the_declared_metric(convention):
    weights = float32(np.random.default_rng(5).uniform(0.1, 5, 30))
    reported, labels, scores, qid = train(ra.catboost.native_metric(convention), weights)
    ours = ra.evaluate(labels, scores, convention, qid=qid, query_weight=weights)
    assert reported == pytest.approx(ours.value, rel=1e-9)


def test_training_reports_a_uniform_mean_on_data_without_group_weights():
    convention = BASE.at(3).replace(average="uniform")
    reported, labels, scores, qid = train(ra.catboost.native_metric(convention, group_weights=False))
    assert reported == pytest.approx(ra.evaluate(labels, scores, convention, qid=qid).value, rel=1e-9)


def test_catboost_refuses_use_weights_in_a_training_without_object_weights():
    # CatBoost 1.2.10, metric.cpp: why native_metric has group_weights=False.
    with pytest.raises(cb.CatBoostError, match="'use_weights' parameter must not be specified"):
        train(ra.catboost.native_metric(BASE.replace(average="uniform")))


# The report.


@pytest.mark.parametrize(
    ("record", "metric"),
    [
        pytest.param(*case.values, metric, id=f"{case.id}-{metric}")
        for case in kept_records()
        for metric in without_exp(
            dict.fromkeys(["NDCG:top=10;type=Exp;denominator=Position", "DCG:type=Base;denominator=Position"]),
            case.values[0]["labels"],
        )
    ],
)
def test_the_installed_catboost_gives_the_golden_values(record, metric):
    columns = {"group_sizes": record["group"], "query_weight": record.get("query_weight")}
    [row] = ra.catboost.check_parity(record["labels"], record["scores"], convention_of(metric), **columns).rows
    assert row.verdict == "equal"
    assert row.value == pytest.approx(printed(record)[metric], rel=1e-9)


def test_an_expressible_convention_gives_one_equal_row():
    labels, scores, qid, weights = make_data()
    report = ra.catboost.check_parity(labels, scores, BASE, qid=qid, query_weight=weights)
    [row] = report.rows
    assert (row.verdict, row.convention, row.version, row.reason) == ("equal", BASE, cb.__version__, "")
    assert row.source == "catboost.utils.eval_metric NDCG:top=10;type=Base;denominator=LogPosition"
    assert row.our_value == ra.evaluate(labels, scores, BASE, qid=qid, query_weight=weights).value
    assert abs(row.value - row.our_value) <= row.tolerance == 1e-9


def test_an_inexpressible_convention_is_compared_at_the_nearest_and_then_stated():
    labels, scores = [2, 0, 1], [0.1, 0.7, 0.7]
    report = ra.catboost.check_parity(labels, scores, ra.presets.textbook(2), group_sizes=[3])
    nearest, declared = report.rows
    ideal = 3 + 1 / log2(3)
    assert report.ok
    assert nearest.value == pytest.approx(1 / log2(3) / ideal)  # the tied 1 stands below the tied 0
    assert declared.our_value == pytest.approx((1 + 1 / log2(3)) / 2 / ideal)
    assert (declared.verdict, declared.value) == ("not-comparable", None)
    assert declared.reason.startswith(
        "CatBoost cannot express ties='average', only ties='worst', which matters here. "
        "Of no consequence here: empty=0, only empty=1.\nThe nearest it can: ndcg@2/"
    )


@pytest.mark.parametrize("preset", [getattr(ra.presets, name) for name in ra.presets.names()])
@pytest.mark.parametrize("k", [3, None])
def test_every_presets_nearest_convention_agrees(preset, k):
    labels, scores, qid, weights = make_data(seed=7)
    convention, labels = preset(k), np.clip(labels.round(), 0, 2)
    given = None if convention.average == "uniform" else weights
    docid = [f"d{row}" for row in range(len(labels))]
    queries = ra.Queries(labels, qid=qid, query_weight=given, docid=docid)
    report = ra.catboost.check_parity(queries, scores, convention)
    report.raise_if_failed()
    assert report.rows[-1].our_value == ra.evaluate(queries, scores, convention).value


@pytest.mark.parametrize("as_queries", [False, True])
def test_interleaved_queries_are_brought_together(as_queries):
    labels, scores, qid, weights = make_data()
    together = ra.evaluate(labels, scores, BASE, qid=qid, query_weight=weights).value
    mixed = np.random.default_rng(1).permutation(qid.size)
    weights = weights[np.unique(qid[mixed], return_index=True)[1].argsort()]  # by first appearance
    columns = {"qid": [f"q{q}" for q in qid[mixed]], "query_weight": weights}
    if as_queries:
        report = ra.catboost.check_parity(ra.Queries(labels[mixed], **columns), scores[mixed], BASE)
    else:
        report = ra.catboost.check_parity(labels[mixed], scores[mixed], BASE, **columns)
    [row] = report.rows
    assert row.verdict == "equal"
    assert row.our_value == pytest.approx(together)


@pytest.mark.parametrize(
    ("labels", "weights", "reason"),
    [
        ([0.1, 0.7, 1], None, "labels rounded to float32"),
        ([0, 2, 1], [0.1, 0.7], "query_weight rounded to float32"),
        ([0.1, 0.7, 1], [0.1, 0.7], "labels and query_weight rounded to float32"),
        ([0, 0.5, 1], [0.5, 2], ""),
    ],
)
def test_reason_says_what_float32_changed(labels, weights, reason):
    report = ra.catboost.check_parity(labels, [3, 2, 1], BASE, group_sizes=[2, 1], query_weight=weights)
    assert report.ok
    assert report.rows[0].reason.startswith(reason)
    assert bool(report.rows[0].reason) == bool(reason)


def test_one_document_and_float32_scores():
    [row] = ra.catboost.check_parity([2], np.array([0.1], np.float32), as_dcg(BASE), group_sizes=[1]).rows
    assert (row.verdict, row.value, row.our_value) == ("equal", 2.0, 2.0)


def test_inputs_are_not_changed():
    labels, scores, qid, weights = make_data()
    before = [array.copy() for array in (labels, scores, qid, weights)]
    ra.catboost.check_parity(labels, scores, BASE, qid=qid, query_weight=weights)
    assert all(map(np.array_equal, before, (labels, scores, qid, weights)))


def test_a_difference_fails_the_report(monkeypatch):
    monkeypatch.setattr("rankadapters.catboost.data.eval_metric", lambda *args, **kwargs: [0.5])
    report = ra.catboost.check_parity([1, 0], [2, 1], BASE, group_sizes=[2])
    assert report.rows[0].verdict == "different"
    with pytest.raises(ParityError, match=r"0\.5, ours 1\.0, difference -0\.5"):
        report.raise_if_failed()


@pytest.mark.parametrize("convention", [BASE.replace(gain="exp2"), ra.presets.letor4(10)], ids=str)
def test_negative_labels_under_exp_are_named_as_refused_by_ours(convention):
    with pytest.raises(ra.InputError, match=r"labels\[1\] is -0\.5, negative: CatBoost's type=Exp .* our exp2 refuses"):
        ra.catboost.check_parity([1, -0.5], [2, 1], convention, group_sizes=[2])


@pytest.mark.parametrize(
    ("convention", "scores"),
    [
        (ra.presets.yahoo(2), [0.9, 0.1, 0.5, 0.2]),  # no ties, no weights
        (ra.presets.sklearn(2), [0.9, 0.1, 0.5, 0.2]),  # no ties, no empty query
        (ra.presets.sklearn(3), [0.9, 0.1, 0.1, 0.2]),  # a tie of rows with one gain
    ],
    ids=str,
)
def test_where_nothing_depends_on_what_catboost_cannot_express_it_must_agree(convention, scores):
    report = ra.catboost.check_parity([1, 0, 0, 1], scores, convention, group_sizes=[3, 1])
    nearest, declared = report.rows
    assert report.ok
    assert (nearest.verdict, declared.verdict) == ("equal", "equal-on-this-data")
    assert declared.value == pytest.approx(declared.our_value, rel=1e-9)
    assert declared.convention == convention
    assert declared.reason.endswith("on this data that makes no difference.")


def test_a_declared_convention_that_matters_names_the_queries_that_contribute_most():
    labels, scores, qid, _ = make_data()
    row = ra.catboost.check_parity(labels, scores, ra.presets.sklearn(5), qid=qid).rows[1]
    worst = row.per_query.largest()
    assert len(worst) == 5
    assert sum(row.per_query.contributions) == pytest.approx(
        ra.evaluate(labels, scores, ra.presets.catboost(5), qid=qid).value - row.our_value
    )


def test_negative_labels_under_base_agree():
    [row] = ra.catboost.check_parity([1, -0.5, 2], [2, 3, 1], BASE, group_sizes=[2, 1]).rows
    assert row.verdict == "equal"
    first = (-0.5 + 1 / log2(3)) / (1 - 0.5 / log2(3))
    assert row.our_value == pytest.approx((first + 1) / 2)


def test_infinite_scores_are_refused_before_catboost_sees_them():
    # qid sorts the rows for CatBoost; the row named is the caller's.
    with pytest.raises(ra.InputError, match=r"scores\[1\] is inf"):
        ra.catboost.check_parity([1, 0, 1], [2, np.inf, 1], BASE, qid=["a", "b", "a"])


@pytest.mark.parametrize(("labels", "theirs"), [([3, 2, 1, 0], 1.0), ([0, 1, 2, 3], 0.6138273133441086)])
def test_nan_scores_are_reported_with_what_catboost_makes_of_them(labels, theirs):
    # CatBoost 1.2.10: rows of NaN stay in row order, so that the same four documents count 1 or 0.61.
    report = ra.catboost.check_parity(labels, [np.nan] * 4, BASE, group_sizes=[4])
    [row] = report.rows
    assert not report.ok
    assert (row.verdict, row.our_value) == ("not-comparable", None)
    assert row.value == pytest.approx(theirs)
    assert row.reason.startswith("scores[0] is NaN, which has no place in an order, so we refuse it.")


def test_nan_is_named_by_the_callers_row():
    report = ra.catboost.check_parity([1, 0, 1], [2, 1, np.nan], BASE, qid=["a", "b", "a"])
    assert report.rows[0].reason.startswith("scores[2] is NaN")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"labels": [1e39, 0]}, r"labels\[0\] is 1e\+39, beyond float32"),
        ({"query_weight": [1e300]}, r"query_weight\[0\] is 1e\+300, beyond float32"),
        ({"query_weight": [1e-300]}, "the scored queries have weight 0"),
        ({"scores": [1, 2, 3]}, "scores has 3 rows but the queries cover 2"),
        ({"convention": BASE.replace(average="uniform"), "query_weight": [2]}, "average='uniform'"),
        ({"qid": [1, 1]}, "exactly one of qid and group_sizes"),
    ],
)
def test_bad_input_is_refused(columns, message):
    given = {"labels": [1, 0], "scores": [2, 1], "convention": BASE, "group_sizes": [2], **columns}
    with pytest.raises(ra.InputError, match=message):
        ra.catboost.check_parity(**given)


@pytest.mark.parametrize("name", ["retrieved", "judged"])
def test_rows_that_catboost_could_not_be_told_about_are_refused(name):
    queries = ra.Queries([1, 0], group_sizes=[2], **{name: np.array([True, False])})
    with pytest.raises(ra.InputError, match=rf"have {name}=, but to CatBoost every row is retrieved and judged"):
        ra.catboost.check_parity(queries, [2, 1], BASE)


@pytest.mark.parametrize("top", [0, -1])
def test_no_convention_becomes_top_0_which_catboost_scores_1(top):
    with pytest.raises(ra.ConventionError, match=f"k={top} is no cutoff"):
        BASE.replace(k=top)


def test_without_catboost_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "catboost", None)
    monkeypatch.delitem(sys.modules, "rankadapters.catboost", raising=False)
    with pytest.raises(ra.MissingToolkitError, match=r"catboost is not installed.\nHint: .*rankadapters\[catboost\]"):
        importlib.import_module("rankadapters.catboost")
