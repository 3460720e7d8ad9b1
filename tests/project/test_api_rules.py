"""The rules of the public API, read from the signatures of every public function."""

from __future__ import annotations

import re
from inspect import Parameter, isfunction, ismethod, signature
from operator import attrgetter

import pytest

import rankadapters as ra
from tests.helpers.checkout import CHECKOUT
from tests.project.public_calls import public_callables, public_modules

for engine in ("dask", "pyspark"):  # their functions follow the rules, too
    pytest.importorskip(engine)

FUNCTIONS = {
    f"{prefix}{name}": getattr(module, name)
    for prefix, module in public_modules()
    for name in module.__all__
    if isfunction(getattr(module, name)) or ismethod(getattr(module, name))
}
# Rule 1: the arguments that may be passed by position, in this order. Other forms of data replace labels and scores.
BY_POSITION = [
    ("labels", "scores", "convention"),
    ("labels", "scores", "a", "b"),  # two conventions to compare
    ("labels", "scores", "objective"),
    ("model", "data", "convention"),
    ("train", "test"),
    ("datasets", "scores", "convention"),
    ("table", "convention"),
    ("df", "convention"),
    ("params", "pool", "objective", "convention"),  # the order of catboost.train
    ("convention", "sets"),
    ("qrels", "run"),
    ("run", "scores"),
    ("name", "k"),
    ("convention", "rounds"),  # of early stopping
    *[(name,) for name in (
        "objective", "metric", "text", "signature", "results", "numbers", "files", "path", "parts", "what", "trial",
        "client", "k", "name", "measure", "score", "function",
    )],
    ("function", "convention"),
]  # fmt: skip
# Rule 4: the default names of table columns.
DEFAULTS = {"label": "label", "score": "score", "qid": "qid", "query_weight": None, "row_weight": None, "docid": None}
# Rule 5: words that we avoid, and our word for the same meaning.
OUR_WORDS = {
    "tol": "tolerance", "seed": "random_state", "weight": "query_weight", "weights": "query_weight",
    "conventions": "convention", "group": "group_sizes", "groups": "group_sizes", "n_jobs": "n_threads",
    "verbose_eval": "progress", "models": "scores", "y_true": "labels", "y_pred": "scores",
}  # fmt: skip
# A function that mirrors CatBoost's uses its word; a group of methods is no query, and weights are the kind of weights.
EXCEPTIONS = {
    "catboost.check_parity": {"weight"},
    "compare.front": {"group"},
    **{f"{tool}.read_metric": {"weights"} for tool in ("catboost", "lightgbm", "sklearn", "xgboost")},
}


def parameters(name):
    return list(signature(FUNCTIONS[name]).parameters.values())


def positional_names(name):
    return tuple(parameter.name for parameter in parameters(name) if parameter.kind is Parameter.POSITIONAL_OR_KEYWORD)


def test_only_data_and_convention_may_be_passed_by_position():
    positional = {name: positional_names(name) for name in FUNCTIONS}
    allowed = {arguments[:length] for arguments in BY_POSITION for length in range(len(arguments) + 1)}
    assert len(positional) > 50
    assert {name: arguments for name, arguments in positional.items() if arguments not in allowed} == {}


def test_one_meaning_has_one_word():
    wrong = []
    for name in FUNCTIONS:
        # Some objectives have a field `seed`.
        allowed = {"seed"} if name.startswith("objectives.") else EXCEPTIONS.get(name, set())
        words = {parameter.name for parameter in parameters(name)} & set(OUR_WORDS) - allowed
        wrong += [f"{name}: {word} is called {OUR_WORDS[word]}" for word in words]
    assert wrong == []


TABLES = [name for name in FUNCTIONS if {"label", "score"} <= {parameter.name for parameter in parameters(name)}]


@pytest.mark.parametrize("name", TABLES)
def test_functions_that_read_tables_have_the_same_columns_and_defaults(name):
    defaults = {parameter.name: parameter.default for parameter in parameters(name) if parameter.name in DEFAULTS}
    assert defaults == DEFAULTS


def test_evaluation_and_readers_are_among_the_functions_that_read_tables():
    assert {"evaluate_table", "io.read_table", "dask.evaluate", "spark.evaluate"} <= set(TABLES)


# Counts of the rows of each query id in the order of the ids: by numpy, and by pandas.
SORTED_COUNTS = re.compile(
    r"""\bunique\([^()]*qid[^()]*return_counts|\bgroupby\([^()]*qid[^()]*\)(?:\[[^\]]*\])?\.(?:size|count)\(\)"""
    r"""|qid\W*\.value_counts\(|\bbincount\([^()]*\bqid\)"""
)
COUNTS = [
    "sizes = np.unique(train.qid, return_counts=True)[1]",
    "qids, sizes = np.unique(\n    data.qid[rows],\n    return_counts=True,\n)",
    'sizes = frame.groupby("qid").size()',
    'sizes = frame["qid"].value_counts(sort=False)',
    "sizes = np.bincount(qid)",
]


def test_no_group_sizes_are_counted_in_the_order_of_sorted_ids():
    """`numpy.unique` sorts the ids: of the rows q10 q10 q10 q9 q2 q2 it counts [3, 2, 1], not [3, 1, 2]."""
    assert all(map(SORTED_COUNTS.search, COUNTS))
    folders = ("docs", "examples", "benchmarks", "rankadapters")
    files = [path for folder in folders for path in (CHECKOUT / folder).rglob("*") if path.suffix in {".py", ".md"}]
    texts = {path: path.read_text("utf-8") for path in [*files, CHECKOUT / "README.md"] if "_build" not in path.parts}
    assert len(texts) > 300
    assert [(path.name, line) for path, text in texts.items() for line in SORTED_COUNTS.findall(text)] == []


def test_docstrings_repeat_the_descriptions_that_they_refer_to():
    """`describes` fills them in. A reference that says more, as "As in `fit`; qid is always required" does, stays."""
    described_by = re.compile(r"^ +As in `(Queries|Score|evaluate|evaluate_table|log_mlflow|order)`\.$", re.MULTILINE)
    docstrings = {name: attrgetter(name)(ra).__doc__ or "" for name in public_callables()}
    assert [name for name, text in docstrings.items() if described_by.search(text)] == []
