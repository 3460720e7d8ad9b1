"""CatBoost's loss strings as objectives, and objectives and conventions as CatBoost's losses."""

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives

cb = pytest.importorskip("catboost")

from tests.catboost.trainings import DETERMINISTIC, pool, rows, train_natively  # noqa: E402 - after the skip

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
@pytest.mark.parametrize("loss", READ)
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


@pytest.mark.parametrize("loss", WRITTEN)
def test_an_objective_that_was_read_is_written_back(loss):
    objective = ra.catboost.read_objective(loss)
    params = ra.catboost.native_objective(objective)
    assert ra.catboost.read_objective(params["loss_function"]) == objective
    assert ra.objectives.parse(str(objective)) == objective


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


@pytest.mark.long
@pytest.mark.parametrize("settings", [{}, {"l2_leaf_reg": 3}, {"leaf_estimation_method": "Gradient"}])
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


def test_the_presets_have_these_fields():
    """The defaults are those of CatBoost 1.2.10."""
    start = (
        "lambdarank/truncation={}/samples=all/sigma={}/normalization={}/hessian=plain/sigmoid=exact/beyond_k=keep{}/v1/"
    )
    ndcg = start.format("all", 1, "xgboost", "")
    texts = {str(objectives.catboost.lambdamart(metric=metric)) for metric in ("NDCG", "DCG")}
    [text] = texts
    assert text.startswith(f"{ndcg}ndcg@all/gain=linear/discount=log2/ideal=cutoff/ties=input/")
    options = {"top": 3, "type": "Exp", "denominator": "Position", "sigma": 2, "norm": False}
    changed = str(objectives.catboost.lambdamart(**options))
    assert changed.startswith(start.format(3, 2, "none", "") + "ndcg@3/gain=exp2/discount=reciprocal/")
    for metric, measure in (
        ("MRR", "rr@all/relevant=above_0"),
        ("ERR", "err@all/"),
        ("MAP", "ap@all/relevant=above_0"),
    ):
        objective = objectives.catboost.lambdamart(metric=metric)
        assert str(objective).startswith(start.format("all", 1, "xgboost", "/delta=catboost") + measure)
        assert not objective.uses_weights


@pytest.mark.long
@pytest.mark.parametrize(
    ("metric", "exact_weights", "catboost_weights"),
    [
        ("MAP", [(1 - 1 / 2) / 2, (1 + 2 / 2 - (1 / 2 + 2 / 3)) / 2], [1, 1 + 1 / 2]),
        ("MRR", [1 - 1 / 2, 1 - 1 / 2], [1 - 1 / 2, 1 - 1 / 3]),
    ],
)
def test_pairs_of_an_irrelevant_first_row_have_these_weights(metric, exact_weights, catboost_weights):
    """Two relevant rows follow. All scores are equal, so each pair pushes by half of its weight."""
    objective = objectives.catboost.lambdamart(metric=metric, norm=False)
    for delta, weights in (("exact", exact_weights), ("catboost", catboost_weights)):
        grad, _ = objectives.gradients([0, 1, 1], np.zeros(3), objective.replace(delta=delta), group_sizes=[3])
        np.testing.assert_allclose(grad, [sum(weights) / 2, *(-weight / 2 for weight in weights)], rtol=1e-6)


@pytest.mark.long
def test_catboosts_err_weights_ignore_rows_of_an_equal_label_in_between():
    """Labels are 1/2, 1/2 and 0. Swapping the first row and the last, CatBoost ignores the row between them."""
    objective = objectives.catboost.lambdamart(metric="ERR", norm=False).replace(truncation=1)
    labels = [0.5, 0.5, 0]
    exact_gradient, catboost_gradient = (
        objectives.gradients(labels, [0.0, 0, 0], objective.replace(delta=delta), group_sizes=[3])[0][2]
        for delta in ("exact", "catboost")
    )
    np.testing.assert_allclose(exact_gradient, ((1 / 2 + 1 / 8) - (1 / 4 + 1 / 12)) / 2, rtol=1e-6)
    np.testing.assert_allclose(catboost_gradient, (1 / 2) * (1 - 1 / 3) / 2, rtol=1e-6)


@pytest.mark.parametrize(
    ("value", "allowed"),
    [
        *((value, "whole numbers") for value in ("", "-", "--1", "1.0", "\N{SUPERSCRIPT TWO}", "9" * 21)),
        *((value, "whole numbers from 1 to 2147483647") for value in ("0", "-1", "9" * 20, "-" + "9" * 19)),
    ],
)
def test_a_count_in_a_loss_string_is_a_whole_number_of_at_most_20_characters(value, allowed):
    with pytest.raises(ra.ConventionError, match=rf"permutations='?{value}'?; allowed are {allowed}\."):
        ra.catboost.read_objective(f"YetiRank:permutations={value}")


def test_catboosts_change_of_ndcg_is_the_exact_one():
    objective = objectives.lightgbm.lambdarank().replace(sigmoid="exact")
    assert objective.replace(delta="catboost") == objective
    assert "delta" not in str(objective)


def test_delta_is_exact_by_default():
    fields = objectives.catboost.lambdamart(metric="MAP").to_dict()
    del fields["delta"]
    objective = objectives.LambdaRank(**fields)
    assert objective.delta == "exact"
    assert objective == objectives.catboost.lambdamart(metric="MAP").replace(delta="exact")
    assert objectives.parse(str(objective)) == objective
