"""`Trials`: values of many candidate scores, and of steps along a column, against `Evaluator`."""

import math
import subprocess
import sys
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.ranking.compiled import NEVER, NOW, kernels
from rankadapters.learners import trials as trials_module
from rankadapters.learners.trials import Trials
from tests.helpers.conventions import conventions
from tests.helpers.oracle_rows import columns_and_scores, ragged_queries, takes_probabilities, weights_and_pairs
from tests.helpers.parameters import examples
from tests.helpers.rankings import ranking

DATA = ranking(3, 40)
STEPS = [-0.5, 0.0, 1e-3, 0.25, 2.0]
MEASURES = ["ranklib@3", "textbook@3", "letor4@5", "ranklib.map", "ranklib.err@5", "lightgbm@3", "sklearn.dcg@4",
            "ranklib.rr@5", "catboost.query_rmse", "lightgbm.auc"]  # fmt: skip


def evaluate_queries(convention, query_columns, scores):
    """Return `Evaluator`'s value and per-query values, or the name of the error and None."""
    try:
        evaluator = ra.Evaluator(ra.Queries(**query_columns), convention, n_threads=1)
        per_query = None if convention.over == "rows" else evaluator.per_query(scores)
        return evaluator.evaluate(scores).value, per_query
    except ra.RankAdaptersError as error:
        return repr(error).split(".", maxsplit=1)[0], None


