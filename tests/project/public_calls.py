"""One valid call of every public function, class and method of `ra`: its name and its keyword arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from inspect import Parameter, getattr_static, isclass, ismethod, signature
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

import rankadapters as ra
from rankadapters.callbacks.history import History

LABELS, SCORES, QID = [2.0, 0.0, 1.0, 0.0], [0.4, 0.3, 0.2, 0.1], ["a", "a", "b", "b"]
DATA = {"labels": LABELS, "scores": SCORES, "qid": QID}
MODELS = {"labels": LABELS, "scores": {"a": SCORES, "b": LABELS}, "qid": QID}
TEXT = "textbook@2"
FEATURES = np.arange(8.0).reshape(4, 2)
ROWS = {"X": FEATURES, "y": LABELS, "qid": QID}
FRAME = pd.DataFrame({"label": LABELS, "score": SCORES, "qid": QID})
COLUMNS = ("qid", "group_sizes", "query_weight", "row_weight", "pairs", "docid", "retrieved", "judged")
TOOLKITS = ("lightgbm", "xgboost", "catboost")
METRICS = {"sklearn": "ndcg_score", "lightgbm": "ndcg@2", "xgboost": "ndcg@2", "catboost": "NDCG:top=2"}
CELLS = pd.DataFrame(
    [
        (dataset, method, "letor4@10", value)
        for dataset, first in (("one", 0.1), ("two", 0.3))
        for method, value in (("a", first), ("b", 0.2), ("c", 0.25))
    ],
    columns=["dataset", "method", "measure", "value"],
)
DIRECTORY = TemporaryDirectory()  # one per process, so that no process reads what another writes


@lru_cache
def write_file(name: str, text: str) -> str:
    path = Path(DIRECTORY.name, name)
    path.write_text(text)
    return str(path)


def letor_file() -> str:
    return write_file("rows.txt", "2 qid:1 1:0.5 2:1\n0 qid:1 1:0.25 2:0\n1 qid:2 1:0.5 2:1\n0 qid:2 1:0.75 2:2\n")


def hits(labels: Any, scores: Any) -> float:
    """Return 1 if one of the first two rows is relevant, else 0: a user's function."""
    return float((np.asarray(labels)[np.argsort(-scores, kind="stable")][:2] > 0).any())


def score() -> ra.Score:
    return ra.evaluate(LABELS, SCORES, TEXT, qid=QID)


def tally() -> ra.Tally:
    return ra.Evaluator(LABELS, TEXT, qid=QID).tally(SCORES)


def results() -> Any:
    return ra.compare.Results(CELLS)


def ranking_data() -> Any:
    return ra.datasets.RankingData(X=FEATURES, labels=np.array(LABELS), qid=np.array([0, 0, 1, 1]))


@lru_cache
def pool() -> Any:
    import catboost

    return catboost.Pool(FEATURES, LABELS, group_id=QID)


@lru_cache
def dmatrix() -> Any:
    import xgboost

    return xgboost.DMatrix(FEATURES, LABELS, qid=[0, 0, 1, 1])


def train_set() -> Any:
    import lightgbm

    return lightgbm.Dataset(FEATURES, LABELS, group=[2, 2], free_raw_data=False)


@lru_cache
def booster(toolkit: str) -> Any:
    if toolkit == "lightgbm":
        import lightgbm

        return lightgbm.train({"objective": "lambdarank", "verbose": -1}, train_set(), 1)
    if toolkit == "xgboost":
        import xgboost

        return xgboost.train({"objective": "rank:ndcg"}, dmatrix(), 1)
    import catboost

    params = {"loss_function": "YetiRank", "verbose": False, "allow_writing_files": False}
    return catboost.train(pool(), params, num_boost_round=1)


def ranker() -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


