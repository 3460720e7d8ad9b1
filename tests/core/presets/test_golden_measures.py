"""Measures other than NDCG, as the real programs printed them, per query and in the mean, and how their names are read.

`golden/measures.json` is a selection of the records, made by `tests/select_golden.py`; a thorough run reads the
whole files too. Correlations are compared with what is installed, too.
"""

from __future__ import annotations

import json
import math
import pickle
import re
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from numbers import Real
from typing import Any

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import presets
from tests.helpers.golden_measures import (
    EARLIER,
    TOOLKITS,
    Record,
    compared,
    convention_of,
    data_of,
    has_number,
    kept_records,
    records,
    tolerance,
)
from tests.helpers.shared_data import shared_records
from tests.helpers.tables import for_each
from tests.record_correlations import CALLS, FILE, cases, computed

NEEDED = {"lightgbm": "lightgbm"}  # whose arithmetic of weights our adapter has


@pytest.mark.parametrize("toolkit", TOOLKITS)
@for_each("record", lambda toolkit: [pytest.param(record, id=name) for name, record in records(toolkit)])
def test_the_preset_gives_what_the_program_prints(toolkit, record):
    if toolkit in NEEDED:
        pytest.importorskip(NEEDED[toolkit])
    for (labels, scores, columns), asked in by_data(toolkit, record):
        found = ra.Panel(labels, list(dict.fromkeys(convention for convention, _ in asked)), **columns).measure(scores)
        for convention, metric in asked:
            close = tolerance(toolkit, convention)
            compare(close, metric, found.scores[convention].value)
            if metric.get("per_query") and convention.over != "rows" and convention.floor is None:
                compare_per_query(close, metric, found.per_query[convention])


def by_data(toolkit: str, record: Record) -> Iterable[tuple[tuple[Any, ...], list[tuple[ra.Convention, Record]]]]:
    """The metrics of a record that can be compared, those that were given the same data together."""
    found: dict[bytes, tuple[tuple[Any, ...], list[tuple[ra.Convention, Record]]]] = {}
    for metric in record["metrics"]:
        convention = convention_of(toolkit, metric, record)
        if convention is not None and has_number(metric) and not nothing_left(toolkit, metric):
            data = data_of(toolkit, convention, metric, record)
            key = pickle.dumps((data, convention.over))  # over all rows there are no values per query
            found.setdefault(key, (data, []))[1].append((convention, metric))
    return found.values()


def compare(close: float, metric: Record, value: float) -> None:
    """Compare the mean, where there is one."""
    if isinstance(metric.get("value"), Real):
        assert value == pytest.approx(metric["value"], rel=close, abs=close), metric


def compare_per_query(close: float, metric: Record, values: Iterable[float]) -> None:
    """Compare each query's value; what is not a number was not printed, or is an error."""
    for ours, theirs in zip(values, metric["per_query"], strict=True):
        if isinstance(theirs, Real):
            assert (0.0 if math.isnan(ours) else ours) == pytest.approx(theirs, rel=close, abs=close), metric


def nothing_left(toolkit: str, metric: Record) -> bool:
    """Whether torchmetrics skipped every query, which counts 0 there and is an error here."""
    return toolkit == "torchmetrics" and metric["params"]["empty_target_action"] == "skip" and metric["value"] == 0


@pytest.mark.parametrize(("toolkit", "least"), [
    ("lightgbm", 330), ("xgboost", 600), ("catboost", 2980), ("catboost_pool", 320), ("scikit_learn", 80),
    ("trec", 1970), ("trec_eval", 3430), ("ir_measures", 1170), ("ranx", 1700), ("torchmetrics", 1040),
    ("ranklib", 1000),
])  # fmt: skip
def test_no_record_is_passed_over_in_silence(toolkit, least):
    kept, whole = (
        [compared(toolkit, metric, record) for record in found for metric in record["metrics"]]
        for found in (kept_records(toolkit), shared_records(f"measures/{toolkit}_measures"))
    )
    assert all(kept)
    assert len(kept) >= least / 10
    assert not whole or sum(whole) >= least


