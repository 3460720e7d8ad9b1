"""Our evaluator in `mlflow.models.evaluate`, run by MLflow itself with a tracking store in files."""

from __future__ import annotations

import os
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.rankings import ranking
from tests.trackers.mlflow_registry import EVALUATOR, import_mlflow

os.environ["MLFLOW_DISABLE_TELEMETRY"] = "true"  # MLflow reads it when it is imported
pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore:::mlflow"),  # about MLflow's calls of pandas and models without types
]

LETOR4, EMPTY_IS_1, ROC_AUC = ra.parse("letor4@5"), ra.parse("letor4@5+empty=1"), ra.parse("sklearn.roc_auc_score")
DATA = ranking(1)


def test_the_entry_point_names_the_evaluator():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["entry-points"]["mlflow.model_evaluator"] == {"rankadapters": EVALUATOR}


@pytest.fixture
def mlflow(tmp_path, monkeypatch):
    mlflow = import_mlflow()
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield mlflow
    while mlflow.active_run():
        mlflow.end_run()
    mlflow.set_tracking_uri(before)


def frame(**columns):
    import pandas as pd

    features = {f"f{i}": DATA.X[:, i] for i in range(3)}
    return pd.DataFrame({**features, "label": DATA.y, "qid": DATA.qid} | columns)


def mlflow_evaluate(mlflow, *, data=None, convention=LETOR4, options=None, **arguments):
    """Evaluate stored predictions, the feature f0, unless other arguments are passed."""
    config = {"convention": convention, **(options or {})}
    return mlflow.models.evaluate(
        data=frame(score=DATA.X[:, 0]) if data is None else data,
        model_type="ranker",
        evaluators="rankadapters",
        **({"targets": "label", "predictions": "score", "evaluator_config": config} | arguments),
    )


def our_measurement(conventions, scores=DATA.X[:, 0], **columns):
    return ra.Evaluator(DATA.y, conventions, qid=DATA.qid, **columns).measure(scores)


def our_value(convention, scores=DATA.X[:, 0], **columns):
    return our_measurement([convention], scores, **columns).scores[convention].value


def test_stored_predictions_log_metrics_and_signatures(mlflow):
    with mlflow.start_run() as run:
        result = mlflow_evaluate(mlflow, convention=[LETOR4, EMPTY_IS_1, ROC_AUC])
    data, measured = mlflow.get_run(run.info.run_id).data, our_measurement([LETOR4, EMPTY_IS_1, ROC_AUC])
    for convention, score in measured.scores.items():
        name = ra.trackers.mlflow_name(convention)
        assert data.metrics[name] == result.metrics[name] == score.value
        assert ra.parse(data.tags[f"convention.{name}"]) == convention
    assert len(result.metrics) == 3


def test_evaluation_starts_a_run_if_none_is_active_and_its_result_can_be_saved(mlflow, tmp_path):
    result = mlflow_evaluate(mlflow, convention="letor4@5")
    [run] = mlflow.search_runs(output_format="list")
    assert run.data.metrics == result.metrics == {"ndcg_at_5/letor4": our_value(LETOR4)}
    assert not result.artifacts
    result.save(str(tmp_path / "saved"))
    assert type(result).load(str(tmp_path / "saved")).metrics == result.metrics


def test_weights_and_docids_are_names_of_columns_or_arrays(mlflow):
    weights, docid = np.arange(1.0, 1 + DATA.sizes.size), [f"d{row:04}" for row in range(DATA.y.size)]
    convention = ra.parse("trec_eval_9@5").replace(average="query")
    data = frame(score=DATA.X[:, 0], weight=np.repeat(weights, DATA.sizes), name=docid)
    names = {"query_weight": "weight", "docid": "name"}
    result = mlflow_evaluate(mlflow, data=data, convention=convention, options=names)
    assert list(result.metrics.values()) == [our_value(convention, query_weight=weights, docid=docid)]
    arrays = {"query_weight": weights, "docid": docid, "qid": DATA.qid}
    assert mlflow_evaluate(mlflow, data=data, convention=convention, options=arrays).metrics == result.metrics


def test_an_mlflow_dataset_names_its_own_columns(mlflow):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about integer columns, which cannot have missing values
        data = mlflow.data.from_pandas(frame(score=DATA.X[:, 0]), targets="label", predictions="score")
    result = mlflow_evaluate(mlflow, data=data, targets=None, predictions=None)
    assert result.metrics == {"ndcg_at_5/letor4": our_value(LETOR4)}