def public_modules() -> Iterator[tuple[str, ModuleType]]:
    """Yield the name, as a prefix, and the module of every public namespace whose toolkit is installed."""
    yield "", ra
    for owner, prefix, names in ((ra, "", dir(ra)), (ra.objectives, "objectives.", TOOLKITS)):
        for name in names:
            with suppress(ra.MissingToolkitError):
                if isinstance(getattr(owner, name), ModuleType) and name != "presets":
                    yield f"{prefix}{name}.", getattr(owner, name)


def takes_arguments(function: Callable[..., Any]) -> bool:
    return any(name != "self" for name in signature(function).parameters)


def method_names(cls: type) -> Iterator[str]:
    """Yield the names of a class's own methods that take an argument."""
    for name in dir(cls):
        method = getattr_static(cls, name)
        module = getattr(getattr(cls, name), "__module__", None) or ""
        is_method = callable(getattr(cls, name)) and not isinstance(method, property)
        if is_method and module.startswith("rankadapters.") and not name.startswith(("_", "set_")):
            yield from [name] if takes_arguments(getattr(cls, name)) else []


def public_callables() -> Iterator[str]:
    """Yield the name of every public function, class and method of `ra` once."""
    for prefix, module in public_modules():
        for name in module.__all__:
            value = getattr(module, name)
            if isclass(value) and not issubclass(value, BaseException):
                yield f"{prefix}{name}"
                yield from (f"{prefix}{name}.{method}" for method in method_names(value))
            elif (callable(value) and not isclass(value) and hasattr(value, "__code__")) or ismethod(value):
                yield f"{prefix}{name}"


def callable_of(name: str) -> Callable[..., Any]:
    """Return the callable of a name in `ra`; a method is bound to the instance of INSTANCES."""
    value: Any = ra
    for part in name.split("."):
        owner, value = value, getattr(value, part)
    if isclass(owner) and not ismethod(value) and not isinstance(getattr_static(owner, part), staticmethod):
        return getattr(INSTANCES[name.rpartition(".")[0]](), part)
    return value


def fit(estimator: Any) -> Any:
    return estimator.fit(FEATURES, LABELS, qid=QID)


def split(splitter: Any) -> Any:
    """Return the folds of a splitter, which checks its parameters then."""
    return list(splitter.split(FEATURES, LABELS, QID))


def splitter_calls(name: str) -> dict[str, Callable[[], dict[str, Any]]]:
    sizes = {"test_size": 0.5} if name == "QueryShuffleSplit" else {}
    return {
        f"sklearn.{name}": lambda: {"n_splits": 2, **sizes},
        f"sklearn.{name}.split": lambda: {"X": FEATURES, "y": LABELS, "groups": QID},
        f"sklearn.{name}.get_n_splits": dict,
    }


LEARNERS: dict[str, dict[str, Any]] = {
    "AdaRank": {"convention": TEXT, "max_iter": 2},
    "CoordinateAscent": {"convention": TEXT, "max_iter": 1, "n_restarts": 1, "n_steps": 1},
    "NeuralRanker": {"objective": "listnet/v1", "convention": TEXT, "max_iter": 1},
    "RankBoost": {"convention": TEXT, "max_iter": 2},
    "RankSVM": {"convention": TEXT, "max_iter": 5},
}
SPLITTERS = ("QueryKFold", "StratifiedQueryKFold", "QueryShuffleSplit")
EVALS = {"convention": {"ndcg": TEXT}, "n_threads": 1}

