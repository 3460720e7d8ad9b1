"""What newcomers type first, and what to write instead: the hints of errors for unknown names and wrong calls."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from types import ModuleType
from typing import Any, NoReturn, ParamSpec, TypeVar

from rankadapters.core.errors import InputError, choices

P = ParamSpec("P")
T = TypeVar("T")

EVALUATE = 'ra.evaluate(labels, scores, "lightgbm@10", qid=qid)'
TABLE = 'ra.evaluate_table(df, "lightgbm@10", label="label", score="score", qid="qid")'
ORDER = 'ra.audit.order(labels, {"A": a, "B": b}, "lightgbm@10", qid=qid)'
EXPLAIN = 'ra.audit.explain(labels, scores, "sklearn@10", "lightgbm@10", qid=qid)'
EVAL_METRIC = {
    "lightgbm": 'ra.lightgbm.eval_metric("lightgbm@10")',
    "xgboost": 'ra.xgboost.eval_metric("xgboost@10")',
    "catboost": 'ra.catboost.eval_metric("catboost@10", [valid_pool])',
}
EARLY_STOPPING = {
    "lightgbm": 'ra.lightgbm.early_stopping("lightgbm@10", 20)',
    "xgboost": 'ra.xgboost.early_stopping("xgboost@10", 20)',
    "catboost": f"CatBoostRanker(eval_metric={EVAL_METRIC['catboost']}, early_stopping_rounds=20)",
}
IDENTIFY = 'ra.audit.identify(labels, scores, value="0.4382", qid=qid)'
PAGE = 'ra.audit.page(labels, {"A": a, "B": b}, ["lightgbm@10"], qid=qid); of values, ra.audit.order(values).to_html()'
PROBE = 'ra.audit.probe(function, takes="query", k=10), where function(labels, scores) returns the value of a query'
PROFILE = "ra.audit.profile(labels, qid=qid, k=10)"
LAMBDARANK = {
    package: f'ra.{package}.lambdarank("{tool}@10", truncation=30)'
    for package, tool in (("objectives", "lightgbm"), ("lightgbm", "lightgbm"), ("xgboost", "xgboost"))
}
FRAME = 'evaluate(df, "lightgbm@10", partitions="shuffle", label="label", score="score", qid="qid")'
_CROSSCHECK = 'ra.parity.crosscheck(labels, scores, "lightgbm@10", qid=qid)'
_LAMBDARANK = LAMBDARANK["objectives"]
QUERY_SCORER = 'ra.sklearn.query_scorer("lightgbm@10")'
_SCORER = f"{QUERY_SCORER} is for scoring="
_RANKER = 'ra.sklearn.QueryRanker(LGBMRanker(), eval_metric="lightgbm@10")'
_FOLDS = "ra.sklearn.QueryKFold(5) is for cv= of scikit-learn's cross_validate(..., params={'qid': qid})"
_FIXTURE = "assert_same_ndcg is a fixture of pytest: def test(assert_same_ndcg)"
_HISTORY = "ra.History.of(log) reads the toolkit's own log"

# By module below `rankadapters` (the package itself is ""): what to write, and the wrong names, in lower case.
_METRICS = "feval metric metrics custom_metric eval evaluate ndcg feval_metric"
_LOSSES = "loss fobj obj lambdamart"
_TESTS = "compare_models test significance ttest t_test paired_test bootstrap difference"
WAYS: dict[str, dict[str, str]] = {
    "": {
        EVALUATE: "ndcg ndcg_score ndcg_at_k metric metrics measure score evaluate_many compute calculate",
        'ra.evaluate(labels, scores, "lightgbm.map@10", qid=qid)': "map mean_average_precision average_precision",
        'ra.evaluate(labels, scores, "catboost.mrr@10", qid=qid)': "mrr mean_reciprocal_rank",
        'ra.evaluate(labels, scores, "letor4.p@10", qid=qid)': "p precision_at_k",
        'ra.evaluate(labels, scores, "torchmetrics.recall@10", qid=qid)': "r recall_at_k hit_rate",
        TABLE: "evaluate_df evaluate_dataframe evaluate_stream evaluate_file evaluate_csv",
        'a text such as "lightgbm@10", or ra.presets.lightgbm(10)': "preset convention conventions",
        EXPLAIN: "explain diff",
        IDENTIFY: "identify find",
        ORDER: f"order {_TESTS}",
        PROBE: "probe",
        PROFILE: "profile describe",
        _CROSSCHECK: "check crosscheck check_parity",
        _LAMBDARANK: f"objective lambdarank {_LOSSES}",
        "ra.lightgbm": "lgb lgbm",
        "ra.xgboost": "xgb",
        "ra.catboost": "cat cb",
        "ra.sklearn": "scikit_learn skl",
        ", ".join(EVAL_METRIC.values()): "eval_metric feval callback callbacks",
        ", ".join(EARLY_STOPPING.values()): "early_stopping earlystopping",
        _SCORER: "scorer make_scorer query_scorer",
        _RANKER: "queryranker ranker",
        _FOLDS: "querykfold cross_validate cross_val_score",
        "ra.io.read_trec(qrels, run), ra.io.read_letor(files) or ra.io.read_table(path)": "load read read_trec "
        "read_letor read_table read_csv read_run read_qrels from_qrels from_dict from_dicts",
        "ra.datasets.mq2008_like(random_state=0)": "mq2008_like dataset",
        "ra.exports.to_model_card(score)": "to_model_card export",
        "results have plot() and to_markdown()": "plot plots plotting",
        _FIXTURE: "assert_same_ndcg assert_same testing",
    },
    "lightgbm": {
        f"{EVAL_METRIC['lightgbm']} is for feval= of lgb.train and eval_metric= of fit": f"{_METRICS} evalcallback",
        EARLY_STOPPING["lightgbm"]: "early_stop",
        LAMBDARANK["lightgbm"]: _LOSSES,
        _HISTORY: "record_evaluation history",
    },
    "xgboost": {
        f"metric = {EVAL_METRIC['xgboost']}, then custom_metric=metric, callbacks=[metric]": f"{_METRICS} callback",
        EARLY_STOPPING["xgboost"]: "early_stop earlystopping",
        LAMBDARANK["xgboost"]: _LOSSES,
        _HISTORY: "record_evaluation history evals_result",
    },
    "catboost": {
        f"{EVAL_METRIC['catboost']} is for eval_metric= of CatBoostRanker": f"{_METRICS} evalcallback callback",
        EARLY_STOPPING["catboost"]: "early_stopping early_stop earlystopping",
        f"ra.catboost.train(params, pool, {_LAMBDARANK}, convention)": f"lambdarank objective {_LOSSES}",
        _HISTORY: "record_evaluation history",
    },
    "sklearn": {
        _SCORER: "scorer make_scorer ndcg_scorer score scoring ndcg_score get_scorer metric",
        _FOLDS: "groupkfold kfold cross_val_score cross_validate split",
        f"{_RANKER}; the estimator's own early_stopping_rounds= stops by it": "early_stopping eval_metric ranker",
    },
    "audit": {ORDER: f"compare {_TESTS}", EXPLAIN: "explain_gap gap diff why", IDENTIFY: "find search match"},
    "compare": {ORDER: f"order compare {_TESTS}"},
    "parity": {_CROSSCHECK: "check check_parity compare parity", _FIXTURE: "assert_same_ndcg"},
    "io": {
        "ra.io.read_trec(qrels, run)": "read_qrels read_run",
        'ra.io.read_trec("scifact", "results.json")': "read_beir read_json",
        "ra.io.from_qrels(qrels, run)": "from_dict from_dicts from_run read_dict",
        "ra.io.read_letor(files, predictions=file)": "read_svmlight load_letor load_svmlight_file read_libsvm",
        'ra.io.read_table(path), or ra.evaluate_table(path, "lightgbm@10")': "read_csv read_parquet load read",
    },
    "objectives": {_LAMBDARANK: "lambdamart ndcg lambda_rank"},
}
# Arguments of other libraries, or of ours elsewhere, with what to write instead.
_ARGUMENTS = {
    'the cutoff is in the convention, such as "lightgbm@10"': "k cutoff at top_k topk",
    'the measure is in the convention, such as "lightgbm.map@10"': "metric metrics measure measures conventions preset",
    "labels and scores come first, in this order": "y_true y y_pred y_score preds predictions pred relevance target",
    "n_threads=": "n_jobs num_threads nthread",
    "group_sizes= takes the rows of each query, qid= one id per row": "group",
    "qid= takes one id per row, group_sizes= the rows of each query": "groups qids query_id query_ids queries group_id "
    "query topic",
    "row_weight= takes one weight per row, query_weight= one per query": "sample_weight sample_weights weight weights",
    "query_weight= takes one weight per query": "group_weight query_weights",
    "docid= takes one string per row": "docids doc_id docno",
    "label=, score= and qid= name the columns of a table": "label score labels scores label_col score_col qid_col "
    "query_col",
    "by= takes the segment of each row": "segment segments groupby group_by",
    'a mapping gives names, as in {"ndcg_10": "lightgbm@10"}': "name names",
    'it returns text: pathlib.Path("page.html").write_text(text)': "out path file filename",
    "a bar shows on a terminal alone": "progress verbose",
}
ARGUMENTS = {name: way for way, names in _ARGUMENTS.items() for name in names.split()}

# What the columns of tables are often called, in lower case; our own name first.
USUAL_NAMES = {
    "label": ("label", "labels", "relevance", "rel", "grade", "y", "y_true", "target", "click", "clicks", "judgment"),
    "score": ("score", "scores", "prediction", "predictions", "pred", "preds", "y_score", "y_pred", "model"),
    "qid": ("qid", "query_id", "query", "q_id", "qids", "queries", "topic", "topic_id", "group", "group_id", "groups"),
}


class _PublicModule(ModuleType):
    """A module that says which of its functions to call if it is called itself."""

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse the call."""
        module = self.__name__.partition(".")[2]
        ways = [way for way, names in WAYS.get(module, {}).items() if module in names.split()]
        functions = [name for name in sorted(self.__all__) if name[0].islower()]
        hint = ways[0] if ways else f"ra.{module} has the functions {choices(functions)}"
        raise InputError(f"ra.{module} is a module, not a function.", hint=hint)