def test_numpy_data_need_the_queries_as_an_array(mlflow):
    seen = []

    def model(X):
        seen.append(np.asarray(X).shape)
        return np.asarray(X)[:, 1]

    arguments = {"data": DATA.X, "model": model, "targets": DATA.y, "predictions": None}
    result = mlflow_evaluate(mlflow, options={"qid": DATA.qid}, **arguments)
    assert result.metrics["ndcg_at_5/letor4"] == our_value(LETOR4, DATA.X[:, 1])
    assert seen == [DATA.X.shape]
    with pytest.raises(ra.InputError, match=r"qid='qid' is not.*\nHint: numpy arrays have no named columns; or pass"):
        mlflow_evaluate(mlflow, **arguments)


# Models


@pytest.mark.parametrize(
    ("output", "predictions"),
    [
        (lambda X: X["f1"].to_numpy(), None),
        (lambda X: X["f1"], None),
        (lambda X: X[["f1"]], None),
        (lambda X: X[["f0", "f1"]], "f1"),
        (lambda X: {"a": X["f0"].to_numpy(), "b": X["f1"].to_numpy()}, "b"),
    ],
)
def test_a_model_function_gets_the_feature_columns_only(mlflow, output, predictions):
    seen = []

    def model(X):
        seen.append(list(X))
        return output(X)

    result = mlflow_evaluate(mlflow, data=frame(), model=model, predictions=predictions)
    assert result.metrics["ndcg_at_5/letor4"] == our_value(LETOR4, DATA.X[:, 1])
    assert seen == [["f0", "f1", "f2"]]


@pytest.mark.parametrize("signature", ["features", "with qid", None])
def test_a_pyfunc_model_gets_the_columns_of_its_signature(mlflow, tmp_path, signature):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about type hints and integer columns
        from mlflow.models import infer_signature

        class Model(mlflow.pyfunc.PythonModel):
            def predict(self, context, model_input, params=None):
                assert list(model_input) == ["f0", "f1", "f2"] + ["qid"] * (signature == "with qid")
                return model_input["f2"].to_numpy()

        names = ["f0", "f1", "f2"] + ["qid"] * (signature == "with qid")
        inferred = None if signature is None else infer_signature(frame()[names])
        path = str(tmp_path / f"model of {signature}")
        mlflow.pyfunc.save_model(path, python_model=Model(), signature=inferred, pip_requirements=[])
        model = mlflow.pyfunc.load_model(path)
        result = mlflow_evaluate(mlflow, data=frame(), model=model, predictions=None)
    assert result.metrics["ndcg_at_5/letor4"] == our_value(LETOR4, DATA.X[:, 2])


# Errors


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"convention": "letor5@5"}, ra.ConventionError, "letor5"),
        ({"convention": 5}, ra.ConventionError, "5"),
        ({"options": {"group": "qid"}}, ra.InputError, r"'group' is not an option of the evaluator; allowed are 'con"),
        ({"options": {"qid": "query"}}, ra.InputError, r"qid='query' is not a column.*\nHint: the columns are 'f0', "),
        ({"options": {"row_weight": [1.0]}}, ra.InputError, "row_weight has 1 entries, but"),
        (
            {"options": {"query_weight": "f0"}},
            ra.InputError,
            "row 1: f0 varies within query 0: one row has 0, another 2",
        ),
        ({"predictions": None}, ra.InputError, r"neither predictions nor a model\.\nHint: predictions='score'"),
        ({"targets": None}, ra.InputError, r"the data have no labels\.\nHint: targets='label'"),
        ({"feature_names": ["f0"]}, ra.InputError, r"qid='qid' is not a column.*\nHint: the columns are 'f0'; or pass"),
    ],
)
def test_wrong_arguments_raise_our_errors_and_log_nothing(mlflow, arguments, error, message):
    with mlflow.start_run() as run, pytest.raises(error, match=message):
        mlflow_evaluate(mlflow, **arguments)
    assert not mlflow.get_run(run.info.run_id).data.metrics


def test_a_missing_convention_is_refused(mlflow):
    with pytest.raises(ra.InputError, match=r"the evaluator needs convention, which was left out\.\nHint: evaluator"):
        mlflow_evaluate(mlflow, evaluator_config={"qid": "qid"})


@pytest.mark.parametrize("predictions", ["c", None])
def test_a_model_that_returns_unexpected_columns_is_refused(mlflow, predictions):
    message = rf"predictions={predictions!r}, but the model returns the columns 'f0', 'f1', 'f2'\."
    with pytest.raises(ra.InputError, match=message):
        mlflow_evaluate(mlflow, data=frame(), model=lambda X: X, predictions=predictions)


def test_evaluations_without_a_convention_do_not_run_our_evaluator(mlflow):
    result = mlflow.models.evaluate(
        data=frame(score=DATA.X[:, 0])[["label", "score"]], targets="label", predictions="score",
        model_type="regressor", evaluator_config={"default": {"log_model_explainability": False}},
    )  # fmt: skip
    assert "mean_squared_error" in result.metrics
