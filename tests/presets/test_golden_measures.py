"""Compare measures other than NDCG with what the real programs printed, and read the programs' metric names.

`golden/measures.json` is a selection of the records; a thorough run reads the
whole files too. Correlations are also compared with the installed libraries.
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
    NDCG_FILES,
    TOOLKITS,
    Record,
    convention_of,
    golden_records,
    has_number,
    inputs_of,
    is_compared,
    named_records,
    tolerance_of,
)
from tests.helpers.shared_data import shared_records
from tests.helpers.tables import for_each
from tests.record_correlations import CALLS, FILE, cases, computed

NEEDED = {"lightgbm": "lightgbm"}  # our adapter computes its weights


@pytest.mark.parametrize("toolkit", TOOLKITS)
@for_each("record", lambda toolkit: [pytest.param(record, id=name) for name, record in named_records(toolkit)])
def test_the_preset_gives_what_the_program_prints(toolkit, record):
    if toolkit in NEEDED:
        pytest.importorskip(NEEDED[toolkit])
    for (labels, scores, columns), metrics in by_data(toolkit, record):
        conventions = list(dict.fromkeys(convention for convention, _ in metrics))
        report = ra.Evaluator.of(ra.Queries(labels, **columns), conventions).measure(scores)  # without label warnings
        for convention, metric in metrics:
            max_error = tolerance_of(toolkit, convention)
            compare(max_error, metric, report.scores[convention].value)
            if metric.get("per_query") and convention.over != "rows" and convention.floor is None:
                compare_per_query(max_error, metric, report.per_query[convention])


def by_data(toolkit: str, record: Record) -> Iterable[tuple[tuple[Any, ...], list[tuple[ra.Convention, Record]]]]:
    """Return the metrics of a record that can be compared, grouped by the data that the program was given."""
    groups: dict[bytes, tuple[tuple[Any, ...], list[tuple[ra.Convention, Record]]]] = {}
    for metric in record["metrics"]:
        convention = convention_of(toolkit, metric, record)
        if convention is not None and has_number(metric) and not skipped_all_queries(toolkit, metric):
            data = inputs_of(toolkit, convention, metric, record)
            key = pickle.dumps((data, convention.over))  # a measure over all rows has no values per query
            groups.setdefault(key, (data, []))[1].append((convention, metric))
    return groups.values()


def compare(max_error: float, metric: Record, value: float) -> None:
    """Compare the mean if the program printed one."""
    if isinstance(metric.get("value"), Real):
        assert value == pytest.approx(metric["value"], rel=max_error, abs=max_error), metric


def compare_per_query(max_error: float, metric: Record, values: Iterable[float]) -> None:
    """Compare each query's value, except where the program printed no number."""
    for value, printed in zip(values, metric["per_query"], strict=True):
        if isinstance(printed, Real):
            assert (0.0 if math.isnan(value) else value) == pytest.approx(printed, rel=max_error, abs=max_error), metric


def skipped_all_queries(toolkit: str, metric: Record) -> bool:
    """Return whether torchmetrics skipped every query: it returns 0 then, while we raise an error."""
    return toolkit == "torchmetrics" and metric["params"]["empty_target_action"] == "skip" and metric["value"] == 0


@pytest.mark.parametrize(("toolkit", "least"), [
    ("lightgbm", 330), ("xgboost", 600), ("catboost", 2980), ("catboost_pool", 320), ("scikit_learn", 80),
    ("trec", 1970), ("trec_eval", 3430), ("ir_measures", 1170), ("ranx", 1700), ("torchmetrics", 1040),
    ("ranklib", 1000),
])  # fmt: skip
def test_at_least_this_many_metrics_are_compared(toolkit, least):
    selected, whole = (
        [is_compared(toolkit, metric, record) for record in records_of_file for metric in record["metrics"]]
        for records_of_file in (golden_records(toolkit), shared_records(f"measures/{toolkit}_measures"))
    )
    assert all(selected)
    assert len(selected) >= least / 10
    assert not whole or sum(whole) >= least


TOOLS = {  # as `inexpressible` spells them
    "lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost", "catboost_pool": "CatBoost",
    "scikit_learn": "scikit-learn", "trec": "trec_eval", "trec_eval": "trec_eval", "ir_measures": "ir_measures",
    "ranx": "ranx", "torchmetrics": "torchmetrics", "ranklib": "RankLib",
}  # fmt: skip
# Parameters in golden records that describe the data or the program, and are not options of the metric.
ABOUT_DATA = {"provider", "rows", "queries", "pairs", "groups", "shift", "version", "relevance_level"}
VOCABULARIES = {
    "xgboost": presets.xgboost, "lightgbm": presets.lightgbm, "catboost": presets.catboost,
    "catboost_pool": presets.catboost, "scikit_learn": presets.sklearn, "ranx": presets.ranx,
    "ir_measures": presets.ir_measures, "torchmetrics": presets.torchmetrics, "ranklib": presets.ranklib,
}  # fmt: skip