TOOLS = {
    "lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost", "catboost_pool": "CatBoost",
    "scikit_learn": "scikit-learn", "trec": "trec_eval", "trec_eval": "trec_eval", "ir_measures": "ir_measures",
    "ranx": "ranx", "torchmetrics": "torchmetrics", "ranklib": "RankLib",
}  # fmt: skip
# Words that a golden record has beside the metric's own: what was measured, and not what it is called.
ABOUT_DATA = {"provider", "rows", "queries", "pairs", "groups", "shift", "version", "relevance_level"}
OWN = {
    "xgboost": presets.xgboost, "lightgbm": presets.lightgbm, "catboost": presets.catboost,
    "catboost_pool": presets.catboost, "scikit_learn": presets.sklearn, "ranx": presets.ranx,
    "ir_measures": presets.ir_measures, "torchmetrics": presets.torchmetrics, "ranklib": presets.ranklib,
}  # fmt: skip


def words(toolkit: str) -> Iterator[tuple[str, str]]:
    """Each metric's name with its parameters as JSON, once."""
    found = {
        (metric["metric"], json.dumps(metric.get("params") or {}, sort_keys=True))
        for _, record in records(toolkit)
        for metric in record["metrics"]
    }
    yield from sorted(found)


def read(toolkit: str, name: str, params: dict[str, Any]) -> ra.Convention:
    """Read a name as the tool's vocabulary does."""
    given = {word: value for word, value in params.items() if word not in ABOUT_DATA and value is not None}
    if toolkit in OWN:
        return OWN[toolkit].read(name, **given)
    tool = {"10.0": presets.trec_eval_10, "9.0.8": presets.trec_eval_9}.get(params.get("version"), presets.pytrec_eval)
    level = {"level": params["relevance_level"]} if "relevance_level" in params else {}
    return tool.read(name, **level, **given)


def said_inexpressible(toolkit: str, name: str) -> bool:
    """Whether a reason names the metric, without its parameters, and its tool."""
    base = re.escape(re.split(r"[@(:]|_\d|-l\d", name)[0])
    return any(
        re.search(rf"\b{base}\b", reason) and (key.startswith(toolkit.partition("_")[0]) or TOOLS[toolkit] in reason)
        for key, reason in presets.inexpressible().items()
    )


@for_each("toolkit", TOOLKITS)
def test_every_name_is_read_or_said_to_be_inexpressible(toolkit):
    read_, unread = 0, []
    for name, params in words(toolkit):
        try:
            convention = read(toolkit, name, json.loads(params))
        except ra.ConventionError as error:
            unread += [] if said_inexpressible(toolkit, name) else [f"{name} {params}: {error}"]
        else:
            read_ += 1
            assert ra.parse(str(convention)) == convention
            assert "/" in convention.name
    assert unread == []
    assert read_


def test_the_earlier_files_are_read_too():
    files = {"scikit_learn": "scikit_learn", "ir_measures": "ir_measures", "torchmetrics": "torchmetrics", **EARLIER}
    for toolkit, file in files.items():
        for record in shared_records(f"toolkits/{file}_metrics"):
            for metric in record["metrics"]:
                given = metric.get("params") or {}
                assert read(toolkit, metric["metric"], given), metric


LISTED = {
    "catboost": (
        "pfound err mrr map precision_at recall_at average_gain filtered_dcg auc query_auc pair_accuracy pair_logit "
        "query_rmse query_soft_max query_cross_entropy"
    ),
    "lightgbm": "map auc average_precision",
    "xgboost": "map pre auc",
    "sklearn": "average_precision_score label_ranking_average_precision_score coverage_error roc_auc_score",
    "letor3": "p map",
    "letor4": "p map",
    "mslr": "p map",
    "yahoo": "err",
    "ranklib": "p map err rr dcg",
    **dict.fromkeys(
        ("trec_eval_9", "trec_eval_10", "pytrec_eval"),
        "P recall success map map_cut gm_map recip_rank Rprec bpref gm_bpref set_P set_recall relative_P "
        "set_relative_P set_F",
    ),
    "ir_measures": "ap rr rr_cut p r success rprec bpref set_p set_r set_f judged err rbp",
    "ranx": "map mrr precision hits recall hit_rate f1 r_precision rbp dcg",
    "torchmetrics": "map mrr precision recall hit_rate fall_out r_precision",
    "rectools": "map mrr precision recall hit_rate f1_beta",
    "elasticsearch": "dcg err precision recall mrr",
}