CALLED_WITHOUT_ARGUMENTS = (
    "Queries.with_weights", "audit.Explanation.queries", "compare.Results.only", "compare.Results.to_frame",
    "objectives.unbiased_lambdamart",
    *(f"objectives.lightgbm.{name}" for name in ("lambdarank", "position_bias", "xendcg")),
    *(f"objectives.xgboost.{name}" for name in ("map", "ndcg", "pairwise", "unbiased")),
    *(f"objectives.catboost.{name}" for name in ("lambdamart", "pair_logit", "query_cross_entropy", "query_rmse")),
    *(f"objectives.catboost.{name}" for name in ("query_soft_max", "stochastic_filter", "yetirank")),
)  # fmt: skip
# The keyword arguments of one valid call each.
CALLS: dict[str, Callable[[], dict[str, Any]]] = {
    **dict.fromkeys(CALLED_WITHOUT_ARGUMENTS, dict),
    "Evaluator": lambda: {"labels": LABELS, "convention": TEXT, "qid": QID},
    "Trials": lambda: {"labels": LABELS, "convention": TEXT, "qid": QID},
    "Trials.along": lambda: {"scores": SCORES, "column": SCORES, "steps": [1.0]},
    "Trials.per_query": lambda: {"several": [SCORES]},
    "Trials.values": lambda: {"several": [SCORES]},
    **{
        f"{name}.{method}": lambda: {"scores": SCORES}
        for name, methods in {
            "Evaluator": ("evaluate", "measure", "per_query", "standard_error", "tally"),
            "Trials": ("measure", "value"),
        }.items()
        for method in methods
    },
    "History.best": lambda: {"dataset": "valid", "convention": TEXT},
    "History.of": lambda: {"log": {"valid": {"mine": [0.5]}}, "conventions": {"mine": TEXT}},
    "History.only": lambda: {"dataset": "valid", "convention": TEXT},
    "Queries": lambda: {"labels": LABELS, "qid": QID},
    "Queries.check_scores": lambda: {"scores": SCORES},
    "Queries.with_labels": lambda: {"labels": LABELS},
    "Score.from_dict": lambda: {"data": score().to_dict()},
    "Score.from_json": lambda: {"text": score().to_json()},
    "SegmentTallies.from_dict": lambda: {"data": ra.tally_table([FRAME], TEXT).to_dict()},
    "SegmentTallies.merge": lambda: {"tallies": [ra.tally_table([FRAME], TEXT)]},
    "Tally.from_dict": lambda: {"data": tally().to_dict()},
    "Tally.merge": lambda: {"tallies": [tally()]},
    "evaluate": lambda: {**DATA, "convention": TEXT},
    "evaluate_table": lambda: {"table": [FRAME], "convention": TEXT},
    "per_query_table": lambda: {"table": [FRAME], "convention": TEXT},
    "tally_table": lambda: {"table": [FRAME], "convention": TEXT},
    "inert": lambda: {**DATA, "a": TEXT, "b": "yahoo@2"},
    "parse": lambda: {"text": TEXT},
    "per_query": lambda: {**DATA, "convention": TEXT},
    "audit.explain": lambda: {**DATA, "a": TEXT, "b": "yahoo@2"},
    "audit.identify": lambda: {**DATA, "value": "0.5", "measure": "success", "k": 2, "progress": False},
    "audit.order": lambda: {**MODELS, "convention": TEXT, "n_resamples": 9, "progress": False},
    "audit.page": lambda: {**MODELS, "convention": TEXT, "n_resamples": 9, "progress": False},
    "audit.probe": lambda: {"function": hits, "takes": "query", "k": 2, "measures": ["success"], "labels": [0, 1]},
    "audit.profile": lambda: {"labels": LABELS, "qid": QID, "k": 2, "scores": SCORES},
    "compare.Results": lambda: {"data": CELLS},
    "compare.Results.read": lambda: {"path": write_file("cells.csv", CELLS.to_csv(index=False))},
    "compare.Results.to_latex": lambda: {"decimals": 3},
    "compare.Results.to_markdown": lambda: {"decimals": 3},
    "compare.LeaveOneOut.bagplot": lambda: {"method": "a"},
    "compare.LeaveOneOut.points": lambda: {"method": "a"},
    "compare.front": lambda: {"numbers": ra.compare.winning_numbers(results())},
    "compare.leave_one_out": lambda: {"results": results()},
    "compare.page": lambda: {"results": results()},
    "compare.winning_numbers": lambda: {"results": results()},
    "conformance.Program": lambda: {"command": "cat", "k": 2, "timeout": 1},
    "conformance.check": lambda: {"function": hits, "convention": "letor4.p@2", "takes": "query", "labels": [0, 1]},
    "conformance.vectors": lambda: {"convention": "letor4.p@2", "labels": [0, 1]},
    "datasets.RankingData": lambda: {"X": FEATURES, "labels": np.array(LABELS), "qid": np.array([0, 0, 1, 1])},
    "datasets.mq2008_like": lambda: {"n_train_queries": 3, "n_test_queries": 3},
    "exports.to_model_card": lambda: {"score": score()},
    "io.from_qrels": lambda: {"qrels": {"1": {"a": 2, "b": 0}}, "run": {"1": {"a": 0.5, "b": 0.25}}},
    "io.read_letor": lambda: {"files": letor_file(), "feature": 1},
    "io.read_table": lambda: {"path": write_file("rows.csv", FRAME.to_csv(index=False))},
    "io.read_trec": lambda: {
        "qrels": write_file("qrels.txt", "1 0 a 2\n1 0 b 0\n"),
        "run": write_file("run.txt", "1 Q0 a 1 0.5 x\n1 Q0 b 2 0.25 x\n"),
    },
    **{f"learners.{name}": lambda name=name: LEARNERS[name] for name in LEARNERS},
    **{f"learners.{name}.fit": lambda: {**ROWS, "eval_set": (FEATURES, LABELS, QID)} for name in LEARNERS},
    **{f"learners.{name}.predict": lambda: {"X": FEATURES} for name in LEARNERS},
    **{f"learners.{name}.score": lambda: ROWS for name in LEARNERS},
    "objectives.gradients": lambda: {**DATA, "objective": "listnet/v1"},
    "objectives.lambdarank": lambda: {"convention": TEXT, "truncation": 3},
    "objectives.parse": lambda: {"text": "listnet/v1"},
    "objectives.parse_position_bias": lambda: {"signature": str(ra.objectives.lightgbm.position_bias())},
    "objectives.catboost.stochastic_rank": lambda: {"metric": "NDCG"},
    "parity.check_value": lambda: {**DATA, "convention": TEXT, "value": "0.8"},
    "parity.crosscheck": lambda: {**DATA, "convention": TEXT, "toolkits": ["sklearn"]},
    "parity.letor_mean_ndcg": lambda: {**DATA, "convention": "textbook@all"},
    "parity.crosscheck_models": lambda: {
        "train": ranking_data(), "test": ranking_data(), "toolkits": ["sklearn"], "k": 2, "progress": False,
    },
    **{f"{toolkit}.check_parity": lambda t=toolkit: {**DATA, "convention": f"{t}@2"} for toolkit in METRICS},
    **{f"{toolkit}.native_metric": lambda t=toolkit: {"convention": f"{t}@2"} for toolkit in METRICS},
    **{f"{toolkit}.read_metric": lambda t=toolkit: {"text": METRICS[t]} for toolkit in METRICS},
    **{f"{toolkit}.native_objective": lambda: {"objective": "ranknet"} for toolkit in TOOLKITS},
    "catboost.native_objective": lambda: {"objective": str(ra.objectives.catboost.pair_logit())},
    "lightgbm.native_objective": lambda: {"objective": str(ra.objectives.lightgbm.xendcg())},
    "xgboost.native_objective": lambda: {"objective": str(ra.objectives.xgboost.pairwise())},
    "catboost.native_loss": lambda: {"convention": "catboost@2+ties=average"},
    "catboost.read_objective": lambda: {"objective": "PairLogit"},
    "lightgbm.read_objective": lambda: {"objective": "lambdarank"},
    "xgboost.read_objective": lambda: {"objective": "rank:pairwise"},
    "catboost.check_model": lambda: {"model": booster("catboost"), "data": pool(), "convention": TEXT, "qid": QID},
    "lightgbm.check_model": lambda: {"model": booster("lightgbm"), "data": train_set(), "convention": TEXT},
    "xgboost.check_model": lambda: {"model": booster("xgboost"), "data": dmatrix(), "convention": TEXT},
    "catboost.eval_metric": lambda: {"convention": {"ndcg": TEXT}, "sets": [(LABELS, QID)], "n_threads": 1},
    "catboost.train": lambda: {
        "params": {"iterations": 1, "thread_count": 1, "depth": 1, "allow_writing_files": False},
        "pool": pool(), "objective": "listnet/v1", "convention": TEXT, "eval_set": pool(), "verbose": False,
    },
    "lightgbm.early_stopping": lambda: {"convention": TEXT, "rounds": 3},
    "lightgbm.eval_metric": lambda: EVALS,
    "lightgbm.global_eval": lambda: EVALS,
    "lightgbm.lambdarank": lambda: {"convention": TEXT, "truncation": 3},
    "lightgbm.objective": lambda: {"objective": "listnet/v1"},
    "lightgbm.ObjectiveCallback": lambda: {"value": "listnet/v1", "n_threads": 1},
    "xgboost.EvalCallback": lambda: {"evals": [(dmatrix(), "train")], **EVALS},
    "xgboost.eval_metric": lambda: EVALS,
    "xgboost.early_stopping": lambda: {"convention": TEXT, "rounds": 3},
    "xgboost.lambdarank": lambda: {"convention": TEXT, "truncation": 3},
    "xgboost.objective": lambda: {"objective": "listnet/v1"},
    "xgboost.ObjectiveCallback": lambda: {"value": "listnet/v1", "n_threads": 1},
    **{name: call for splitter_name in SPLITTERS for name, call in splitter_calls(splitter_name).items()},
    "sklearn.QueryRanker": lambda: {"estimator": ranker(), "convention": TEXT},
    "sklearn.QueryRanker.fit": lambda: ROWS,
    "sklearn.QueryRanker.predict": lambda: {"X": FEATURES},
    "sklearn.QueryRanker.score": lambda: ROWS,
    "sklearn.query_scorer": lambda: {"convention": TEXT},
    "trackers.mlflow_name": lambda: {"convention": TEXT},
    "trackers.names": lambda: {"convention": [TEXT]},
    "trackers.wandb_name": lambda: {"convention": TEXT},
}  # fmt: skip