def metric_names(toolkit: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each metric and its parameters as JSON, without duplicates."""
    names = {
        (metric["metric"], json.dumps(metric.get("params") or {}, sort_keys=True))
        for _, record in named_records(toolkit)
        for metric in record["metrics"]
    }
    yield from sorted(names)


def read_name(toolkit: str, name: str, params: dict[str, Any]) -> ra.Convention:
    """Read a name as the tool's vocabulary does."""
    options = {option: value for option, value in params.items() if option not in ABOUT_DATA and value is not None}
    if toolkit in VOCABULARIES:
        return VOCABULARIES[toolkit].read(name, **options)
    tool = {"10.0": presets.trec_eval_10, "9.0.8": presets.trec_eval_9}.get(params.get("version"), presets.pytrec_eval)
    level = {"level": params["relevance_level"]} if "relevance_level" in params else {}
    return tool.read(name, **level, **options)


def is_listed_as_inexpressible(toolkit: str, name: str) -> bool:
    """Return whether a reason in `inexpressible` names the tool and the metric, without its parameters."""
    base = re.escape(re.split(r"[@(:]|_\d|-l\d", name)[0])
    return any(
        re.search(rf"\b{base}\b", reason) and (key.startswith(toolkit.partition("_")[0]) or TOOLS[toolkit] in reason)
        for key, reason in presets.inexpressible().items()
    )


@for_each("toolkit", TOOLKITS)
def test_every_name_is_read_or_listed_as_inexpressible(toolkit):
    n_read, unexplained = 0, []
    for name, params in metric_names(toolkit):
        try:
            convention = read_name(toolkit, name, json.loads(params))
        except ra.ConventionError as error:
            unexplained += [] if is_listed_as_inexpressible(toolkit, name) else [f"{name} {params}: {error}"]
        else:
            n_read += 1
            assert ra.parse(str(convention)) == convention
            assert "/" in convention.name
    assert unexplained == []
    assert n_read


def test_names_in_the_earlier_files_are_read():
    files = {"scikit_learn": "scikit_learn", "ir_measures": "ir_measures", "torchmetrics": "torchmetrics", **NDCG_FILES}
    for toolkit, file in files.items():
        for record in shared_records(f"toolkits/{file}_metrics"):
            for metric in record["metrics"]:
                params = metric.get("params") or {}
                assert read_name(toolkit, metric["metric"], params), metric


PROMISED = {
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


@for_each("name", [f"{tool}.{name}" for tool, names in PROMISED.items() for name in names.split()])
def test_every_promised_preset_exists(name):
    convention = presets.make(name, 7)
    assert name in presets.names(None)
    assert convention.name.endswith(f"/{name}")
    assert ra.parse(convention.short_name) == convention


OLDEST = {"scipy": (1, 15), "pandas": (2, 2), "polars": (1, 20)}  # versions that give these numbers too
RECORDED = json.loads(FILE.read_text(encoding="utf-8"))
INSTALLED = [pytest.param(name, call, id=f"{name} {call.preset}") for name, calls in CALLS.items() for call in calls]


def compare_correlation(preset, columns, library_values, tolerance):
    """Compare each query, all rows, and the mean without NaN, in which a query with equal scores counts 0."""
    labels, scores, sizes = columns["labels"], columns["scores"], columns["group_sizes"]
    convention = ra.parse(preset)
    our_values = ra.Evaluator(labels, convention, group_sizes=sizes).per_query(scores)
    starts = np.cumsum([0, *sizes])
    expected = []
    for start, end, value in zip(starts, starts[1:], library_values["per_query"], strict=False):
        undefined = len(set(labels[start:end])) == 1
        assert (value is None) == (undefined or len(set(scores[start:end])) == 1)
        expected.append(math.nan if undefined else 0.0 if value is None else value)
    np.testing.assert_allclose(our_values, expected, rtol=0, atol=tolerance)
    value = ra.evaluate(labels, scores, convention, group_sizes=sizes).value
    assert value == pytest.approx(np.nanmean(expected), rel=0, abs=tolerance)
    value_of_rows = ra.evaluate(labels, scores, convention.replace(pool="rows"), group_sizes=sizes).value
    assert value_of_rows == pytest.approx(library_values["rows"], rel=0, abs=tolerance)


@for_each("case", RECORDED["cases"])
@for_each("record", RECORDED["records"], ids=lambda record: f"{record['library']} {record['preset']}")
def test_a_correlation_equals_what_the_library_printed(record, case):
    compare_correlation(record["preset"], RECORDED["cases"][case], record["results"][case], record["tolerance"])


@for_each("case", cases())
@for_each(("name", "call"), INSTALLED)
def test_a_correlation_equals_what_the_installed_library_computes(name, call, case):
    module, library = pytest.importorskip(name), name.partition(".")[0]
    if tuple(map(int, version(library).split(".")[:2])) < OLDEST[library]:
        pytest.skip(f"{library} {version(library)} gives different numbers, as its preset says")
    columns = cases()[case]
    compare_correlation(call.preset, columns, computed(module, call, columns), call.tolerance)


def test_a_mean_that_skips_nan_can_be_computed_as_inexpressible_says():
    """Multiply our value by the queries scored and divide it by the queries with different scores."""
    pd = pytest.importorskip("pandas")
    columns = RECORDED["cases"]["constants"]
    qid = np.repeat(range(4), columns["group_sizes"])
    frame = pd.DataFrame({"qid": qid, "label": columns["labels"], "score": columns["scores"]})
    pandas_mean = frame.groupby("qid")[["label", "score"]].corr(method="spearman").xs("label", level=1)["score"].mean()
    score = ra.evaluate(frame["label"], frame["score"], "pandas.spearman", qid=qid)
    assert (score.value, score.n_scored) == (-0.5, 2)
    assert score.value * score.n_scored / 1 == pytest.approx(pandas_mean, rel=1e-14)


def test_pandas_gives_a_number_for_constant_scores_whose_mean_it_rounds():
    """For seven scores of 0.1, pandas gives a number near 0, while scipy and this package find no correlation."""
    pd = pytest.importorskip("pandas")
    assert abs(pd.Series([0.1] * 7).corr(pd.Series(range(7)))) < 1e-15
    with pytest.raises(ra.InputError, match="nothing is left to average"):
        ra.evaluate([0.1] * 7, range(7), "pandas.pearson", group_sizes=[7])