@given(data=st.data(), convention=conventions(), weighted=st.booleans())
@settings(max_examples=examples(300))
def test_values_equal_the_evaluators_up_to_the_rounding_bound(data, convention, weighted):
    row_weighted = weighted and convention.weighting == "row_weight"
    queries = data.draw(ragged_queries(probabilities=takes_probabilities(convention), weighted=row_weighted))
    query_columns, scores = columns_and_scores(queries)
    query_columns |= weights_and_pairs(queries, convention) if weighted else {}
    scores = np.array(scores, np.float64)
    with kernels(NEVER):
        value, per_query = evaluate_queries(convention, dict(query_columns), scores)
        if isinstance(value, str):
            with pytest.raises(ra.RankAdaptersError):
                Trials(ra.Queries(**query_columns), convention).value(scores)
            return
        trials = Trials(ra.Queries(**query_columns), convention)
        trial_value = trials.value(scores)
        if per_query is not None:
            assert trials.per_query([scores])[0].tobytes() == per_query.tobytes()
    if convention.over == "queries" and convention.floor is None and convention.link(4.0) == 4.0:
        magnitude = np.nanmean(np.abs(per_query)) if len(per_query) else 0.0
        largest = max(magnitude, np.nanmax(np.abs(per_query)))  # weights may favor the largest value
        assert abs(trial_value - value) <= trials.rounding * largest * 2
    else:
        assert trial_value == pytest.approx(value, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("max_gain_rows", [0, 10**9])
def test_values_along_a_column_equal_those_of_the_summed_scores(measure, max_gain_rows, monkeypatch):
    """By ranking and by counting; a column that is constant in a query changes nothing there."""
    monkeypatch.setattr(trials_module, "MAX_GAIN_ROWS", max_gain_rows)
    trials = Trials(DATA.y, measure, qid=DATA.qid)
    start, column = DATA.X[:, 0] / 3, DATA.X[:, 1].copy()
    column[np.isin(DATA.qid, [2, 5, 30])] = 7.0
    expected = [ra.evaluate(DATA.y, start + step * column, measure, qid=DATA.qid) for step in STEPS]
    values = trials.along(start, column, STEPS)
    assert values == pytest.approx([score.value for score in expected], abs=1e-14, rel=1e-13)


@pytest.mark.long
@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("max_gain_rows", [0, 10**9])
def test_values_are_the_same_bits_for_any_threads_parts_and_kernels(measure, max_gain_rows, monkeypatch):
    monkeypatch.setattr(trials_module, "MAX_GAIN_ROWS", max_gain_rows)
    line = (DATA.X[:, 0], DATA.X[:, 1], STEPS)
    outputs = []
    monkeypatch.setattr("rankadapters.evaluation.threads.ROWS_PER_THREAD", 100)
    for work, n_threads, form in [
        (2**25, 1, NEVER),
        (2**25, 1, NOW),
        (1600, 3, NOW),
        (1600, 1, NEVER),
        (10**5, 2, NOW),
    ]:
        monkeypatch.setattr("rankadapters.evaluation.threads.WORK_PER_CALL", work)
        with kernels(form):
            trials = Trials(DATA.y, measure, qid=DATA.qid, n_threads=n_threads)
            outputs.append((trials.along(*line).tobytes(), trials.values(DATA.X.T).tobytes()))
    assert len(set(outputs)) == 1


@pytest.mark.long
@pytest.mark.parametrize("form", [NEVER, NOW])
@pytest.mark.parametrize("max_gain_rows", [0, 10**9])
def test_neither_a_constant_column_nor_a_mean_of_equal_gains_is_rounded(form, max_gain_rows, monkeypatch):
    """Adding 1e17 to the scores merges them, but a constant column must not; by ranking and by counting."""
    monkeypatch.setattr(trials_module, "MAX_GAIN_ROWS", max_gain_rows)
    labels = [0.1, 0.1, 0.1, 0.0]  # 0.1 + 0.1 + 0.1 is 0.30000000000000004
    with kernels(form):
        trials = Trials([1, 0], "textbook@1", group_sizes=[2])
        assert trials.along([0.2, 0.1], [1.0, 1.0], [0.0, 1e17]).tolist() == [1.0, 1.0]
        assert trials.value([0.2 + 1e17, 0.1 + 1e17]) == 0.5
        trials = Trials(labels, ra.presets.sklearn.dcg(1), group_sizes=[4])
        assert trials.along([1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0], [0.0, 0.5]).tolist() == [0.1, 0.1]


@pytest.mark.parametrize(("n_gains", "is_counted"), [(3, True), (4, False)])
def test_counting_is_used_up_to_a_mean_of_48_rows_with_a_gain(monkeypatch, n_gains, is_counted):
    """Of 10 and 90 rows, 3 and 53 have a gain: the mean, weighted by rows, is 48."""
    pytest.importorskip("numba")
    calls = []
    monkeypatch.setattr(trials_module, "discounted_sums_along", lambda *_: calls.append(1) or True)
    labels = [int(row < n) for size, n in ((10, n_gains), (90, 53)) for row in range(size)]
    with kernels(NOW):
        Trials(labels, "textbook@3", group_sizes=[10, 90]).along(np.arange(100.0), np.ones(100), STEPS)
    assert bool(calls) == is_counted


@pytest.mark.parametrize(
    ("convention", "is_counted"),
    [
        ("textbook@3", True),
        ("textbook@3+precision=float32", False),
        ("ranklib.p@3", True),
        ("torchmetrics.precision@3+precision=float64", False),  # it retrieves positive scores only
        ("ranklib.rr@3", False),
    ],
)
def test_counting_is_used_for_sums_of_gains_if_no_score_is_rounded_and_all_are_retrieved(
    monkeypatch, convention, is_counted
):
    calls = []
    monkeypatch.setattr(trials_module, "compiled", SimpleNamespace(pays=lambda rows, dtype: rows > 0))
    monkeypatch.setattr(trials_module, "discounted_sums_along", lambda *_: calls.append(1) or True)
    Trials(DATA.y > 0, convention, qid=DATA.qid).values(DATA.X.T)
    assert bool(calls) == is_counted


@pytest.mark.long
@pytest.mark.parametrize("form", [NEVER, NOW])
def test_no_candidates_have_no_values(form):
    with kernels(form):
        for convention in ("textbook@3", "lightgbm.auc", "catboost.query_rmse"):
            assert Trials(DATA.y, convention, qid=DATA.qid).values(np.empty((0, DATA.y.size))).shape == (0,)


@pytest.mark.long
def test_scores_without_a_value_are_refused():
    trials = Trials([1, 0], "textbook@2", group_sizes=[2])
    with pytest.raises(ra.InputError, match=r"shape \(1, 3\), but the queries cover 2 rows"):
        trials.value([1.0, 2.0, 3.0])
    with pytest.raises(ra.InputError, match=r"scores\[1\] is nan"):
        trials.value([1.0, math.nan])
    for column in ([1e300, 0.0, 0.0, 0.0], [0.0, 0.0, 1e300, 0.0]):
        for measure, form in product(["textbook@2", "lightgbm.auc", "catboost.query_rmse"], [NEVER, NOW]):
            trials = Trials([1, 0, 1, 0], measure, group_sizes=[2, 2])
            with pytest.raises(ra.InputError, match="overflow"), kernels(form):
                trials.along([1.0, 0.0, 1.0, 0.0], column, [1e300])
    with pytest.raises(ra.InputError, match="nothing is left to average"):
        Trials([0, 0], ra.presets.textbook(2).replace(empty="skip"), group_sizes=[2]).value([1.0, 2.0])


def test_a_measure_over_all_rows_has_no_per_query_values():
    trials = Trials(DATA.y, "lightgbm.auc", qid=DATA.qid)
    with pytest.raises(ra.UnsupportedConventionError, match="pool='rows' takes all rows"):
        trials.per_query(DATA.X.T)
    with pytest.raises(ra.UnsupportedConventionError, match="has no per-query values"):
        trials.measure(DATA.X[:, 0])


@pytest.mark.parametrize("convention", [measure for measure in MEASURES if measure != "lightgbm.auc"])
def test_measure_returns_the_value_and_the_per_query_values(convention):
    trials, scores = Trials(DATA.y, convention, qid=DATA.qid), DATA.X[:, 0]
    value, per_query = trials.measure(scores)
    assert value == trials.value(scores)
    assert per_query.tobytes() == trials.per_query([scores])[0].tobytes()


def test_a_query_without_pairs_has_a_nan_loss_and_nothing_is_divided_by_0():
    with np.errstate(all="raise"):
        trials = Trials([1, 0, 0, 0], "catboost.pair_logit+pairs=label+average=query", group_sizes=[2, 2])
        loss = np.log1p(np.exp(-1))
        np.testing.assert_allclose(trials.per_query([[2, 1, 2, 1]]), [[loss, np.nan]], rtol=1e-12)


@pytest.mark.parametrize("n_queries", [1, 4, 81, 1000])
def test_the_rounding_bound_grows_with_the_number_of_queries(n_queries):
    rounding = Trials(np.tile([1, 0], n_queries), "textbook@2", group_sizes=[2] * n_queries).rounding
    assert rounding == (n_queries + 4) * 2.0**-53


@pytest.mark.long
def test_trials_need_no_scikit_learn():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import rankadapters as ra\n"
        "print(ra.Trials([1, 0], 'yahoo@2', group_sizes=[2]).value([2, 1]))\n"
        "try: ra.learners.RankBoost\n"
        "except ra.MissingToolkitError as error: print(error)\n"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout == '1.0\nscikit-learn is not installed.\nHint: pip install "rankadapters[sklearn]"\n'
