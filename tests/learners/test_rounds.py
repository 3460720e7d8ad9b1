"""The rounds of the learners under validation and warm starts; AdaRank and RankBoost must equal RankLib 2.10.1."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.checkout import SHARED, mq2008_files

pytest.importorskip("sklearn")

from sklearn.base import clone

from rankadapters.core.ranking import compiled
from rankadapters.learners import AdaRank, CoordinateAscent, NeuralRanker, RankBoost
from tests.helpers.checkout import golden_file
from tests.helpers.parameters import THOROUGH
from tests.helpers.rankings import ranking

DATA = ranking(1, 40)
VALID = ranking(2, 20)
EVAL_SET = [(VALID.X, VALID.y, VALID.qid)]
RANKLIB = {
    "adarank": AdaRank("ranklib@10", variant="ranklib"),
    "rankboost": RankBoost("ranklib@10", variant="ranklib"),
}


def adarank(**params):
    return AdaRank("textbook@5", max_consecutive=None, **params)


def rankboost(**params):
    return RankBoost("textbook@5", **params)


def ranknet(**params):
    pairs = ra.objectives.catboost.pair_logit()
    return NeuralRanker(pairs, convention="textbook@5", learning_rate_init=0.05, random_state=0, **params)


def ascent(**params):
    return CoordinateAscent("textbook@5", n_restarts=2, n_steps=6, random_state=0, **params)


for_every_learner = pytest.mark.parametrize("learner", [adarank, rankboost, ranknet])
for_every_learner_and_ascent = pytest.mark.parametrize("learner", [adarank, rankboost, ranknet, ascent])
for_boosting_learners = pytest.mark.parametrize("learner", [adarank, rankboost])


@cache
def fit_on_fold(name, number):
    train, valid, test = fold(number)
    return clone(RANKLIB[name]).fit(train.X, train.y, qid=train.qid, eval_set=[tuple(valid)]), test


@pytest.mark.long
@pytest.mark.parametrize("learner", RANKLIB)
@pytest.mark.parametrize("number", [1, 2, 3] if THOROUGH else [1])
def test_scores_equal_ranklibs(learner, number):
    """Per document, to 1e-9 of the largest; RankLib 2.10.1 with its defaults, trained or validated by NDCG@10."""
    expected = ranklib_scores(learner, number)
    model, test = fit_on_fold(learner, number)
    assert np.abs(model.predict(test.X) - expected).max() <= 1e-9 * np.abs(expected).max()


@pytest.mark.long
@pytest.mark.parametrize("learner", RANKLIB)
@pytest.mark.parametrize("number", range(1, 6) if THOROUGH else [1])
def test_the_number_of_rounds_and_the_test_value_equal_ranklibs(learner, number):
    """`tests/golden/learners.json` has RankLib's numbers for every fold."""
    model, test = fit_on_fold(learner, number)
    assert model.n_iter_ == golden_file("learners")["rounds_kept"][learner][number - 1]
    expected = golden_file("learners")["fold_test_ndcg10"][learner][number - 1]
    assert model.score(test.X, test.y, qid=test.qid) == pytest.approx(expected, abs=5e-5)


@for_every_learner_and_ascent
def test_the_best_round_by_the_validation_queries_is_kept(learner):
    model = learner(max_iter=40).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=EVAL_SET)
    values = [entry.value for entry in model.history_ if entry.dataset == "valid_0"]
    assert model.n_iter_ == 1 + int(np.argmax(values))
    assert model.score(VALID.X, VALID.y, qid=VALID.qid) == pytest.approx(max(values), rel=1e-12)


@pytest.mark.parametrize(("convention", "dtype"), [("textbook@5", "float64"), ("xgboost@5", "float32")])
@for_every_learner
def test_kernels_are_loaded_for_the_rows_of_all_rounds(learner, convention, dtype, monkeypatch):
    """AdaRank ranks the training rows by each feature too."""
    asked = []
    monkeypatch.setattr(compiled, "pays", lambda *rows_and_dtype: asked.append(rows_and_dtype))
    learner(max_iter=2).set_params(convention=convention).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=EVAL_SET)
    n_candidates = 2 + (DATA.X.shape[1] if learner is adarank else 0)
    assert (n_candidates * (DATA.y.size + VALID.y.size), np.dtype(dtype)) in asked


@for_every_learner
def test_history_has_the_declared_metric_of_every_round(learner):
    model = learner(max_iter=3).fit(DATA.X, DATA.y, qid=DATA.qid)
    last = model.history_[-1]
    assert [entry.dataset for entry in model.history_] == ["train"] * model.n_iter_
    assert last.value == pytest.approx(model.score(DATA.X, DATA.y, qid=DATA.qid), rel=1e-12)
    assert last.convention == ra.parse("textbook@5")


@for_every_learner
def test_n_iter_no_change_stops_the_training(learner):
    model = learner(max_iter=200, n_iter_no_change=3).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=EVAL_SET)
    assert len(model.history_) // 2 == model.n_iter_ + 3 < 200


@for_boosting_learners
def test_a_warm_start_continues_the_training(learner):
    """Four rounds and four more equal eight rounds. Networks are left out because Adam's state restarts."""
    uninterrupted = learner(max_iter=8, **tolerance(learner)).fit(DATA.X, DATA.y, qid=DATA.qid)
    model = learner(max_iter=4, warm_start=True, **tolerance(learner)).fit(DATA.X, DATA.y, qid=DATA.qid)
    model.fit(DATA.X, DATA.y, qid=DATA.qid)
    assert model.features_.tolist() == uninterrupted.features_.tolist()
    assert len(model.features_) == 8
    np.testing.assert_allclose(model.alphas_, uninterrupted.alphas_, rtol=1e-12)