def list_public(package: str) -> None:
    """Let completion list only a package's public names; other names and a call of it say what to write instead."""
    sys.modules[package].__class__ = _PublicModule
    members = vars(sys.modules[package])
    public = sorted(members["__all__"])

    def refuse(name: str) -> NoReturn:
        raise AttributeError(no_attribute(package.partition(".")[2], name, public), name=name)

    members.update(__dir__=public.copy, __getattr__=refuse)


def no_attribute(module: str, name: str, public: Collection[str]) -> str:
    """Return the message for a name that a module below `rankadapters` lacks; `public` has the names it has.

    >>> print(no_attribute("lightgbm", "feval", ["eval_metric"]))
    module 'rankadapters.lightgbm' has no attribute 'feval'
    Hint: ra.lightgbm.eval_metric("lightgbm@10") is for feval= of lgb.train and eval_metric= of fit.
    """
    message = f"module {'.'.join(filter(None, ('rankadapters', module)))!r} has no attribute {name!r}"
    if name.startswith("_"):
        return message
    ways = [way for way, names in WAYS.get(module, {}).items() if name.lower() in names.split()]
    if not ways:
        by_lower = {known.lower(): known for known in public}
        near = get_close_matches(name.lower(), by_lower, 1)
        ways = [f"did you mean {'.'.join(filter(None, ('ra', module, by_lower[word])))}?" for word in near]
    end = "" if not ways or ways[0].endswith("?") else "."
    return f"{message}\nHint: {ways[0]}{end}" if ways else message


