"""CatBoost's losses and pair metrics as measures: CatBoost's values of scores and of models equal ours."""

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.parameters import short

cb = pytest.importorskip("catboost")

from tests.catboost.trainings import fit_ranker, weighted_rows  # noqa: E402 - after the skip

pytestmark = pytest.mark.long

CATBOOST = ra.presets.catboost
ROWS = [CATBOOST.query_rmse(), CATBOOST.query_soft_max(beta=0.5), CATBOOST.query_cross_entropy(alpha=0.3)]
BY_PAIR = [CATBOOST.pair_logit(), CATBOOST.pair_accuracy()]
BY_LABEL = [CATBOOST.pair_logit(pairs="label"), CATBOOST.pair_accuracy(pairs="label")]
X, LABELS, QID, GROUP_WEIGHTS = weighted_rows(3)
UNITS = LABELS / 4
SCORES = np.random.default_rng(0).standard_normal(LABELS.size)
ROW_WEIGHTS = np.random.default_rng(1).integers(1, 6, LABELS.size).astype(float)
FIRST = np.concatenate([[0], np.flatnonzero(np.diff(QID)) + 1])


def make_pairs(*, weighted=True):
    """Pair the first two rows of each query, with weights that float32 would round."""
    firsts = FIRST[np.append(np.diff(FIRST), LABELS.size - FIRST[-1]) > 1]
    weights = np.random.default_rng(2).random(firsts.size)
    return (firsts, firsts + 1, weights) if weighted else (firsts, firsts + 1)


def train_ranker(pool, loss="YetiRank"):
    """Train a model; its loss decides which metrics CatBoost can compute of it."""
    model = cb.CatBoostRanker(
        iterations=6, depth=3, loss_function=loss, thread_count=1, random_seed=0, verbose=0, allow_writing_files=False
    )
    return model.fit(pool)


def verdicts(report):
    return [row.verdict for row in report.rows]


@pytest.mark.parametrize("weights", [None, "query", "row"])
@pytest.mark.parametrize("convention", ROWS)
def test_scores_and_every_route_of_a_model_agree(convention, weights):
    declared = convention.replace(average=weights or "uniform")
    our_columns = {"query": {"query_weight": GROUP_WEIGHTS[FIRST]}, "row": {"row_weight": ROW_WEIGHTS}}.get(weights, {})
    catboost_columns = {"query": {"group_weight": GROUP_WEIGHTS}, "row": {"weight": ROW_WEIGHTS}}.get(weights, {})
    for columns in (catboost_columns, our_columns if weights == "query" else catboost_columns):
        report = ra.catboost.check_parity(UNITS, SCORES, declared, qid=QID, **columns)
        assert verdicts(report) == ["equal"]
        assert report.rows[0].our_value == ra.evaluate(UNITS, SCORES, declared, qid=QID, **our_columns).value
    pool = cb.Pool(X, UNITS, group_id=QID, **catboost_columns)
    model = train_ranker(pool)
    report = ra.catboost.check_model(model, pool, declared, **(catboost_columns if weights == "query" else {}))
    assert verdicts(report) == ["equal"] * 3
    expected = ra.evaluate(UNITS, model.predict(X), declared, qid=QID, **our_columns).value
    assert {row.our_value for row in report.rows} == {expected}


@pytest.mark.parametrize("convention", BY_PAIR, ids=lambda convention: convention.measure)
def test_metrics_of_given_pairs_are_computed_on_a_pool(convention):
    report = ra.catboost.check_parity(LABELS, SCORES, convention, qid=QID, pairs=make_pairs())
    assert verdicts(report) == ["equal"]
    [row] = report.rows
    assert row.source.startswith("catboost eval_metrics of a Pool with baseline")
    assert "scores rounded to float32" in row.reason
    assert "weights of pairs rounded to float32" in row.reason
    rounded = (*make_pairs()[:2], make_pairs()[2].astype("f4").astype(float))
    expected = ra.evaluate(LABELS, SCORES.astype("f4").astype(float), convention, qid=QID, pairs=rounded).value
    assert row.our_value == expected


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("convention", BY_LABEL, ids=lambda convention: convention.measure)
def test_metrics_of_pairs_by_label_are_computed_on_a_pool(convention, weighted):
    columns = {"query_weight": GROUP_WEIGHTS[FIRST]} if weighted else {}
    assert verdicts(ra.catboost.check_parity(LABELS, SCORES, convention, qid=QID, **columns)) == ["equal"]
    with_pairs = ra.catboost.check_parity(LABELS, SCORES, convention, qid=QID, pairs=make_pairs(weighted=False))
    assert verdicts(with_pairs) == ["equal"]  # with given pairs CatBoost itself would make no pairs of labels


