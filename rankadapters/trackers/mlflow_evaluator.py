"""The evaluator that MLflow loads for `mlflow.models.evaluate`, by the entry point `mlflow.model_evaluator`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankadapters.core.data.columns import as_numbers
from rankadapters.core.data.queries import Queries
from rankadapters.core.errors import InputError, choices
from rankadapters.evaluation.evaluator import Evaluator
from rankadapters.io.rows import locating
from rankadapters.trackers.runs import log_mlflow, mlflow_name

COLUMNS = ("qid", "query_weight", "row_weight", "docid")
OPTIONS = ("convention", *COLUMNS)
SHOWN = 20  # number of columns that an error message lists


class MlflowEvaluator:
    """Score a model, a function or stored predictions under one or more conventions, and log the result to the run.

    The configuration has `convention` (one, or a sequence), `qid` (by default the column `"qid"`) and optionally
    `query_weight`, `row_weight` and `docid`. They are names of columns of the data, or arrays as in `ra.evaluate`.
    """

    # MLflow needs only these two methods; deriving from its base class would require importing MLflow here.
    def can_evaluate(self, *, evaluator_config: Mapping[str, Any], **_: object) -> bool:
        """Return whether the configuration has one of our options; MLflow asks this if a call names no evaluator."""
        return any(name in evaluator_config for name in OPTIONS)

    def evaluate(
        self,
        *,
        dataset: Any,
        run_id: str,
        evaluator_config: Mapping[str, Any],
        model: Any = None,
        predictions: str | None = None,
        **_: object,
    ) -> Any:
        """Return MLflow's EvaluationResult with a metric for each convention.

        Raises
        ------
        InputError
            An option is unknown or missing, a column is not in the data, or there are no labels or no scores.
        ConventionError
            `convention` is neither a convention, nor a text of one, nor a sequence of these.
        """
        from mlflow.models.evaluation import EvaluationResult

        config = _checked(evaluator_config)
        evaluator = Evaluator(_queries(dataset, config), config["convention"])
        measured = evaluator.measure(_scores(dataset, config, model, predictions))
        log_mlflow(measured.scores, run_id=run_id)
        metrics = {mlflow_name(convention): score.value for convention, score in measured.scores.items()}
        return EvaluationResult(metrics=metrics, artifacts={}, run_id=run_id)


def _checked(config: Mapping[str, Any]) -> dict[str, Any]:
    unknown = [name for name in config if name not in OPTIONS]
    if unknown:
        msg = f"{unknown[0]!r} is not an option of the evaluator; allowed are {choices(OPTIONS)}."
        raise InputError(msg, hint="evaluator_config={'convention': 'letor4@10', 'qid': 'qid'}")
    if "convention" not in config:
        hint = "evaluator_config={'convention': 'letor4@10'}, or another convention"
        raise InputError("the evaluator needs convention, which was left out.", hint=hint)
    return {"qid": "qid", **config}


def _queries(dataset: Any, config: Mapping[str, Any]) -> Queries:
    """Return Queries made of the labels and the columns that the configuration names."""
    if dataset.labels_data is None:
        raise InputError("the data have no labels.", hint="targets='label' names the column of the labels")
    columns = {name: _column(dataset.features_data, name, config.get(name)) for name in COLUMNS}
    by_row = isinstance(config.get("query_weight"), str)  # a column has one weight per row, an array has one per query
    weights = columns.pop("query_weight") if by_row else None
    queries = Queries(dataset.labels_data, **columns)
    if weights is None:
        return queries
    with locating(np.arange(queries.n_docs), "row {}".format):
        query_weight = queries.weights_per_query(config["query_weight"], as_numbers("query_weight", weights))
    return queries.with_weights(query_weight, row_weight=queries.row_weight)


def _column(data: Any, name: str, value: object) -> Any:
    if not isinstance(value, str):
        return value
    columns = list(getattr(data, "columns", ()))
    if value in columns:
        return data[value]
    hint = f"the columns are {choices(columns[:SHOWN])}" if columns else "numpy arrays have no named columns"
    msg = f"{name}={value!r} is not a column of the features."
    raise InputError(msg, hint=f"{hint}; or pass the array itself, {name}=array, in evaluator_config")


def _scores(dataset: Any, config: Mapping[str, Any], model: Any, predictions: str | None) -> object:
    if model is None:
        if dataset.predictions_data is None:
            hint = "predictions='score' names the column of the scores, or model= makes them"
            raise InputError("there are neither predictions nor a model.", hint=hint)
        return dataset.predictions_data
    output = model.predict(_features(dataset.features_data, config, model))
    if not (isinstance(output, Mapping) or hasattr(output, "columns")):
        return output
    names = list(output)
    name = names[0] if predictions is None and len(names) == 1 else predictions
    if name in names:
        return output[name]
    msg = f"predictions={name!r}, but the model returns the columns {choices(names)}."
    raise InputError(msg, hint="predictions= names the column of the scores")


def _features(data: Any, config: Mapping[str, Any], model: Any) -> Any:
    """Drop the columns that the configuration names from the data, but keep those in the model's signature."""
    if not hasattr(data, "columns"):
        return data
    metadata = getattr(model, "metadata", None)  # functions have no metadata
    schema = None if metadata is None else metadata.get_input_schema()
    inputs = schema.input_names() if schema is not None and schema.has_input_names() else ()
    named = [config[name] for name in COLUMNS if isinstance(config.get(name), str)]
    return data.drop(columns=[name for name in named if name not in inputs])
