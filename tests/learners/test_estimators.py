"""What every learner must do: pass scikit-learn's checks, route qid, validate, and refuse bad input."""

import dataclasses
import inspect
import pickle
import re

import numpy as np
import pandas as pd
import pytest

import rankadapters as ra

sklearn = pytest.importorskip("sklearn")

import scipy.sparse as sp  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import cross_validate  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from rankadapters.learners import AdaRank, CoordinateAscent, NeuralRanker, RankBoost, RankSVM, base  # noqa: E402
from rankadapters.presets.texts import as_convention  # noqa: E402
from rankadapters.sklearn import QueryKFold, query_scorer  # noqa: E402
from tests.helpers.rankings import ranking  # noqa: E402
from tests.helpers.toolkit_rankers import failed_checks  # noqa: E402

CONV = "textbook@5"
WEIGHTED = ra.presets.textbook(5).replace(average="query")  # uses the weights that scikit-learn's checks pass
DATA = ranking(1, 30)
VALID = ranking(2, 20)
EVAL_SET = [(VALID.X, VALID.y, VALID.qid)]
QUICK = {
    "AdaRank": AdaRank(CONV, max_iter=3),
    "CoordinateAscent": CoordinateAscent(WEIGHTED, n_restarts=1, n_steps=4, max_iter=1, random_state=0),
    "NeuralRanker": NeuralRanker(ra.objectives.catboost.query_soft_max(), convention=CONV, max_iter=3, random_state=0),
    "RankBoost": RankBoost(CONV, max_iter=3),
    "RankNet": NeuralRanker(ra.objectives.catboost.pair_logit(), convention=CONV, max_iter=3, random_state=0),
    "RankSVM": RankSVM(C=0.01, convention=CONV),
}
for_every_learner = pytest.mark.parametrize("learner", QUICK.values(), ids=QUICK)
for_learners_with_validation = pytest.mark.parametrize("name", [name for name in QUICK if name != "RankSVM"])


@for_every_learner
def test_a_bad_convention_is_refused_with_the_name_of_the_parameter(learner):
    with pytest.raises(ra.ConventionError, match=r"^convention: 'ndcg' does not say whose ndcg it is"):
        clone(learner).set_params(convention="ndcg").fit(DATA.X, DATA.y, qid=DATA.qid)


# scikit-learn's own suite


class WithQueries:
    """Assigns rows to queries of five or more, because scikit-learn's checks pass no qid."""

    def fit(self, X, y, *, qid=None, eval_set=None, sample_weight=None):
        qid = queries_of_five(y) if qid is None else qid
        return super().fit(X, y, qid=qid, eval_set=eval_set, sample_weight=sample_weight)

    def score(self, X, y, *, qid=None, sample_weight=None):
        return super().score(X, y, qid=queries_of_five(y) if qid is None else qid, sample_weight=sample_weight)


def queries_of_five(y):
    n_rows = 0 if y is None else np.asarray(y).shape[0]
    return np.random.default_rng(0).permutation(n_rows) % max(n_rows // 5, 1)


WITH_QUERIES = {
    name: type(f"Five{name}", (WithQueries, type(learner)), {"__module__": __name__})
    for name, learner in QUICK.items()
    if name != "RankNet"
}
globals().update({learner.__name__: learner for learner in WITH_QUERIES.values()})  # pickle needs them here


@pytest.mark.parametrize(
    "name", ["AdaRank", *(pytest.param(n, marks=pytest.mark.long) for n in WITH_QUERIES if n != "AdaRank")]
)
def test_scikit_learn_checks_pass_once_rows_have_queries(name):
    learner = WITH_QUERIES[name](**QUICK[name].get_params())
    assert failed_checks(learner, expected_error="sample_weight varies within query") == {}


# scikit-learn's interface


@for_every_learner
def test_fit_and_score_need_the_queries(learner):
    with pytest.raises(ra.InputError, match="fit got no qid, so it cannot tell the queries apart"):
        clone(learner).fit(DATA.X, DATA.y)
    model = clone(learner).fit(DATA.X, DATA.y, qid=DATA.qid)
    with pytest.raises(ra.InputError, match="score got no qid"):
        model.score(DATA.X, DATA.y)
    with pytest.raises(ra.InputError, match=r"eval_set got no qid(.|\n)*Hint: eval_set=\[\(X, y, qid\)\]; in a search"):
        model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=[(VALID.X, VALID.y)])