def test_pairs_of_interleaved_rows_stay_with_their_rows():
    shuffle = np.random.default_rng(5).permutation(LABELS.size)
    new_index = np.argsort(shuffle)
    winner, loser, weight = make_pairs()
    moved_pairs = (new_index[winner], new_index[loser], weight)
    report = ra.catboost.check_parity(LABELS[shuffle], SCORES[shuffle], BY_PAIR[0], qid=QID[shuffle], pairs=moved_pairs)
    assert verdicts(report) == ["equal"]


@pytest.mark.parametrize("convention", [*BY_PAIR, *BY_LABEL], ids=short)
def test_pairs_are_passed_beside_a_pool_which_does_not_return_them(convention):
    pairs = make_pairs() if convention.pairs == "given" else None
    columns = {"pairs": np.column_stack(pairs[:2]), "pairs_weight": pairs[2]} if pairs else {}
    pool = cb.Pool(X, LABELS, group_id=QID, **columns)
    report = ra.catboost.check_model(train_ranker(pool), pool, convention, pairs=pairs)
    assert verdicts(report) == ["equal"]
    assert report.rows[0].source.startswith("model.eval_metrics Pair")


def test_a_metric_that_a_models_loss_forbids_is_computed_from_its_scores():
    pool = cb.Pool(X, LABELS, group_id=QID, pairs=np.column_stack(make_pairs()[:2]), pairs_weight=make_pairs()[2])
    model = train_ranker(pool, "QueryRMSE")
    report = ra.catboost.check_model(model, pool, ROWS[1])
    assert verdicts(report) == ["equal", "equal"]
    assert "model.eval_metrics refuses QuerySoftMax:beta=0.5: " in report.rows[0].reason
    report = ra.catboost.check_model(model, pool, BY_PAIR[0], pairs=make_pairs())
    assert verdicts(report) == ["equal"]
    assert report.rows[0].source.startswith("model.predict and catboost eval_metrics of a Pool with baseline")
    assert "incompatible with loss [QueryRMSE]" in report.rows[0].reason


def test_missing_pairs_are_refused():
    pool = cb.Pool(X, LABELS, group_id=QID, pairs=np.column_stack(make_pairs()[:2]))
    with pytest.raises(ra.InputError, match="pairs='given' needs pairs=, but none were given"):
        ra.catboost.check_model(fit_ranker(pool, pool), pool, BY_PAIR[0])


@pytest.mark.parametrize("convention", BY_PAIR, ids=lambda convention: convention.measure)
def test_the_declared_metric_takes_pairs_of_its_sets(convention):
    queries = ra.Queries(LABELS, qid=QID, pairs=make_pairs())
    metric = ra.catboost.eval_metric(convention, sets=[queries])
    pool = cb.Pool(X, LABELS, group_id=QID, pairs=np.column_stack(make_pairs()[:2]), pairs_weight=make_pairs()[2])
    model = cb.CatBoostRanker(
        iterations=4, loss_function="PairLogit", eval_metric=metric, thread_count=1, random_seed=0, verbose=0,
        allow_writing_files=False,
    ).fit(pool)  # fmt: skip
    assert metric.is_max_optimal() == convention.higher_is_better
    last_value = model.get_evals_result()["learn"][convention.name][-1]
    assert last_value == pytest.approx(ra.evaluate(queries, model.predict(X), convention).value, rel=1e-12)
