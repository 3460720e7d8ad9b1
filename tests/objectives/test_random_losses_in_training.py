"""Objectives that draw at random in LightGBM's and XGBoost's training, and what they refuse."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.core.random_loss_values import plain, trading
from tests.helpers.objective_data import graded
from tests.helpers.objective_drivers import DRIVERS
from tests.tables import for_each, short

VALUES = [
    objectives.catboost.stochastic_rank("NDCG", top=10),
    objectives.catboost.yetirank(),
    objectives.catboost.stochastic_filter(num_estimations=2),
]
EACH_VALUE = pytest.mark.parametrize("value", VALUES, ids=lambda value: value.kind)


@pytest.fixture(params=DRIVERS)
def toolkit(request):
    return DRIVERS[request.param]()


@EACH_VALUE
def test_a_pickle_goes_on_where_it_stopped_and_a_deep_copy_starts_anew(toolkit, value):
    data = graded(14)
    scores, objective, train = np.zeros(data.y.size), toolkit.adapter.objective(value), toolkit.dataset(data)
    first, _ = objective(scores, train), objective(scores, train)
    pickled, copied = pickle.loads(pickle.dumps(objective)), copy.deepcopy(objective)
    third = objective(scores, train)
    np.testing.assert_array_equal(pickled(scores, toolkit.dataset(data)), third)
    np.testing.assert_array_equal(copied(scores, toolkit.dataset(data)), first)
    assert not np.array_equal(first[0], third[0])


@EACH_VALUE
def test_the_same_seed_trains_the_same_model(toolkit, value):
    data = graded(15)
    one, other, third = (
        toolkit.predictions(data, toolkit.adapter.objective(each, n_threads=n), 5)
        for each, n in ((value, 1), (value, 2), (value.replace(seed=8), 1))
    )
    np.testing.assert_array_equal(one, other)
    assert not np.array_equal(one, third)


@EACH_VALUE
def test_toolkits_have_none_built_in(toolkit, value):
    with pytest.raises(ra.UnsupportedConventionError, match=f"has no built-in {value.kind}; its own are"):
        toolkit.adapter.native_objective(value)


def test_a_filter_learns_which_rows_to_keep(toolkit):
    """Of two kinds of rows, one gains 1 and the other loses 1."""
    rng = np.random.default_rng(0)
    data = graded(16)
    kind = rng.integers(0, 2, data.y.size)
    data = data._replace(X=kind[:, None].astype(float), y=np.where(kind == 1, 1.0, -1.0))
    value = objectives.catboost.stochastic_filter(num_estimations=10)
    scores = toolkit.predictions(data, toolkit.adapter.objective(value), 30)
    assert scores[kind == 1].min() > 0 > scores[kind == 0].max()


# Refusals


AP = ra.presets.catboost.map(5, border=0)


@for_each("make", [plain, trading])
@for_each(
    ("convention", "why"),
    [
        ("catboost.auc", "needs a convention of NDCG, DCG, ERR, RR or AP, not auc"),
        ("catboost.precision_at@5", "needs a convention of NDCG, DCG, ERR, RR or AP, not precision@5"),
        (AP.replace(retrieve="above_0"), r"says retrieve='above_0'.\nHint: convention.replace\(retrieve='all'\)"),
        (AP.replace(pool="rows", divisor="relevant"), r"says pool='rows'.\nHint: convention.replace\(pool='queries'\)"),
        (AP.replace(average="row", divisor="relevant"), "says average='row'"),
    ],
    ids=short,
)
def test_measures_whose_moves_are_not_known_are_refused(make, convention, why):
    with pytest.raises(ra.ConventionError, match=why):
        make(convention)


@for_each("make", [plain, trading])
@for_each("text", ["textbook@10", "catboost.dcg@all", "catboost.pfound@5", "catboost.mrr@5", "lightgbm.map@5"])
def test_a_text_is_as_good_as_a_convention(make, text):
    assert make(text) == make(ra.parse(text))
    assert objectives.parse(str(make(text))) == make(text)


@pytest.mark.parametrize("labels", [[0, 1.5], [0, -0.25]])
@pytest.mark.parametrize(
    "make", [objectives.catboost.stochastic_rank, lambda m: trading(ra.presets.catboost.pfound(3))]
)
def test_labels_that_are_no_probabilities_are_refused_by_pfound(make, labels):
    with pytest.raises(ra.InputError, match=rf"labels\[1\] is {labels[1]:g}, .* is not a probability.*0 to 1") as error:
        objectives.gradients(labels, [0.0, 1.0], make("PFound"), group_sizes=[2])
    assert error.value.row == 1


def test_rows_are_named_in_the_callers_order():
    with pytest.raises(ra.InputError, match=r"labels\[2\] is 7"):
        objectives.gradients([0, 1, 7], [0.0, 1.0, 2.0], objectives.catboost.stochastic_rank("ERR"), qid=[1, 0, 0])


def test_gains_beyond_float32_are_refused():
    value = plain(ra.presets.catboost.dcg(None, type="Exp", use_weights=False))
    with pytest.raises(ra.InputError, match=r"labels\[0\] is 200, whose gain 1.6\d*e\+60 is too large for float32"):
        objectives.gradients([200, 1], [0.0, 1.0], value, group_sizes=[2])


@for_each(
    ("call", "message"),
    [
        (lambda o: o.catboost.stochastic_rank("AUC"), "metric='AUC'; allowed are 'DCG', 'NDCG'"),
        (lambda o: o.catboost.stochastic_rank("NDCG", sigma=0), "sigma=0; allowed are finite numbers above 0"),
        (lambda o: o.catboost.stochastic_rank("NDCG", top=0), "top=0; allowed are whole numbers from 1 on, and -1 for"),
        (lambda o: o.catboost.stochastic_rank("MRR", top=3), r"top belongs to metric .*not to metric='MRR'"),
        (lambda o: o.catboost.stochastic_rank("ERR", type="Exp"), "type belongs to metric 'DCG', 'NDCG', not"),
        (lambda o: o.catboost.stochastic_rank("NDCG", decay=0.9), "decay belongs to metric 'PFound', not to"),
        (lambda o: o.catboost.yetirank(mode="PFound"), "mode='PFound'; allowed are 'Classic', 'DCG'"),
        (lambda o: o.catboost.yetirank(noise="Logistic"), "noise='Logistic'; allowed are 'Gumbel'"),
        (lambda o: o.catboost.yetirank(top=3), r"top belongs to .*mode='Classic', where CatBoost ignores it"),
        (lambda o: o.catboost.yetirank(mode="MRR", decay=0.9), "decay belongs to mode 'Classic', not to mode='MRR'"),
        (lambda o: o.catboost.yetirank(noise_power=2.0), "noise_power belongs to noise 'Gauss', not to noise='Gumbel'"),
        (lambda o: o.catboost.yetirank(mode="MAP", num_neighbors=0), "num_neighbors=0; allowed are whole numbers"),
        (lambda o: o.catboost.stochastic_filter(sigma=0), "sigma=0; allowed are finite numbers above 0"),
        (lambda o: trading("textbook@5", delta="classic"), "delta='classic' goes with no convention"),
        (lambda o: trading(None), "delta='exact' goes with a convention"),
        (lambda o: trading(None, delta="classic", neighbors=2), "pairs rows of adjacent ranks, but neighbors=2"),
        (lambda o: o.catboost.stochastic_filter().replace(convention="textbook@5"), "of FilteredDCG, not ndcg@5"),
        (
            lambda o: o.catboost.stochastic_filter().replace(convention="catboost.filtered_dcg+retrieve=all"),
            r"the convention says retrieve='all'.\nHint: convention.replace\(retrieve='from_0'",
        ),
        (
            lambda o: o.catboost.stochastic_filter().replace(
                convention=ra.presets.catboost.filtered_dcg(sort="ByPrediction")
            ),
            "does not rank rows by score, but precision='float64' does",
        ),
    ],
)  # fmt: skip
def test_what_no_loss_has_is_refused(call, message):
    with pytest.raises(ra.ConventionError, match=f"(?s){message}"):
        call(objectives)


@pytest.mark.parametrize("delta", ["exact", "catboost"])
def test_catboosts_weights_are_the_changes_of_dcg_and_pfound(delta):
    for text in ("catboost@5", "catboost.dcg@5", "catboost.pfound@5"):
        assert trading(text, delta=delta).delta == "exact"
    for text in ("catboost.mrr@5", "catboost.map@5", "catboost.err@5"):
        assert trading(text, delta=delta).delta == delta


def test_catboosts_estimate_is_exact_where_sigma_is_1_and_nobody_stops():
    assert plain("catboost@5", arithmetic="catboost").arithmetic == "exact"
    assert plain("catboost@5", arithmetic="catboost", sigma=2).arithmetic == "catboost"
    assert objectives.catboost.stochastic_rank("ERR").arithmetic == "catboost"
