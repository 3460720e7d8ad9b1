"""Trees grown one by one, as the ordinary model that they add up to."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import catboost as cb

from rankadapters.catboost.training_params import TrainingParams
from rankadapters.catboost.watched_sets import Watch

Model = TypeVar("Model", bound=cb.CatBoost)

OF_A_TREE = ("catboost_version_info", "train_finish_time", "output_options")  # what each model says of itself


AT_ONCE = 100  # trees that are added up together, since a model of one tree takes 150 kB


class Trees:
    """Trees of a training, added up as they come; what is held grows by the trees alone."""

    def __init__(self) -> None:
        self._sums: list[cb.CatBoost] = []  # of AT_ONCE trees each
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
        """Make a model that is not trained yet of the first trees, with their parameters and the values of the rounds.

        A sum of CatBoost's keeps the parameters of each of its models under a name of its own, but none for the whole,
        and no feature importances.
        """
        own, kept = (self._new or self._sums)[-1].get_metadata(), watch.kept()
        whole, rest = divmod(kept, AT_ONCE)
        several = self._sums[:whole]
        if rest and whole < len(self._sums):
            self._sums[whole].shrink(rest)
            several.append(self._sums[whole])
        elif rest:
            several += self._new[:rest]
        added = _sum(several)
        said = added.get_metadata()
        for name in OF_A_TREE:
            said[name] = own[name]
        said["params"] = json.dumps(_params(json.loads(own["params"]), params, kept))
        said["training"] = json.dumps(_training(watch))
        into.__setstate__(added.__getstate__())  # which reads the values of the rounds
        into.get_feature_importance(type="PredictionValuesChange")  # CatBoost's fit does, too, to know them later
        return into


def _sum(models: list[cb.CatBoost]) -> cb.CatBoost:
    """Add up models, and keep what the last one says of itself."""
    own, added = models[-1].get_metadata(), cb.sum_models(models)
    said = added.get_metadata()
    for name in [name for name in said.keys() if name.startswith("model") and ":" in name]:  # noqa: SIM118 - not a dict
        del said[name]
    for name in (*OF_A_TREE, "params"):
        said[name] = own[name]
    return added


def _params(own: dict[str, Any], params: TrainingParams, rounds: int) -> dict[str, Any]:
    """Say of the whole what its last tree says of itself."""
    own["boosting_options"]["iterations"] = rounds
    own["random_seed"] = params.random_seed
    own["tree_learner_options"] |= {"l2_leaf_reg": params.l2_leaf_reg, "random_strength": params.random_strength}
    own["flat_params"] = {
        name: value for name, value in params.declared.items() if isinstance(value, (bool, int, float, str, list))
    }
    return own


def _training(watch: Watch) -> dict[str, Any]:
    """Write the values of the rounds as CatBoost writes its own."""
    log, best = watch.log, watch.best_values()
    names = list(best)
    rounds = range(watch.rounds if watch.names else 0)
    series = {each: [{name: values[place] for name, values in log[each].items()} for place in rounds] for each in names}
    learn, others = names[:1], names[1:]
    metrics: dict[str, Any] = {
        "learn_best_error": best[learn[0]] if learn else {},
        "test_best_error": [best[each] for each in others],
        "learn_metrics_history": [series[each][place] for each in learn for place in rounds],
        "test_metrics_history": [[series[each][place] for each in others] for place in rounds if others],
    }
    if watch.best is not None:
        metrics["best_iteration"] = watch.best[0]
    return {"metrics": metrics}
