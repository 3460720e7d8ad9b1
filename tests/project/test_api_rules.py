"""The rules of the public API, read from the signatures of every public function."""

from __future__ import annotations

from inspect import Parameter, isfunction, signature

import pytest

import rankadapters as ra
from tests.helpers.public_calls import public_modules, public_names

for engine in ("dask", "pyspark"):  # whose functions keep the rules, too
    pytest.importorskip(engine)

FUNCTIONS = {
    f"{prefix}{name}": getattr(module, name)
    for prefix, module in public_modules()
    for name in public_names(prefix, module)
    if isfunction(getattr(module, name))
}
# Rule 1: what may be given by position, in this order. Data of another form stand in the place of labels and scores.
BY_POSITION = [
    ("labels", "scores", "convention"),
    ("labels", "scores", "a", "b"),  # two conventions, which are compared
    ("labels", "scores", "objective"),
    ("model", "data", "convention"),
    ("train", "test"),
    ("datasets", "scores", "convention"),
    ("batches", "convention"),
    ("df", "convention"),
    ("params", "pool", "objective", "convention"),  # the order of catboost.train
    ("convention", "sets"),
    ("qrels", "run"),
    ("run", "scores"),
    ("name", "k"),
    *[(name,) for name in (
        "objective", "metric", "text", "signature", "results", "numbers", "files", "path", "parts", "what", "trial",
        "client", "k", "name", "measure", "score", "function",
    )],
    ("function", "convention"),
]  # fmt: skip
# Rule 4: columns of tables.
DEFAULTS = {"label": "label", "score": "score", "qid": "qid", "query_weight": None, "row_weight": None, "docid": None}
# Rule 5: words that have another word here.
OTHER_WORDS = {
    "tol": "tolerance", "seed": "random_state", "weight": "query_weight", "weights": "query_weight",
    "conventions": "convention", "group": "group_sizes", "groups": "group_sizes", "n_jobs": "n_threads",
    "verbose_eval": "progress", "models": "scores", "y_true": "labels", "y_pred": "scores",
}  # fmt: skip
# CatBoost's own word in the function that stands for its own, and a group of methods.
TOOLKITS_WORDS = {"catboost.check_parity": {"weight"}, "compare.front": {"group"}}


def parameters(name):
    return list(signature(FUNCTIONS[name]).parameters.values())


def shape(name):
    return tuple(each.name for each in parameters(name) if each.kind is Parameter.POSITIONAL_OR_KEYWORD)


def test_only_labels_scores_and_convention_are_given_by_position():
    positional = {name: shape(name) for name in FUNCTIONS}
    allowed = {form[:length] for form in BY_POSITION for length in range(len(form) + 1)}
    assert len(positional) > 50
    assert {name: taken for name, taken in positional.items() if taken not in allowed} == {}


def test_one_meaning_has_one_word():
    wrong = []
    for name in FUNCTIONS:
        allowed = {"seed"} if name.startswith("objectives.") else TOOLKITS_WORDS.get(name, set())  # a field is a `seed`
        words = {parameter.name for parameter in parameters(name)} & set(OTHER_WORDS) - allowed
        wrong += [f"{name}: {word} is called {OTHER_WORDS[word]}" for word in words]
    assert wrong == []


TABLES = [name for name in FUNCTIONS if {"label", "score"} <= {each.name for each in parameters(name)}]


@pytest.mark.parametrize("name", TABLES)
def test_columns_of_tables_have_the_names_of_parameters_and_the_same_defaults(name):
    found = {each.name: each.default for each in parameters(name) if each.name in DEFAULTS}
    assert found == DEFAULTS


def test_tables_are_read_in_several_places():
    assert {"evaluate_stream", "io.read_table", "dask.evaluate", "spark.evaluate"} <= set(TABLES)


LABELS, SCORES, SIZES = [2, 0, 1, 0], [0.4, 0.3, 0.2, 0.1], [2, 2]
TEXTS = ("yahoo@2", "letor4@2")


def scored(convention):
    return ra.evaluate(LABELS, SCORES, convention, group_sizes=SIZES)


def streamed(convention):
    table = {"label": LABELS, "score": SCORES, "qid": ["a", "a", "b", "b"]}
    return ra.evaluate_stream(table, convention)


@pytest.mark.parametrize("function", [scored, streamed])
def test_one_convention_gives_one_result_and_several_give_a_mapping_in_their_order(function):
    assert isinstance(function(TEXTS[0]), ra.Score)
    for conventions in (list(TEXTS), tuple(TEXTS), [ra.parse(text) for text in TEXTS]):
        by_convention = function(conventions)
        assert list(by_convention) == [ra.parse(text) for text in TEXTS]
        assert by_convention[TEXTS[1]] == function(TEXTS[1])
    assert list(function([TEXTS[0]])) == [ra.parse(TEXTS[0])]


@pytest.mark.parametrize("toolkit", ["lightgbm", "xgboost", "catboost", "sklearn"])
def test_callbacks_take_one_convention_or_several(toolkit):
    pytest.importorskip(toolkit)
    make = {
        "lightgbm": ra.lightgbm.eval_metric,
        "xgboost": ra.xgboost.custom_metric,
        "catboost": lambda convention: ra.catboost.eval_metric(convention, [(LABELS, ["a", "a", "b", "b"])]),
        "sklearn": ra.sklearn.query_scorer,
    }[toolkit]
    make(TEXTS[0])
    make(list(TEXTS))


@pytest.mark.parametrize("toolkit", ["lightgbm", "xgboost", "catboost"])
def test_objectives_are_taken_as_values_and_as_texts(toolkit):
    pytest.importorskip(toolkit)
    namespace = getattr(ra, toolkit)
    ours = [signature(each.native_objective) for each in (ra.lightgbm, ra.xgboost, ra.catboost)]
    assert [list(each.parameters) for each in ours] == [list(ours[0].parameters)] * 3
    own = {"lightgbm": "lightgbm.lambdarank", "xgboost": "xgboost.ndcg", "catboost": "catboost.query_rmse"}[toolkit]
    value = ra.objectives.parse(own)
    assert namespace.native_objective(own) == namespace.native_objective(value)
    assert namespace.read_objective(namespace.native_objective(value)) == value
