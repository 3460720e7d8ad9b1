"""What newcomers type first: unknown names and wrong calls show what to write instead."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankadapters as ra
from rankadapters.core.declaration.guesses import ARGUMENTS, USUAL_NAMES, WAYS, no_attribute
from rankadapters.core.errors import are_installed
from tests.helpers.parameters import long_except

LABELS, SCORES, QID = [1, 0, 2, 0], [0.2, 0.9, 0.5, 0.1], ["a", "a", "b", "b"]
COLUMNS = {"label": LABELS, "score": SCORES, "qid": QID}
TABLES = {
    "pandas": pd.DataFrame(COLUMNS),
    "polars": pl.DataFrame(COLUMNS),
    "pyarrow": pa.table(COLUMNS),
    "mapping": COLUMNS,
}
EXPECTED = ra.evaluate(LABELS, SCORES, "lightgbm@10", qid=QID)


def value_of(name):
    """Return the value of a dotted name that begins with `ra`; skip if its toolkit is missing."""
    value = SimpleNamespace(ra=ra)
    for part in name.split("."):
        if part in {"lightgbm", "xgboost", "catboost", "sklearn"} and value is ra:
            pytest.importorskip(part)
        value = getattr(value, part)
    return value


@pytest.mark.parametrize("module", WAYS)
def test_every_hint_for_a_name_is_of_names_that_exist(module):
    lacking = value_of(".".join(filter(None, ("ra", module))))
    public = set(dir(lacking))
    for way, names in WAYS[module].items():
        for name in re.findall(r"\bra(?:\.\w+)+", way):
            value_of(name)
        for text in re.findall(r'"([a-z_0-9]+(?:\.\w+)?@10)"', way):
            assert ra.parse(text).short_name == text
        assert not public & set(names.split()), way
        assert names == names.lower()
    all_names = " ".join(WAYS[module].values()).split()
    assert len(set(all_names)) == len(all_names)


def test_private_and_distant_names_have_no_hint():
    assert no_attribute("lightgbm", "__wrapped__", ["eval_metric"]).count("\n") == 0
    assert no_attribute("", "zzzz", ["evaluate"]) == "module 'rankadapters' has no attribute 'zzzz'"
    assert not hasattr(ra, "__wrapped__")
    with pytest.raises(AttributeError, match=r"Hint: ra\.evaluate") as caught:
        ra.ndcg  # noqa: B018 - it raises
    assert caught.value.name == "ndcg"


def call_in(message):
    return str(message).partition("\nHint: ")[2].removesuffix(".")


WRONG = {
    "the convention second": lambda df, **names: ra.evaluate(df, "lightgbm@10", **names),
    "the convention by name": lambda df, **names: ra.evaluate(df, convention="lightgbm@10", **names),
    "a convention as a value": lambda df, **names: ra.evaluate(df, ra.presets.lightgbm(10), **names),
    "a column by its name": lambda df, **names: ra.evaluate(df, "score", "lightgbm@10", **names),
    "no convention": ra.evaluate,
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize(("name", "evaluate"), WRONG.items())
def test_a_table_as_labels_is_refused_with_the_whole_call(kind, name, evaluate):
    df = TABLES[kind]
    message = r"^labels is a \w+ with the columns 'label', 'score', 'qid'\.\nHint: ra\.evaluate_table\(df, "
    with pytest.raises(ra.InputError, match=message) as caught:
        evaluate(df)
    assert eval(call_in(caught.value), {"ra": ra, "df": df}) == EXPECTED  # noqa: S307 - our own text


@pytest.mark.parametrize(
    ("names", "named"),
    [
        (("relevance", "Prediction", "query_id"), {}),
        (("y", "pred", "query"), {}),
        (("grade", "my_model", "session"), {"score": "my_model", "qid": "session"}),
    ],
)
def test_the_whole_call_has_the_tables_own_column_names(names, named):
    df = pd.DataFrame(dict(zip(names, COLUMNS.values(), strict=True)) | {"f1": SCORES})
    with pytest.raises(ra.InputError) as caught:
        ra.evaluate(df, "lightgbm@10", **named)
    assert eval(call_in(caught.value), {"ra": ra, "df": df}) == EXPECTED  # noqa: S307 - our own text


def test_columns_that_cannot_be_guessed_have_our_names():
    df = pd.DataFrame({f"f{number}": SCORES for number in range(9)})
    with pytest.raises(ra.InputError, match=r"the columns 'f0', 'f1', 'f2', 'f3', 'f4', 'f5', \.\.\.") as caught:
        ra.evaluate(df, "trec_eval_9.map")
    assert call_in(caught.value) == 'ra.evaluate_table(df, "lightgbm@10", label="label", score="score", qid="qid")'
    assert [names[0] for names in USUAL_NAMES.values()] == list(USUAL_NAMES)


def test_the_values_of_queries_of_a_table_are_asked_for_by_column():
    df = TABLES["pandas"]
    with pytest.raises(ra.InputError) as caught:
        ra.per_query(df, "lightgbm@10")
    values = eval(call_in(caught.value), {"ra": ra, "df": df})  # noqa: S307 - our own text
    assert values.tolist() == ra.per_query(LABELS, SCORES, "lightgbm@10", qid=QID).tolist()


def test_nested_dicts_are_refused_with_the_way_to_columns():
    with pytest.raises(ra.InputError, match=r"^labels is a dict of dicts, .*\nHint: .*ra\.io\.read_trec"):
        ra.evaluate({"q1": {"d1": 1}}, {"q1": {"d1": 0.5}}, "pytrec_eval.map")


@pytest.mark.parametrize("columns", [{"qid": np.array(QID)}, {"group_sizes": np.array([3, 1])}, {}])
def test_a_dict_of_numbers_is_no_table(columns):
    with pytest.raises(ra.InputError, match=r"^labels is {0: 1, 1: 0}, but one entry per row is needed"):
        ra.evaluate({0: 1, 1: 0}, np.array(SCORES), "textbook@10", **columns)


def test_arrays_beside_a_table_are_no_names_of_its_columns():
    with pytest.raises(ra.InputError, match=r"^labels is a DataFrame with the columns") as caught:
        ra.evaluate(TABLES["pandas"], "lightgbm@10", qid=np.array(QID), docid=np.array(QID))
    assert call_in(caught.value).startswith("ra.evaluate_table(df, ")


def test_a_model_in_place_of_a_convention_is_refused_with_both():
    scores = ra.evaluate(LABELS, {"A": SCORES, "B": SCORES}, ["lightgbm@1", "lightgbm@2"], qid=QID)
    with pytest.raises(KeyError, match=r"'A' is a model, not a convention(.|\n)*scores\['lightgbm@1'\]\['A'\]"):
        scores["A"]


def test_queries_and_single_columns_are_no_tables():
    queries = ra.Queries(LABELS, qid=QID, docid=["1", "2", "3", "4"], retrieved=[True, True, True, False])
    assert ra.evaluate(queries, SCORES, "trec_eval@10").n_queries == 2
    columns = [TABLES[kind]["label"] for kind in TABLES]
    assert [ra.evaluate(column, SCORES, "lightgbm@10", qid=QID) for column in columns] == [EXPECTED] * len(columns)


def test_a_lazy_frame_is_collected_first():
    df = pl.LazyFrame(COLUMNS)
    with pytest.raises(ra.InputError, match=r"^labels is a LazyFrame with the columns 'label'") as caught:
        ra.evaluate(df, "lightgbm@10")
    assert eval(call_in(caught.value), {"ra": ra, "df": df}) == EXPECTED  # noqa: S307 - our own text
    with pytest.raises(ra.InputError, match=r"table is of type LazyFrame(.|\n)*Hint: collect\(\) or collect_batches"):
        ra.evaluate_table(df, "lightgbm@10")


def test_a_frame_of_dask_is_shown_the_call_for_dask():
    dask = pytest.importorskip("dask.dataframe")
    df = dask.from_pandas(TABLES["pandas"], npartitions=2)
    with pytest.raises(ra.InputError) as caught:
        ra.evaluate(df, "lightgbm@10")
    assert call_in(caught.value) == (
        'ra.dask.evaluate(df, "lightgbm@10", partitions="shuffle", label="label", score="score", qid="qid")'
    )


def test_an_error_within_a_call_is_not_taken_for_a_wrong_call():
    class Labels(list):
        def __len__(self):
            msg = "evaluate() missing 1 required positional argument"
            raise TypeError(msg)

        __iter__ = None

    with pytest.raises(TypeError):  # an InputError is none
        ra.evaluate(Labels(), SCORES, "lightgbm@10", qid=QID)


MARKETS = TABLES["pandas"].assign(a=SCORES, b=SCORES, market="se")
FIRST_CALLS = {  # a call, and the names that the call in its hint needs
    "ra.audit.probe(f)": {},
    "ra.audit.order(LABELS, SCORES, SCORES)": {"a": SCORES, "b": SCORES},
    'ra.audit.order(LABELS, SCORES, SCORES, "lightgbm@10", qid=QID)': {"a": SCORES, "b": SCORES},
    'ra.audit.order(TABLE, "lightgbm@10", score=["a", "b"], qid="qid")': {"df": MARKETS},
    "ra.audit.page(LABELS, SCORES, qid=QID)": {},
    'ra.audit.explain(LABELS, SCORES, "lightgbm@10", qid=QID)': {},
    "ra.audit.identify(LABELS, SCORES, 0.5, qid=QID)": {},
    "ra.audit.profile(LABELS, qid=QID)": {},
    'ra.objectives.lambdarank("lightgbm@10")': {},
    'ra.lightgbm.lambdarank("lightgbm@10")': {},
    'ra.xgboost.lambdarank("xgboost@10", 30)': {},
    "ra.lightgbm.eval_metric()": {},
    "ra.xgboost.eval_metric()": {},
    'ra.compare(LABELS, {"A": SCORES, "B": SCORES}, "lightgbm@10", qid=QID)': {"a": SCORES, "b": SCORES},
    'ra.parity(LABELS, SCORES, "lightgbm@10", qid=QID)': {},
}


SLOW = {"ra.audit.probe(f)", "ra.audit.identify(LABELS, SCORES, 0.5, qid=QID)"}  # the right calls take seconds


@pytest.mark.parametrize("call", long_except(FIRST_CALLS, *FIRST_CALLS.keys() - SLOW))
def test_a_wrong_first_call_is_answered_with_the_whole_right_call(call):
    for toolkit in ("lightgbm", "xgboost"):
        if f"ra.{toolkit}." in call:
            pytest.importorskip(toolkit)
    data = {"ra": ra, "LABELS": LABELS, "SCORES": SCORES, "QID": QID, "TABLE": MARKETS, "f": mean_label}
    with pytest.raises(ra.InputError) as caught:
        eval(call, data)  # noqa: S307 - our own text
    right = call_in(caught.value).split(", where")[0].partition("; ")[0]
    arguments = {"labels": LABELS, "scores": SCORES, "qid": QID, "function": mean_label}
    if "page" not in right:  # needs matplotlib
        assert eval(right, {"ra": ra} | arguments | FIRST_CALLS[call]) is not None  # noqa: S307 - our own text


def mean_label(labels, scores):
    return sum(labels) / len(scores)


def test_first_calls_that_need_objects_of_a_toolkit_are_answered_too():
    with pytest.raises(ra.InputError, match=r"Hint: ra\.History\.of\(log\) reads a toolkit's log"):
        ra.History({"valid": {"ndcg@5/letor4": [0.0, 0.25]}}).plot()
    if are_installed("catboost"):
        with pytest.raises(ra.InputError, match=r'Hint: ra\.catboost\.eval_metric\("catboost@10", \[valid_pool\]\)'):
            ra.catboost.eval_metric("catboost@10")
    if are_installed("dask", "distributed"):
        message = r'^evaluate\(\) missing .*\nHint: evaluate\(df, "lightgbm@10", partitions="shuffle", label="label"'
        with pytest.raises(ra.InputError, match=message):
            ra.dask.evaluate(TABLES["pandas"], "lightgbm@10")


def test_a_module_that_is_called_lists_its_functions():
    with pytest.raises(ra.InputError, match=r"ra\.audit is a module, not a function\.\nHint: .*'explain', 'identify'"):
        ra.audit(LABELS, SCORES)


def test_only_the_argument_of_a_wrong_name_is_explained():
    with pytest.raises(ra.InputError, match=r"argument 'n_jobs'\.\nHint: n_threads=; ra\.evaluate_table\("):
        ra.evaluate_table(COLUMNS, "lightgbm@10", label="label", n_jobs=2)


def test_a_column_of_a_usual_name_is_suggested_with_its_argument():
    df = TABLES["pandas"].rename(columns={"qid": "query"})
    with pytest.raises(
        ra.InputError, match=r"has no column 'qid'\.\nHint: did you mean 'query'\? qid= \(--qid\) names"
    ):
        ra.evaluate_table(df, "lightgbm@10")
    with pytest.raises(
        ra.InputError, match=r"has no column 'x'\.\nHint: score= \(--score\) names another; its columns"
    ):
        ra.evaluate_table(df, "lightgbm@10", score="x", qid="query")


def test_a_name_in_place_of_a_convention_is_answered_with_a_mapping():
    with pytest.raises(ra.ConventionError, match=r"or {'ndcg_10': 'textbook@10'}, if it is a name of yours\.$"):
        ra.parse("ndcg_10")
    with pytest.raises(
        ra.ConventionError, match=r"^{'a': .*} has several conventions\.\nHint: one of them, such as {'a': "
    ):
        ra.audit.explain(LABELS, SCORES, {"a": "textbook@1", "b": "textbook@2"}, "textbook@3", qid=QID)


def test_every_argument_of_another_name_has_one_hint():
    assert {name.lower() for name in ARGUMENTS} == set(ARGUMENTS)
    assert ARGUMENTS["sample_weight"] == "row_weight= takes one weight per row, query_weight= one per query"
