"""Every public way to evaluate gives the same value, for one preset of every measure; some are better if lower."""

from __future__ import annotations

import json
from importlib.util import find_spec

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import presets
from rankadapters.core.measures import MEASURES
from tests.helpers.command import output_of
from tests.helpers.conventions import DATA, DOCIDS, LABELS, SCORES, VALID, VALID_LABELS, every_measure, without_docids
from tests.helpers.rankings import ranking


def value(convention, **columns):
    return ra.evaluate(LABELS, SCORES, convention, qid=DATA.qid, **columns).value


def test_measures_declare_whether_their_values_are_in_the_unit_interval():
    unbounded = {
        "coverage", "dcg", "err", "filtered-dcg", "kendall", "pair-logit", "pearson", "precision",
        "query-cross-entropy", "query-rmse", "query-soft-max", "rbp", "spearman",
    }  # fmt: skip
    assert {name for name, measure in MEASURES.items() if not measure.in_unit_interval} == unbounded


@every_measure
def test_a_list_of_conventions_and_a_text_give_the_same_value(convention):
    columns = {"qid": DATA.qid, "docid": DOCIDS}
    scores = ra.evaluate(LABELS, SCORES, [convention, "textbook@3", str(convention)], **columns)
    assert scores[convention].value == value(convention, docid=DOCIDS)
    assert value(convention.name, docid=DOCIDS) == value(str(convention), docid=DOCIDS) == scores[convention].value


@pytest.mark.long
@every_measure
def test_a_scorer_returns_the_value_or_its_negative_if_lower_is_better(convention):
    linear = pytest.importorskip("sklearn.linear_model")
    convention = without_docids(convention)
    model = linear.LinearRegression().fit(DATA.X, LABELS)
    expected = ra.evaluate(LABELS, model.predict(DATA.X), convention, qid=DATA.qid).value
    sign = 1 if convention.higher_is_better else -1
    assert ra.sklearn.query_scorer(convention)(model, DATA.X, LABELS, qid=DATA.qid) == sign * expected
    ranker = ra.sklearn.QueryRanker(linear.LinearRegression(), convention=convention).fit(DATA.X, LABELS, qid=DATA.qid)
    assert ranker.score(DATA.X, LABELS, qid=DATA.qid) == sign * expected


@pytest.mark.long
@every_measure
def test_rankers_report_the_value_of_every_round(convention):
    pytest.importorskip("sklearn")
    from tests.helpers import toolkit_rankers

    convention = without_docids(convention)
    toolkits = [toolkit for toolkit in ("lightgbm", "xgboost", "catboost") if find_spec(toolkit)]
    for toolkit in toolkits or pytest.skip("needs a toolkit"):
        rounds = {"iterations": 2, "use_best_model": False} if toolkit == "catboost" else {"n_estimators": 2}
        model = ra.sklearn.QueryRanker(getattr(toolkit_rankers, toolkit)(**rounds), eval_metric=convention)
        model.fit(DATA.X, LABELS, qid=DATA.qid, eval_set=(VALID.X, VALID_LABELS, VALID.qid))
        expected = ra.evaluate(VALID_LABELS, model.predict(VALID.X), convention, qid=VALID.qid).value
        if hasattr(model, "history_"):
            assert [entry.convention for entry in model.history_] == [convention] * 2, toolkit
            reported = model.history_[-1].value
        else:  # CatBoost computes the metric itself and reports it after its loss
            *_, values = model.estimator_.get_evals_result()["validation"].values()
            reported = values[-1]
        assert reported == pytest.approx(expected, rel=1e-6), toolkit  # the toolkits round scores to float32


@pytest.mark.long
@every_measure
def test_the_command_prints_its_preset_and_evaluates_a_table(capsys, write, convention):
    pytest.importorskip("pyarrow")
    text = output_of(capsys, "conventions", str(convention), "--diff", str(convention), "--format", "json")
    [fields] = json.loads(text)["presets"].values()
    assert [f"{field}={value}" for field, value in fields.items()] == str(convention).split("/")[1:-1]
    text = output_of(capsys, "conventions", "--measure", convention.measure, "--k", "3", "--format", "csv")
    assert [line.partition(",")[0] for line in text.splitlines()] == ["preset", *presets.names(convention.measure)]
    rows = zip(DATA.qid, LABELS, SCORES, DOCIDS, strict=True)
    lines = ["query,grade,model,doc", *(",".join(map(str, row)) for row in rows)]
    columns = ("--label", "grade", "--score", "model", "--qid", "query", "--docid", "doc")
    table = write("\n".join(lines) + "\n", "table.csv")
    options = ("--convention", convention.name, "--format", "json")
    [report] = json.loads(output_of(capsys, "evaluate", "--table", table, *columns, *options))["conventions"]
    assert (report["name"], report["value"]) == (convention.name, value(convention, docid=DOCIDS))


LOWER_IS_BETTER = {"query-rmse", "query-soft-max", "pair-logit", "query-cross-entropy", "fall-out", "coverage"}
TRAINING = ranking(20, 60)


def test_lower_is_better_for_losses_fall_out_and_coverage():
    assert {name for name, measure in MEASURES.items() if not measure.higher_is_better} == LOWER_IS_BETTER


@pytest.mark.parametrize("toolkit", ["lightgbm", "xgboost"])
def test_toolkit_weights_count_by_row_and_toolkit_data_have_no_pairs(toolkit):
    """LightGBM has a weight per row. XGBoost has one per query, which every row of the query gets."""
    pytest.importorskip(toolkit)
    by_row = ra.presets.catboost.query_rmse(weights="row")
    rng = np.random.default_rng(0)
    scores = rng.standard_normal(TRAINING.y.size)
    if toolkit == "lightgbm":
        from tests.helpers.lightgbm_datasets import dataset

        weights = row_weight = rng.integers(1, 5, TRAINING.y.size).astype(float)
        make, data = ra.lightgbm.eval_metric, dataset(TRAINING, weight=weights).construct()
    else:
        from tests.helpers.xgboost_matrices import dmatrix

        weights = rng.integers(1, 5, TRAINING.sizes.size).astype(float)
        row_weight = np.repeat(weights, TRAINING.sizes)
        make, data = ra.xgboost.eval_metric, dmatrix(TRAINING, weight=weights)
    expected = ra.evaluate(TRAINING.y, scores, by_row, qid=TRAINING.qid, row_weight=row_weight).value
    assert make(by_row)(scores, data)[0][1] == expected
    no_pairs = pytest.raises(ra.InputError, match="pairs='given' needs pairs=, but none were given")
    with pytest.warns(UserWarning, match="ignores them"), no_pairs:
        make("catboost.pair_logit")(scores, data)