def shows_call(example: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function: a call whose arguments it does not take raises InputError with the whole right call.

    >>> print(shows_call("f(x, k=10)")(lambda x, *, k: x)(1))
    Traceback (most recent call last):
    ...
    rankadapters.core.errors.InputError: <lambda>() missing 1 required keyword-only argument: 'k'.
    Hint: f(x, k=10).
    """

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                expected = signature(function)
                try:
                    expected.bind(*args, **kwargs)
                except TypeError:
                    wrong = [name for name in kwargs if name not in expected.parameters]
                    raise wrong_call(str(error), wrong, example) from None
                raise  # of the function itself

        return call

    return decorate


def wrong_call(message: str, named: Collection[str], example: str) -> InputError:
    """Return the error for a call that Python refuses, with the hint for its first argument of a wrong name.

    >>> print(wrong_call("f() got an unexpected keyword argument 'n_jobs'", ["n_jobs"], "f(x, n_threads=2)"))
    f() got an unexpected keyword argument 'n_jobs'.
    Hint: n_threads=; f(x, n_threads=2).
    """
    ways = [ARGUMENTS[name] for name in named if name in ARGUMENTS]
    message = re.sub(r"^\w+\.", "", message)  # without the class of a method
    return InputError(f"{message}.", hint="; ".join([*ways[:1], example]))
