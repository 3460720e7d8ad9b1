"""CatBoost's loss strings as objectives, and objectives and conventions as CatBoost's losses."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.tables import for_each

cb = pytest.importorskip("catboost")

from tests.helpers.catboost_pools import DETERMINISTIC, pool, rows, train_natively  # noqa: E402 - after the skip

TEXTBOOK = ra.presets.textbook(10)
LAMBDAMART = ra.catboost.read_objective("LambdaMart")
# CatBoost's loss strings, each with the l2_leaf_reg under which CatBoost's tree is our Newton step.
READ = {
    "QueryRMSE": 3, "QuerySoftMax": 3, "QuerySoftMax:beta=2;lambda=0.1": 3, "PairLogit": 3, "LambdaMart": 0,
    "LambdaMart:metric=NDCG;top=3;type=Exp": 0, "LambdaMart:metric=DCG;top=3;denominator=Position;sigma=2": 0,
    "LambdaMart:metric=NDCG;norm=false": 0, "LambdaMart:metric=MAP": 0,
}  # fmt: skip


def newton_leaves(derivatives, leaf, ridge):
    """Return the Newton step of the leaf of each row, less the mean over all rows."""
    grad, hess = (np.bincount(leaf, array)[leaf] for array in derivatives)
    step = -np.divide(grad, hess + ridge, out=np.zeros(leaf.size), where=hess + ridge > 0)
    return step - step.mean()


@pytest.mark.long
@pytest.mark.parametrize("tied", [False, True])
@for_each("loss", READ)
def test_a_loss_string_is_read_as_the_objective_that_catboost_trains(loss, tied):
    rng = np.random.default_rng(0)
    labels, qid, bits = rng.integers(0, 5, 60).astype(float), np.repeat(np.arange(6), 10), np.arange(60)[:, None]
    X = ((bits >> np.arange(6)) & 1).astype(float)  # a leaf for every row
    scores = rng.integers(0, 3, 60) / 4 if tied else rng.normal(size=60).astype(np.float32).astype(float)
    params = {
        **DETERMINISTIC,
        "iterations": 1,
        "depth": 6,
        "learning_rate": 1,
        "has_time": True,
        "l2_leaf_reg": READ[loss],
    }
    train_pool = cb.Pool(X, labels, group_id=qid, baseline=scores)
    one_step = {"leaf_estimation_method": "Newton", "leaf_estimation_iterations": 1, "boosting_type": "Plain"}
    model = train_natively({**params, **one_step}, train_pool, loss)
    leaf, predictions = model.calc_leaf_indexes(X)[:, 0], model.predict(X)
    derivatives = ra.objectives.gradients(labels, scores, ra.catboost.read_objective(loss), qid=qid)
    expected = newton_leaves(derivatives, leaf, READ[loss])
    assert np.ptp(predictions) > 0.1
    np.testing.assert_allclose(predictions - predictions.mean(), expected, rtol=1e-5, atol=1e-6)


@for_each(
    ("loss", "message"),
    [
        ("RMSE", "'RMSE' is none of CatBoost's ranking losses 'QueryRMSE'"),
        (7, "7 is none of CatBoost's ranking losses"),
        ("YetiRankPairwise", "solves a system over the leaves of a tree(.|\n)*Hint: YetiRank"),
        ("PairLogitPairwise:max_pairs=3", "solves a system over the leaves of a tree(.|\n)*Hint: PairLogit, or"),
        ("PairLogit:max_pairs=5", "has max_pairs=5, by which it draws pairs at random"),
        ("QuerySoftMax:beta=0", "beta=0"),
        ("QueryRMSE:beta=1", "has 'beta', which is not a parameter of it"),
        ("LambdaMart:metric=AUC", "metric='AUC'; allowed are"),
        ("LambdaMart:metric=MRR;top=5", "top belongs to metric 'DCG', 'NDCG'"),
        ("StochasticRank", "has no metric, which has no default"),
        ("StochasticRank:metric=FilteredDCG", "metric='FilteredDCG'; allowed"),
        ("YetiRank:mode=PFound", "mode='PFound'; allowed"),
        ("YetiRank:permutations=2.5", "has permutations='2.5'; allowed are whole numbers"),
        pytest.param("YetiRank:permutations=" + "9" * 5000, "allowed are whole numbers", id="5000 digits"),
        ("YetiRank:permutations=0000000000000000000010", "allowed are whole numbers"),  # longer than any 64-bit integer
        ("YetiRank:permutations=-9223372036854775808", "permutations=-9223372036854775808; allowed are .* from 1 "),
        ("LambdaMart:top=0", "has top='0'"),
        ("LambdaMart:type=exp", "has type='exp'; allowed are 'Base', 'Exp'"),
    ],
)
def test_bad_and_unsupported_loss_strings_are_refused(loss, message):
    with pytest.raises(ra.ConventionError, match=message):
        ra.catboost.read_objective(loss)


@pytest.mark.parametrize(
    ("loss", "objective"),
    [
        ("LambdaMart:metric=MAP", objectives.catboost.lambdamart(metric="MAP")),
        ("StochasticRank:metric=NDCG;top=2;type=Exp", objectives.catboost.stochastic_rank("NDCG", top=2, type="Exp")),
        ("StochasticRank:metric=DCG;lambda=0.5", objectives.catboost.stochastic_rank("DCG", lambda_=0.5)),
        ("StochasticFilter:sigma=2", objectives.catboost.stochastic_filter(sigma=2)),
        ("YetiRank", objectives.catboost.yetirank()),
        ("YetiRank:mode=MRR", objectives.catboost.yetirank(mode="MRR")),
        ("YetiRank:mode=DCG;num_neighbors=-1", objectives.catboost.yetirank(mode="DCG", num_neighbors=-1)),
    ],
)
def test_a_loss_string_is_the_preset_with_its_parameters(loss, objective):
    assert ra.catboost.read_objective(loss) == objective


WRITTEN = [
    *READ, "QueryCrossEntropy", "QueryCrossEntropy:alpha=0.5", "LambdaMart:metric=ERR;sigma=2", "LambdaMart:metric=MRR",
    "LambdaMart:metric=MAP;sigma=2;norm=false", "YetiRank:decay=0.9;permutations=3", "YetiRank:mode=MRR;noise=No",
    "YetiRank",
    "YetiRank:mode=NDCG;top=3;dcg_type=Exp;num_neighbors=-1", "YetiRank:mode=ERR;noise=Gauss;noise_power=2",
    "YetiRank:mode=MAP;top=5", "StochasticRank:metric=PFound;top=5;decay=0.9", "StochasticRank:metric=ERR;top=4",
    "StochasticRank:metric=DCG;type=Exp;denominator=Position;sigma=2;mu=0.1;nu=0.1;lambda=0.5;num_estimations=3",
    "StochasticRank:metric=MRR", "StochasticFilter:sigma=2;num_estimations=4",
]  # fmt: skip


@for_each("loss", WRITTEN)
def test_an_objective_that_was_read_is_written_back(loss):
    objective = ra.catboost.read_objective(loss)
    params = ra.catboost.native_objective(objective)
    assert ra.catboost.read_objective(params["loss_function"]) == objective
    assert ra.objectives.parse(str(objective)) == objective


NO_TOP = r"top belongs to metric [^\n]*\nHint: ra.catboost.train takes any objective.$"
MAKE, YETI, STOCHASTIC = (getattr(objectives.catboost, name) for name in ("lambdamart", "yetirank", "stochastic_rank"))
NOT_BUILT_IN = [
    (objectives.ListNet(), {}, "CatBoost has no built-in listnet; its own are 'QueryRMSE'"),
    (LAMBDAMART, {"truncation": 5}, "truncation=5; the nearest has truncation=None"),
    (LAMBDAMART, {"hessian": "doubled"}, "hessian=doubled"),
    (LAMBDAMART, {"convention": TEXTBOOK, "beyond_k": "cut", "truncation": 10}, "beyond_k=cut"),
    (LAMBDAMART, {"convention": "letor4@5", "truncation": 5}, "gain=table_0_1_3(.|\n)*Hint: ra.catboost.train"),
    (LAMBDAMART, {"convention": "catboost@all"}, "ties=worst, average=query; the nearest has ties=input, "),
    (LAMBDAMART, {"convention": "catboost.map@5", "truncation": 5, "delta": "exact"}, "k=5(.|\n)*Hint: ra.catboost"),
    (LAMBDAMART, {"convention": "catboost.pfound@all"}, "no built-in lambdarank like this; metric='PFound'"),
    *((MAKE(metric=metric), {"delta": "exact"}, "CatBoost has no built-in objective with delta=exact")
      for metric in ("MRR", "ERR", "MAP")),
    (objectives.catboost.pair_logit(), {"sigma": 2}, "sigma=2"),
    (YETI(mode="NDCG"), {"convention": TEXTBOOK}, "average=uniform"),
    (YETI(mode="ERR"), {"convention": "catboost.pfound@5"}, "no built-in yetirank like this; mode='PFound'; allowed"),
    (STOCHASTIC("MRR"), {"convention": "catboost.map@5"},
     "no built-in stochastic-rank like this; metric='MAP'; allowed(.|\n)*Hint: ra.catboost.train"),
    (STOCHASTIC("MRR"), {"convention": "catboost.mrr@5"}, NO_TOP),
    (STOCHASTIC("NDCG"), {"convention": "letor4@5"}, "gain=table_0_1_3"),
    (objectives.catboost.stochastic_filter(), {"convention": "catboost.filtered_dcg+gain=exp2"}, "gain=exp2"),
]  # fmt: skip


@for_each(("objective", "change", "message"), NOT_BUILT_IN, ids=lambda part: getattr(part, "kind", part))
def test_an_objective_that_catboost_does_not_have_is_refused_by_name(objective, change, message):
    with pytest.raises(ra.UnsupportedConventionError, match=message):
        ra.catboost.native_objective(objective.replace(**change))


def test_ties_by_average_are_written_like_ties_in_row_order():
    objective = LAMBDAMART.replace(convention=TEXTBOOK.at(None))
    assert ra.catboost.native_objective(objective) == ra.catboost.native_loss(TEXTBOOK.at(None))


@pytest.mark.long
@pytest.mark.parametrize(
    ("convention", "options", "loss"),
    [
        (TEXTBOOK, {}, "LambdaMart:metric=NDCG;top=10;type=Exp;denominator=LogPosition;sigma=1;norm=true"),
        (TEXTBOOK.replace(ties="input", k=None, discount="reciprocal"), {},
         "LambdaMart:metric=NDCG;type=Exp;denominator=Position;sigma=1;norm=true"),
        (TEXTBOOK, {"loss": "StochasticRank"},
         "StochasticRank:metric=NDCG;top=10;type=Exp;denominator=LogPosition;sigma=1;mu=0;nu=0.01;lambda=1;num_estimations=1"),
        (TEXTBOOK.replace(gain="linear", average="query"), {},
         "YetiRank:mode=NDCG;permutations=10;top=10;dcg_type=Base;dcg_denominator=LogPosition;num_neighbors=1;noise=Gumbel"),
        (TEXTBOOK.replace(average="query"), {"group_weights": False},
         "LambdaMart:metric=NDCG;top=10;type=Exp;denominator=LogPosition;sigma=1;norm=true"),
        (ra.presets.lightgbm(5), {},
         "YetiRank:mode=NDCG;permutations=10;top=5;dcg_type=Exp;dcg_denominator=LogPosition;num_neighbors=1;noise=No"),
        (ra.presets.catboost.dcg(5, use_weights=False).replace(ties="average"), {},
         "StochasticRank:metric=DCG;top=5;type=Base;denominator=LogPosition;sigma=1;mu=0;nu=0.01;lambda=1;num_estimations=1"),
        (ra.presets.catboost.dcg(5).replace(ties="average"), {},
         "YetiRank:mode=DCG;permutations=10;top=5;dcg_type=Base;dcg_denominator=LogPosition;num_neighbors=1;noise=Gumbel"),
    ],
)  # fmt: skip
def test_a_convention_gives_catboosts_nearest_loss_which_trains(convention, options, loss):
    params = ra.catboost.native_loss(convention, **options)
    assert params["loss_function"] == loss
    if loss.startswith("LambdaMart"):
        assert (params["leaf_estimation_method"], params["l2_leaf_reg"]) == ("Newton", 0)
    if "LambdaMart" in loss or "noise=No" in loss:
        assert params["has_time"] is True
    params = {**DETERMINISTIC, **params, "learning_rate": 0.3, "iterations": 20}
    X, y, qid = rows(0, 30)
    scores = train_natively(params, pool(0, 30), loss).predict(X)
    assert ra.evaluate(y, scores, convention, qid=qid).value > ra.evaluate(y, 0 * scores, convention, qid=qid).value


BY_QUERY, STOCHASTIC_RANK = TEXTBOOK.replace(average="query"), {"loss": "StochasticRank"}
INEXPRESSIBLE = [
    (ra.presets.letor4(10), {}, "LambdaMart cannot express gain='table_0_1_3', discount='jk2', short='zero'"),
    (ra.presets.xgboost(10), {}, "cannot express gain='exp2-floor', precision='float32'"),
    (ra.presets.catboost(10), {}, "cannot express ties='worst'"),
    (TEXTBOOK.replace(ideal="all"), {}, "cannot express ideal='all', only ideal='cutoff'"),
    (TEXTBOOK, {"loss": "YetiRank"}, "YetiRank cannot express average='uniform', only average='query'"),
    (BY_QUERY, {"loss": "LambdaMart"}, "LambdaMart cannot express average='query'"),
    (BY_QUERY, STOCHASTIC_RANK, "StochasticRank cannot express average='query'"),
    (TEXTBOOK.replace(ties="input"), STOCHASTIC_RANK, "cannot express ties='input', only ties='average'"),
    (ra.presets.catboost.dcg(5, use_weights=False), {"loss": "LambdaMart"}, "cannot express measure='dcg'"),
    (ra.presets.catboost.map(5), {}, "verified only for NDCG and DCG(.|\n)*Hint: ra.catboost.train"),
    (TEXTBOOK, {"loss": "PairLogit"}, "loss='PairLogit'; allowed are 'LambdaMart', 'YetiRank', 'StochasticRank'"),
]


@for_each(("convention", "options", "message"), INEXPRESSIBLE)
def test_a_field_that_catboosts_losses_cannot_express_is_refused_by_name(convention, options, message):
    with pytest.raises(ra.ConventionError, match=message):
        ra.catboost.native_loss(convention, **options)


def test_a_convention_and_a_position_bias_are_not_built_in_objectives():
    with pytest.raises(ra.ConventionError, match=r"is not an objective(.|\n)*Hint: ra.objectives.lambdarank"):
        ra.catboost.native_objective(TEXTBOOK)
    with pytest.raises(ra.UnsupportedConventionError, match="CatBoost has no built-in position bias"):
        ra.catboost.native_objective(LAMBDAMART, position_bias=objectives.lightgbm.position_bias())


@pytest.mark.long
@for_each("settings", [{}, {"l2_leaf_reg": 3}, {"leaf_estimation_method": "Gradient"}])
def test_a_lambdamart_model_whose_settings_reverse_its_gradients_warns(settings):
    train, convention = pool(), ra.presets.catboost(10)
    loss, params = "LambdaMart:metric=NDCG;top=10", {**DETERMINISTIC, "learning_rate": 0.3}
    model, sound = (train_natively(options, train, loss) for options in ({**params, **settings}, params))
    if not settings:
        assert ra.catboost.check_model(model, train, convention).ok  # a warning would fail this test
        return
    _, y, qid = rows()
    value, better = (ra.evaluate(y, trained.predict(train), convention, qid=qid).value for trained in (model, sound))
    assert value < better
    message = r"trained by LambdaMart with leaf_estimation_method=(.|\n)*Hint: .*native_loss"
    with pytest.warns(UserWarning, match=message):
        ra.catboost.check_model(model, train, convention)