def tolerance(learner):
    """Return parameters that let AdaRank continue after a round without gain."""
    return {"tol": 10.0} if learner is adarank else {}


def first_fit(learner, labels=DATA.y):
    """Return a model of up to three rounds that a second fit continues."""
    model = learner(max_iter=3, warm_start=True, **tolerance(learner))
    return model.fit(DATA.X, labels, qid=DATA.qid, eval_set=EVAL_SET)


def perfect_set(model):
    """Return validation queries that the model ranks perfectly, so that no round can be better."""
    scores = model.predict(VALID.X)
    return VALID.X, scores > np.median(scores), VALID.qid


@for_every_learner_and_ascent
def test_a_warm_start_keeps_its_model_if_no_round_is_better(learner):
    model = first_fit(learner)
    scores, n_iter, eval_set = model.predict(VALID.X), model.n_iter_, perfect_set(model)
    value = ra.evaluate(eval_set[1], scores, "textbook@5", qid=VALID.qid).value
    model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=[eval_set])
    assert (model.predict(VALID.X).tobytes(), model.n_iter_) == (scores.tobytes(), n_iter)
    best = model.history_.best(dataset="valid_0")
    assert (best.iteration, best.value) == (n_iter - 1, pytest.approx(value, rel=1e-12))
    assert len(model.history_.only(dataset="valid_0")) > 1


@for_every_learner_and_ascent
def test_a_warm_start_goes_on_counting(learner):
    """The first fit learns the opposite labels, and the second the validation queries, so its rounds are better."""
    model = first_fit(learner, DATA.y.max() - DATA.y)
    n_iter = model.n_iter_
    last_value = model.score(VALID.X, VALID.y, qid=VALID.qid)
    model.set_params(max_iter=10).fit(VALID.X, VALID.y, qid=VALID.qid, eval_set=EVAL_SET)
    entries = model.history_.only(dataset="valid_0")
    assert [entry.iteration for entry in entries] == [n_iter - 1 + index for index in range(len(entries))]
    assert entries[0].value == pytest.approx(last_value, rel=1e-12)
    best = model.history_.best(dataset="valid_0")
    assert model.n_iter_ == 1 + best.iteration > n_iter
    assert model.score(VALID.X, VALID.y, qid=VALID.qid) == pytest.approx(best.value, rel=1e-12)


@for_every_learner
def test_patience_counts_from_the_model_of_a_warm_start(learner):
    model = first_fit(learner).set_params(max_iter=20, n_iter_no_change=2)
    model.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=[perfect_set(model)])
    assert len(model.history_.only(dataset="valid_0")) == 1 + 2


@for_every_learner_and_ascent
def test_a_warm_start_without_validation_adds_all_rounds(learner):
    model = learner(max_iter=2, warm_start=True, **tolerance(learner)).fit(DATA.X, DATA.y, qid=DATA.qid)
    n_iter = model.n_iter_
    n_new = len(model.fit(DATA.X, DATA.y, qid=DATA.qid).history_) - 1
    assert model.n_iter_ == n_iter + n_new > n_iter


class Part(NamedTuple):
    """The rows of some files of MQ2008."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray


@cache
def _read_part(number: int) -> Part:
    from sklearn.datasets import load_svmlight_file

    [file] = mq2008_files(number)
    X, y, qid = load_svmlight_file(str(file), n_features=46, query_id=True)
    return Part(X.toarray(), y, qid)


def fold(number: int) -> tuple[Part, Part, Part]:
    """Return the parts for training, S_i to S_{i+2}, for validation and for testing, cyclically."""
    parts = [_read_part((number - 1 + step) % 5 + 1) for step in range(5)]
    train = Part(*(np.concatenate(columns) for columns in zip(*parts[:3], strict=True)))
    return train, parts[3], parts[4]


def ranklib_scores(learner: str, number: int) -> np.ndarray:
    """Return RankLib 2.10.1's scores of the test rows of a fold (learners_reference.json); skip without the files."""
    file = SHARED / "golden" / "learners" / f"{learner}_fold{number}.scores"
    if not file.is_file():
        pytest.skip("RankLib's scores of MQ2008 are missing")
    return np.loadtxt(file)


def test_the_first_of_several_validation_sets_decides():
    other = (VALID.X, 2 - VALID.y, VALID.qid)
    first, both, swapped = (
        ranknet(max_iter=12).fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=sets)
        for sets in (EVAL_SET, [*EVAL_SET, other], [other, *EVAL_SET])
    )
    assert both.n_iter_ == first.n_iter_ != swapped.n_iter_
    assert [entry.dataset for entry in both.history_[:3]] == ["train", "valid_0", "valid_1"]


@pytest.mark.parametrize("name", ["eval_set", "validation_fraction"])
def test_validation_needs_a_convention(name):
    learner, sets = ranknet(max_iter=1).set_params(convention=None), EVAL_SET
    if name == "validation_fraction":
        learner, sets = learner.set_params(validation_fraction=0.5), None
    with pytest.raises(ra.ConventionError, match=f"^{name} needs a convention to validate by"):
        learner.fit(DATA.X, DATA.y, qid=DATA.qid, eval_set=sets)