# Objects to call methods of.
INSTANCES: dict[str, Callable[[], Any]] = {
    **{
        name: lambda name=name: callable_of(name)(**CALLS[name]())
        for name in ("Evaluator", "Trials", "Queries", "compare.Results")
    },
    **{f"learners.{name}": lambda n=name: fit(getattr(ra.learners, n)(**LEARNERS[n])) for name in LEARNERS},
    **{f"sklearn.{name}": lambda n=name: getattr(ra.sklearn, n)(n_splits=2) for name in SPLITTERS},
    "History": lambda: History.of({"valid": {ra.parse(TEXT).name: [0.0, 0.1]}}),
    "SegmentTallies": lambda: ra.tally_table([FRAME], TEXT),
    "Tally": tally,
    "audit.Explanation": lambda: ra.audit.explain(LABELS, SCORES, TEXT, "yahoo@2", qid=QID),
    "compare.LeaveOneOut": lambda: ra.compare.leave_one_out(results()),
    "sklearn.QueryRanker": lambda: fit(ra.sklearn.QueryRanker(ranker(), convention=TEXT)),
}

# Uses of the object that a call returns: classes of scikit-learn check their parameters only when they are used.
USES: dict[str, Callable[[Any], Any]] = {
    **{f"learners.{name}": fit for name in LEARNERS},
    **{f"sklearn.{name}": split for name in SPLITTERS},
    **{f"sklearn.{name}.split": list for name in SPLITTERS},
    "sklearn.QueryRanker": fit,
}


def parameter_names(function: Callable[..., Any]) -> list[str]:
    """Return the keywords of a function, with the columns of Queries if it takes those."""
    declared = signature(function).parameters.values()
    various = {Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL}
    columns = [p.name for p in declared if p.kind is Parameter.VAR_KEYWORD]
    named = [p.name for p in declared if p.kind not in various]
    return [*named, *(COLUMNS if columns == ["columns"] else ())]