@for_each("name", [f"{tool}.{each}" for tool, several in LISTED.items() for each in several.split()])
def test_every_preset_that_was_promised_is_there(name):
    convention = presets.make(name, 7)
    assert name in presets.names(None)
    assert convention.name.endswith(f"/{name}")
    assert ra.parse(convention.short_name) == convention


SINCE = {"scipy": (1, 15), "pandas": (2, 2), "polars": (1, 20)}  # which these numbers were run with too
KEPT = json.loads(FILE.read_text(encoding="utf-8"))
LIVE = [pytest.param(name, call, id=f"{name} {call.preset}") for name, calls in CALLS.items() for call in calls]


def compare_correlation(preset, columns, theirs, tolerance):
    """Compare each query, all rows, and the mean of what is not NaN, in which queries of equal scores count 0 here."""
    labels, scores, sizes = columns["labels"], columns["scores"], columns["group_sizes"]
    convention = ra.parse(preset)
    ours = ra.Evaluator(labels, convention, group_sizes=sizes).per_query(scores)
    starts = np.cumsum([0, *sizes])
    expected = []
    for start, end, value in zip(starts, starts[1:], theirs["per_query"], strict=False):
        undefined = len(set(labels[start:end])) == 1
        assert (value is None) == (undefined or len(set(scores[start:end])) == 1)
        expected.append(math.nan if undefined else 0.0 if value is None else value)
    np.testing.assert_allclose(ours, expected, rtol=0, atol=tolerance)
    value = ra.evaluate(labels, scores, convention, group_sizes=sizes).value
    assert value == pytest.approx(np.nanmean(expected), rel=0, abs=tolerance)
    rows = ra.evaluate(labels, scores, convention.replace(pool="rows"), group_sizes=sizes).value
    assert rows == pytest.approx(theirs["rows"], rel=0, abs=tolerance)


@for_each("case", KEPT["cases"])
@for_each("record", KEPT["records"], ids=lambda record: f"{record['library']} {record['preset']}")
def test_a_correlation_is_what_the_library_printed(record, case):
    compare_correlation(record["preset"], KEPT["cases"][case], record["results"][case], record["tolerance"])


@for_each("case", cases())
@for_each(("name", "call"), LIVE)
def test_a_correlation_is_what_the_installed_library_computes(name, call, case):
    module, library = pytest.importorskip(name), name.partition(".")[0]
    if tuple(map(int, version(library).split(".")[:2])) < SINCE[library]:
        pytest.skip(f"{library} {version(library)} has other numbers, as its preset says")
    columns = cases()[case]
    compare_correlation(call.preset, columns, computed(module, call, columns), call.tolerance)


def test_a_mean_without_nan_goes_over_other_queries_for_each_model():
    """The way around that `inexpressible` gives: times queries scored / queries of different scores."""
    pd = pytest.importorskip("pandas")
    columns = KEPT["cases"]["constants"]
    qid = np.repeat(range(4), columns["group_sizes"])
    frame = pd.DataFrame({"qid": qid, "label": columns["labels"], "score": columns["scores"]})
    theirs = frame.groupby("qid")[["label", "score"]].corr(method="spearman").xs("label", level=1)["score"].mean()
    score = ra.evaluate(frame["label"], frame["score"], "pandas.spearman", qid=qid)
    assert (score.value, score.n_scored) == (-0.5, 2)
    assert score.value * score.n_scored / 1 == pytest.approx(theirs, rel=1e-14)


def test_pandas_correlates_with_a_constant_that_it_rounds():
    """Seven times 0.1, whose mean it rounds: a number near 0, where scipy and this package say that there is none."""
    pd = pytest.importorskip("pandas")
    assert abs(pd.Series([0.1] * 7).corr(pd.Series(range(7)))) < 1e-15
    with pytest.raises(ra.InputError, match="nothing is left to average"):
        ra.evaluate([0.1] * 7, range(7), "pandas.pearson", group_sizes=[7])
