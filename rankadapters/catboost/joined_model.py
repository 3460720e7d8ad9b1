"""Join separately trained trees into one ordinary CatBoost model."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import catboost as cb

from rankadapters.catboost.training_params import TrainingParams
from rankadapters.catboost.watched_sets import Watch

Model = TypeVar("Model", bound=cb.CatBoost)

TREE_METADATA = ("catboost_version_info", "train_finish_time", "output_options")  # copied from the last tree


AT_ONCE = 100  # trees per sum; a separate model of each tree would need 150 kB


class Trees:
    """The trees of a training; every 100 of them are summed into one model, to save memory."""

    def __init__(self) -> None:
        self._sums: list[cb.CatBoost] = []  # sums of AT_ONCE trees
        self._new: list[cb.CatBoost] = []

    def __len__(self) -> int:
        return len(self._sums) * AT_ONCE + len(self._new)

    def append(self, tree: cb.CatBoost) -> None:
        """Add the tree of a round."""
        self._new.append(tree)
        if len(self._new) == AT_ONCE:
            self._sums.append(_sum(self._new))
            self._new = []

    def joined(self, into: Model, params: TrainingParams, watch: Watch) -> Model:
        """Load the kept trees, with parameters and evaluation results, into an untrained model, and return it.

        CatBoost's sum of models has the parameters of each model under separate names, but none for the whole, and no
        feature importances.
        """
        last, n_kept = (self._new or self._sums)[-1].get_metadata(), watch.kept()
        whole, rest = divmod(n_kept, AT_ONCE)
        models = self._sums[:whole]
        if rest and whole < len(self._sums):
            self._sums[whole].shrink(rest)
            models.append(self._sums[whole])
        elif rest:
            models += self._new[:rest]
        summed = _sum(models)
        metadata = summed.get_metadata()
        for name in TREE_METADATA:
            metadata[name] = last[name]
        metadata["params"] = json.dumps(_params(json.loads(last["params"]), params, n_kept))
        metadata["training"] = json.dumps(_training(watch))
        into.__setstate__(summed.__getstate__())  # also restores the evaluation results
        into.get_feature_importance(type="PredictionValuesChange")  # stores the importances, as CatBoost's fit does
        return into


def _sum(models: list[cb.CatBoost]) -> cb.CatBoost:
    """Return the sum of models, with the last model's metadata."""
    last, summed = models[-1].get_metadata(), cb.sum_models(models)
    metadata = summed.get_metadata()
    for name in [name for name in metadata.keys() if name.startswith("model") and ":" in name]:  # noqa: SIM118 - not a dict
        del metadata[name]
    for name in (*TREE_METADATA, "params"):
        metadata[name] = last[name]
    return summed


def _params(fields: dict[str, Any], params: TrainingParams, rounds: int) -> dict[str, Any]:
    """Turn the parameters in the last tree's metadata into the parameters of the whole model."""
    fields["boosting_options"]["iterations"] = rounds
    fields["random_seed"] = params.random_seed
    fields["tree_learner_options"] |= {"l2_leaf_reg": params.l2_leaf_reg, "random_strength": params.random_strength}
    fields["flat_params"] = {
        name: value for name, value in params.declared.items() if isinstance(value, (bool, int, float, str, list))
    }
    return fields


def _training(watch: Watch) -> dict[str, Any]:
    """Return the evaluation results in CatBoost's format."""
    log, best = watch.log, watch.best_values()
    names = list(best)
    rounds = range(watch.rounds if watch.names else 0)
    series = {key: [{name: values[index] for name, values in log[key].items()} for index in rounds] for key in names}
    learn, eval_names = names[:1], names[1:]
    metrics: dict[str, Any] = {
        "learn_best_error": best[learn[0]] if learn else {},
        "test_best_error": [best[dataset] for dataset in eval_names],
        "learn_metrics_history": [series[dataset][index] for dataset in learn for index in rounds],
        "test_metrics_history": [[series[dataset][index] for dataset in eval_names] for index in rounds if eval_names],
    }
    if watch.best is not None:
        metrics["best_iteration"] = watch.best[0]
    return {"metrics": metrics}