@pytest.mark.parametrize("learner", [AdaRank, CoordinateAscent, NeuralRanker, RankBoost, RankSVM])
def test_help_describes_every_parameter_and_fitted_attribute(learner):
    text = inspect.getdoc(learner)
    names = re.findall(r"^([\w, ]+) : \S", text, re.MULTILINE)
    assert names[: len(inspect.signature(learner).parameters)] == list(inspect.signature(learner).parameters)
    assert {"n_iter_", "history_"} <= set(names)


@for_every_learner
def test_rows_of_a_query_need_not_be_adjacent_and_ids_may_be_texts(learner):
    """Interleaved rows: the first row of each query, then the second; brought together, they are those of `DATA`."""
    row_in_query = np.concatenate([np.arange(size) for size in DATA.sizes])
    interleaved = np.lexsort((DATA.qid, row_in_query))
    model = clone(learner).fit(DATA.X, DATA.y, qid=DATA.qid)
    ids = [f"q{i}" for i in DATA.qid[interleaved]]
    interleaved_model = clone(learner).fit(DATA.X[interleaved], DATA.y[interleaved], qid=ids)
    assert interleaved_model.predict(VALID.X).tobytes() == model.predict(VALID.X).tobytes()


@for_every_learner
def test_score_is_under_the_declared_convention_and_needs_one(learner):
    model = pickle.loads(pickle.dumps(clone(learner).fit(DATA.X, DATA.y, qid=DATA.qid)))
    expected = ra.evaluate(VALID.y, model.predict(VALID.X), CONV, qid=VALID.qid).value
    assert model.score(VALID.X, VALID.y, qid=VALID.qid) == expected
    assert {entry.convention for entry in model.history_} == {as_convention(learner.convention)}
    with pytest.raises(ra.ConventionError, match="has no convention to score with"):
        model.set_params(convention=None).score(DATA.X, DATA.y, qid=DATA.qid)


@pytest.mark.parametrize("name", ["AdaRank", "CoordinateAscent", "RankSVM"])
def test_importances_of_a_linear_model_are_shares_of_its_weights(name):
    model = clone(QUICK[name]).fit(DATA.X, DATA.y, qid=DATA.qid)
    magnitudes = np.abs(model.coef_)
    assert model.feature_importances_.tolist() == (magnitudes / magnitudes.sum()).tolist()
    model.coef_ = np.zeros(5)
    assert model.feature_importances_.tolist() == [0.0] * 5


@pytest.mark.long
@for_every_learner
@pytest.mark.usefixtures("metadata_routing")
def test_qid_is_routed_in_searches_and_pipelines(learner):
    params = {"params": {"qid": DATA.qid}}
    scores = cross_validate(clone(learner), DATA.X, DATA.y, cv=QueryKFold(3), scoring=query_scorer(CONV), **params)
    assert np.isfinite(scores["test_score"]).all()
    pipeline = make_pipeline(StandardScaler(), clone(learner)).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert pipeline.predict(VALID.X).shape == VALID.y.shape


@for_learners_with_validation
def test_validation_fraction_holds_out_queries_and_excludes_eval_set(name):
    model = clone(QUICK[name]).set_params(validation_fraction=0.3).fit(DATA.X, DATA.y, qid=DATA.qid)
    assert {entry.dataset for entry in model.history_} == {"train", "valid_0"}
    with pytest.raises(ra.InputError, match="validation queries were given twice"):
        model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=EVAL_SET)


@for_learners_with_validation
def test_the_number_of_threads_changes_no_bit_of_the_model(name, monkeypatch):
    monkeypatch.setattr("rankadapters.evaluation.threads.ROWS_PER_THREAD", 50)
    monkeypatch.setattr("rankadapters.evaluation.threads.WORK_PER_CALL", 2000)
    models = [clone(QUICK[name]).set_params(n_threads=n).fit(DATA.X, DATA.y, qid=DATA.qid) for n in (1, 3)]
    assert models[0].predict(VALID.X).tobytes() == models[1].predict(VALID.X).tobytes()
    assert models[0].history_ == models[1].history_


# Refused input


