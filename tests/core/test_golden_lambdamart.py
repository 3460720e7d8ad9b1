"""CatBoost's LambdaMart: gradients summed over the leaves of its one-tree models, against the values of the leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.random_loss_data import unrounded
from tests.helpers.shared_data import kept, shared_losses
from tests.tables import for_each

WORDS: dict[str, Any] = {"top": int, "sigma": float, "norm": lambda text: text == "true"}


def models() -> dict[str, dict[str, Any]]:
    """CatBoost's models by name: those kept here, and all where the shared data are there."""
    records_by_name = {}
    for prefix, source, records in (("", kept("lambdamart"), "records"), ("full-", shared_losses(), "catboost")):
        for record in source.get(records, []):
            if record["loss"].startswith("LambdaMart"):
                name = f"{prefix}{record['loss']}-{record['leaf_estimation_method']}-{record['data']}"
                records_by_name[name] = {**record, **source["data"][record["data"]]}
    return records_by_name


MODELS = models()


def value_of(loss: str) -> objectives.LambdaRank:
    options = dict(pair.split("=") for pair in loss.partition(":")[2].split(";"))
    return objectives.catboost.lambdamart(**{name: WORDS.get(name, str)(text) for name, text in options.items()})


def leaf_values(record: dict[str, Any], grad: Any, hess: Any) -> Any:
    """CatBoost's, whose derivatives are ours with the wrong sign: under Newton that cancels."""
    sums, bends, rows = (np.bincount(record["leaf"], each, len(record["leaf_values"]))
                         for each in (grad, hess, np.ones(len(grad))))  # fmt: skip
    newton = record["leaf_estimation_method"] == "Newton"
    divisor = -bends if newton else rows
    return np.divide(sums, divisor, out=np.zeros_like(sums), where=divisor != 0)


@for_each("record", MODELS.values(), ids=MODELS)
def test_leaf_values_are_catboosts(record):
    """To 1e-12 before gradients are rounded to float32."""
    value, queries = value_of(record["loss"]), ra.Queries(record["labels"], qid=record["qid"])
    expected = np.array(record["leaf_values"])
    exact = leaf_values(record, *unrounded(value, queries, record["scores"]))
    np.testing.assert_allclose(exact, expected, rtol=1e-12, atol=1e-12)
    rounded = leaf_values(record, *objectives.gradients(queries, record["scores"], value))
    np.testing.assert_allclose(rounded, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