LIMITS = [  # a learner, a parameter, the smallest allowed value, values outside, and what the message allows
    *((name, "max_iter", 1, [0, 1.5], "whole numbers from 1 on") for name in QUICK),
    ("AdaRank", "n_iter_no_change", 1, [0], "whole numbers from 1 on, or None: continues to the last round"),
    ("AdaRank", "max_consecutive", 1, [0], "whole numbers from 1 on, or None: excludes no feature"),
    ("AdaRank", "tol", 0, [-1e-9], "finite numbers from 0 on"),
    *(("CoordinateAscent", name, 1, [0], "whole numbers from 1 on") for name in ("n_restarts", "n_steps")),
    *(("CoordinateAscent", name, 5e-324, [0], "finite numbers above 0") for name in ("step_base", "step_scale")),
    *(("CoordinateAscent", name, 0, [-1e-9], "finite numbers from 0 on") for name in ("tol", "alpha")),
    ("NeuralRanker", "alpha", 0, [-1e-9], "finite numbers from 0 on"),
    ("NeuralRanker", "batch_size", 1, [0], "whole numbers from 1 on"),
    ("NeuralRanker", "learning_rate_init", 5e-324, [0], "finite numbers above 0"),
    ("NeuralRanker", "hidden_layer_sizes", (1,), [[0], 5, [2.0]], "tuples of whole numbers from 1 on"),
    ("RankBoost", "n_thresholds", 1, [0, 255], "whole numbers from 1 to 254"),
    ("RankSVM", "C", 1e-12, [0, 9.9e-13, 1.1e12], "numbers from 1e-12 to 1000000000000"),
    ("RankSVM", "tol", 5e-324, [0], "finite numbers above 0"),
    ("RankSVM", "max_pairs", 0, [-1], "whole numbers from 0 on"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "parameter", "least", "outside", "allowed"), LIMITS)
def test_parameters_have_limits(name, parameter, least, outside, allowed):
    X, y, qid = DATA.X[:40], DATA.y[:40], DATA.qid[:40]
    assert clone(QUICK[name]).set_params(**{parameter: least}).fit(X, y, qid=qid).predict(X).shape == y.shape
    for value in outside:
        with pytest.raises(ra.InputError, match=rf"^{re.escape(f'{parameter}={value!r}; allowed are {allowed}.')}"):
            clone(QUICK[name]).set_params(**{parameter: value}).fit(X, y, qid=qid)


@for_every_learner
def test_bad_rows_are_named(learner):
    X, y, qid = DATA.X, DATA.y, DATA.qid
    for reason, rows in {
        "no query has rows of different labels": (X, np.ones_like(y), qid),
        "Input X contains NaN": (np.where(X[0, 0] == X, np.nan, X), y, qid),
        "column 5 of X holds the query ids": (np.column_stack([X, qid]), y, qid),
        "qid has": (X, y, qid[1:]),
        "qid has floats": (X, y, qid + 0.5),
        "Input y contains NaN": (X, np.where(y == 2, np.nan, y), qid),
    }.items():
        with pytest.raises(ValueError, match=reason):
            clone(learner).fit(rows[0], rows[1], qid=rows[2])


@for_every_learner
def test_feature_names_are_kept_and_different_indexes_are_refused(learner):
    names = list("abcde")
    X = pd.DataFrame(DATA.X, columns=names)
    model = clone(learner).fit(X, DATA.y, qid=DATA.qid)
    assert model.feature_names_in_.tolist() == names
    assert model.n_features_in_ == 5
    with pytest.raises(ra.InputError, match="a different pandas index"):
        clone(learner).fit(X, pd.Series(DATA.y, index=X.index[::-1]), qid=DATA.qid)


@for_every_learner
def test_positive_weights_only_on_a_query_of_equal_labels_are_refused(learner):
    X, y, qid = [[0.0], [1.0], [0.0], [2.0], [3.0]], [0, 0, 0, 1, 2], [1, 1, 2, 2, 2]
    model = clone(learner).set_params(convention=WEIGHTED)
    with pytest.raises(ra.InputError, match="no query of a weight above 0 has rows of different labels"):
        model.fit(X, y, qid=qid, sample_weight=[1, 1, 0, 0, 0])


@for_learners_with_validation
def test_a_warm_start_needs_the_same_number_of_features(name):
    model = clone(QUICK[name]).set_params(warm_start=True).fit(DATA.X, DATA.y, qid=DATA.qid)
    for width in (2, 10):
        with pytest.raises(ra.InputError, match=f"the last fit had 5 features and X has {width}"):
            model.fit(np.column_stack([DATA.X, DATA.X])[:, :width], DATA.y, qid=DATA.qid)
    assert model.predict(VALID.X).shape == VALID.y.shape


@for_learners_with_validation
def test_validation_queries_need_the_same_number_of_features(name):
    model = clone(QUICK[name])
    with pytest.raises(ValueError, match=r"X has 4 features, but .* is expecting 5"):
        model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=[(VALID.X[:, :4], VALID.y, VALID.qid)])


@for_every_learner
def test_one_query_is_enough_to_train_but_not_to_hold_out_a_fraction(learner):
    X, y = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], [2, 0, 1]
    assert np.isfinite(clone(learner).fit(X, y, qid=[1, 1, 1]).predict(X)).all()
    if "validation_fraction" in learner.get_params():
        with pytest.raises(ra.InputError, match="validation_fraction needs two queries or more"):
            clone(learner).set_params(validation_fraction=0.5).fit(X, y, qid=[1, 1, 1])


@for_every_learner
def test_constant_features_do_not_affect_the_scores(learner):
    X = np.column_stack([DATA.X[:, 0], np.full(DATA.y.size, 3.0)])
    model = clone(learner).fit(X, DATA.y, qid=DATA.qid)
    scores = model.predict(np.column_stack([VALID.X[:, 0], np.full(VALID.y.size, 3.0)]))
    assert np.isfinite(scores).all()
    assert all(np.ptp(scores[VALID.X[:, 0] == value]) == 0 for value in np.unique(VALID.X[:, 0]))
    assert np.ptp(scores) > 0


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csc_matrix])
@pytest.mark.parametrize("learner", [AdaRank, RankBoost])
def test_the_ranklib_variant_refuses_features_too_large_for_float32(learner, kind, monkeypatch):
    model, huge = learner("letor4@5", variant="ranklib", max_iter=2), kind(DATA.X * 1e40)
    message = r"X has -?[0-9.]+e\+\d\d, too large for float32, which variant='ranklib' uses .*; allowed are .*\nHint: "
    model.fit(DATA.X, DATA.y, qid=DATA.qid)
    with pytest.raises(ra.InputError, match=message):
        model.predict(huge)
    with pytest.raises(ra.InputError, match=message):
        model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=[(huge, DATA.y, DATA.qid)])
    for max_copied_bytes in (base.MAX_COPIED_BYTES, 0):  # 0: too large to copy
        monkeypatch.setattr(base, "MAX_COPIED_BYTES", max_copied_bytes)
        with pytest.raises(ra.InputError, match=message):
            model.fit(huge, DATA.y, qid=DATA.qid)


@pytest.mark.parametrize("name", ra.learners.__all__)
def test_learners_are_no_dataclasses_so_that_dask_tells_fitted_models_apart(name):
    tokenize = pytest.importorskip("dask.base").tokenize
    learner = getattr(ra.learners, name)
    arguments = ("lightgbm.lambdarank",) if name == "NeuralRanker" else ("textbook@10",) if name != "RankSVM" else ()
    first, second = learner(*arguments), learner(*arguments)
    first.n_iter_, second.n_iter_ = 1, 2
    assert tokenize(first) != tokenize(second)
    assert not dataclasses.is_dataclass(learner)


RANKLIB_DEFAULTS = {  # of the parameters that RankLib 2.10.1 has too; the learning rate is Adam's
    AdaRank: {"max_iter": 500, "tol": 0.002, "max_consecutive": 5},
    RankBoost: {"max_iter": 300, "n_thresholds": 10},
    CoordinateAscent: {
        "n_restarts": 5, "n_steps": 25, "step_base": 0.05, "step_scale": 2.0, "tol": 0.001, "alpha": 0.0,
    },
    NeuralRanker: {"hidden_layer_sizes": (10,), "max_iter": 100},
}  # fmt: skip


@pytest.mark.parametrize("learner", RANKLIB_DEFAULTS)
def test_parameters_that_ranklib_has_too_have_its_defaults(learner):
    parameters = inspect.signature(learner).parameters
    assert {name: parameters[name].default for name in RANKLIB_DEFAULTS[learner]} == RANKLIB_DEFAULTS[learner]


def test_a_subclass_of_a_learner_keeps_its_own_docstring():
    class Mine(ra.learners.RankBoost):
        """Mine.

        Attributes
        ----------
        x_
            Anything.
        """

    assert "Anything." in Mine.__doc__
    assert "history_" not in Mine.__doc__


@for_every_learner
def test_weights_that_are_all_zero_or_of_other_rows_are_refused(learner):
    model = clone(learner).set_params(convention=WEIGHTED)
    for weight, message in (
        (np.zeros(DATA.y.size), "sample_weight: all weights are zero"),
        (np.ones(DATA.y.size - 1), f"sample_weight has {DATA.y.size - 1} entries but there are {DATA.y.size} rows"),
    ):
        with pytest.raises(ra.InputError, match=message):
            model.fit(DATA.X, DATA.y, qid=DATA.qid, sample_weight=weight)
