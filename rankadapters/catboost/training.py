"""Train CatBoost under any objective: grow a tree per round on the objective's gradients, and sum the trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import catboost as cb

from rankadapters.callbacks.history import History
from rankadapters.callbacks.metrics import warn_of_ignored_weights
from rankadapters.callbacks.objectives import ToolkitObjective
from rankadapters.catboost.boosted_pool import BoostedPool, baseline_of, columns_of_pools, labels_of, sizes_of
from rankadapters.catboost.joined_model import Trees
from rankadapters.catboost.training_params import TrainingParams
from rankadapters.catboost.watched_sets import Watch, WatchedSet, names_of, set_names
from rankadapters.core.arrays import Array
from rankadapters.core.declaration.arguments import members
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.objectives.base import Objective
from rankadapters.presets.texts import Conventions
from rankadapters.progress import advance, shown


def train(
    params: Mapping[str, Any],
    pool: cb.Pool,
    objective: Objective | str,
    convention: Convention | str | Conventions | None = None,
    *,
    eval_set: cb.Pool | Sequence[cb.Pool] | None = None,
    early_stopping_rounds: int | None = None,
    use_best_model: bool | None = None,
    callbacks: Sequence[Any] | None = None,
    verbose: bool | int | None = None,
) -> cb.CatBoost:
    """Train CatBoost under any objective.

    CatBoost's Python objectives never see groups. So we quantize the Pool once, and each round is a separate training
    of one tree, with targets -gradient / hessian and the hessians as weights. The result is the sum of the trees.

    Parameters
    ----------
    params : dict
        CatBoost's parameters, with its names and defaults. Parameters that cannot work tree by tree are refused.
    pool : catboost.Pool
        The training set, with labels and group ids; it is not changed. Its group weights multiply the gradients, unless
        the objective's convention says `average="uniform"`. Scores start from its baseline.
    objective : Objective or str
        An objective of `ra.objectives`, or its text.
    convention : Convention or str, or sequence of these, or mapping of str to these, optional
        The conventions to report for every set in every round. The first is watched.
    eval_set : catboost.Pool, or sequence of them, optional
        Validation sets, with labels and group ids. The last is watched, as in CatBoost.
    early_stopping_rounds : int, optional
        Stop after this many rounds without improvement of the watched convention.
    use_best_model : bool, optional
        Whether the model ends with the best round; by default if there is an `eval_set`.
    callbacks : sequence, optional
        As in `CatBoost.fit`: `after_iteration(info)` gets `info.iteration`, from 1 on, and `info.metrics`, a dict of
        all values so far. The training ends after a round in which a callback returns False.
    verbose : bool or int, optional
        Print a line every round, or every this many rounds. A terminal shows a progress bar in any case.

    Returns
    -------
    catboost.CatBoost
        An ordinary model. `evals_result_`, `best_score_` and `best_iteration_` are as after CatBoost's own training,
        also in a saved model. The returned model also has `history`, a `ra.History` in full precision. Each value
        equals `ra.evaluate` on the model's predictions of that round, plus the Pool's baseline if it has one, bit for
        bit; in `evals_result_`, which CatBoost reads from text, the last bit can differ. The importance
        `LossFunctionChange` is that of RMSE, not of the objective.

    Raises
    ------
    InputError
        A parameter cannot be used, or is also an argument; a Pool lacks labels or group ids, or has pairs, text or
        embedding features, or weights that vary within a query; there is a set to watch without a convention, or the
        reverse; or all gradients are 0.
    ConventionError
        The objective or a convention is not valid.

    Warns
    -----
    UserWarning
        A convention ignores the weights of a Pool in `eval_set`, or of `pool` if there is no `eval_set`.

    References
    ----------
    CatBoost 1.2.10. Under `QueryRMSE`, predictions equal those of its own loss to 1e-8 after 30 rounds.

    Examples
    --------
    >>> import catboost as cb, numpy as np, rankadapters as ra
    >>> rng = np.random.default_rng(0)
    >>> pool = cb.Pool(rng.random((60, 3)), rng.integers(0, 3, 60), group_id=np.repeat(np.arange(6), 10))
    >>> conv = ra.presets.letor4(5)
    >>> objective = ra.objectives.lambdarank(conv, truncation=30)
    >>> model = ra.catboost.train({"iterations": 5, "thread_count": 1}, pool, objective, conv)
    >>> model.tree_count_, len(model.history)
    (5, 5)
    >>> value = ra.evaluate(pool.get_label(), model.predict(pool), conv, qid=pool.get_group_id_hash()).value
    >>> model.history[-1].value == value
    True
    """
    training_params = TrainingParams.of(
        params, early_stopping_rounds=early_stopping_rounds, use_best_model=use_best_model, verbose=verbose
    )
    sets = list(eval_set) if isinstance(eval_set, (list, tuple)) else [eval_set] if eval_set is not None else []
    shown_names = names_of(convention, training_params, watches=bool(sets))
    callback_list = _callbacks(callbacks)
    boosting = Boosting(training_params, objective, [pool, *sets])
    with shown("training"):
        trees, watch = boosting.run(shown_names, callback_list)
    model = trees.joined(cb.CatBoost({**params}), training_params, watch)
    model.history = History.of(watch.log, {name: convention for convention, name in shown_names.items()})
    return model


def _callbacks(callbacks: object) -> list[Any]:
    callback_list = [] if callbacks is None else [callbacks] if (listed := members(callbacks)) is None else listed
    for callback in callback_list:
        if not callable(getattr(callback, "after_iteration", None)):
            msg = f"callbacks has {callback!r:.80}, without a method after_iteration(info)."
            raise InputError(msg, hint="as for CatBoost.fit")
    return callback_list


class Boosting:
    """A training that grows one tree a round."""

    def __init__(self, params: TrainingParams, objective: Objective | str, pools: Sequence[cb.Pool]) -> None:
        for index, pool in enumerate(pools):
            refuse_pool(pool, f"eval_set[{index - 1}]" if index else "pool")
        labels = labels_of(pools[0])
        if labels.min() == labels.max():
            msg = f"all labels of the pool are {labels[0]:g}, so that no order is better than another."
            raise InputError(msg, hint="labels of two grades or more")
        self.params = params
        self._pool = BoostedPool(pools[0], params.quantization, params.random_seed)
        self._pools = pools  # not quantized, since CatBoost cannot predict on a Pool with more than 255 borders
        self._columns = columns_of_pools([self._pool.features, *pools[1:]], params.growing.get("thread_count", -1))
        self._objective = ToolkitObjective(objective, params.n_threads)
        weights = self._columns[0].weights if self._objective.objective.uses_weights else None
        self._factors = [] if weights is None else [weights]
        self._mean_weight = 1.0 if weights is None else float(weights.mean(dtype="float64"))

    def run(self, names: dict[Convention, str], callbacks: Sequence[Any]) -> tuple[Trees, Watch]:
        """Grow trees until the last round, an early stop or zero gradients; return the trees and the values."""
        # If there are validation sets, a convention may ignore the weights of the training set without a warning.
        if any(columns.weights is not None for columns in self._columns[1:] or self._columns):
            warn_of_ignored_weights(names)
        sets = [
            WatchedSet.of(*parts, list(names), self.params.n_threads)
            for parts in zip(set_names(len(self._pools) - 1), self._pools, self._columns, strict=True)
        ]
        watch, trees, goes_on = Watch(sets, names, self.params, callbacks), Trees(), True
        while goes_on and (tree := self._grow(sets[0].scores, len(trees))) is not None:
            trees.append(tree)
            for watched_set in sets:
                watched_set.add(tree)
            goes_on = watch.after_round() and len(trees) < self.params.rounds
            advance(len(trees), self.params.rounds)
        return trees, watch

    def _grow(self, scores: Array, round_number: int) -> cb.CatBoost | None:
        """Return the tree of a round; None if all gradients are 0."""
        grad, hess = self._objective.gradients(self._pool, self._columns[0], self._factors, scores)
        if not grad.any():
            if round_number:
                return None
            msg = "the objective gives no gradient in round 1."
            raise InputError(msg, hint="queries with rows of different labels")
        if not (hess >= 0).all() or not hess.any():
            problem = "no hessian" if not hess.any() else f"a hessian of {hess.min():g}"
            msg = f"the objective has {problem} in round {round_number + 1}; hessians must be at least 0, not all 0."
            raise InputError(msg)
        return self._pool.grow(grad, hess, self._mean_weight, self.params, round_number)


def refuse_pool(pool: object, name: str) -> None:
    """Refuse a value that is not a Pool, and a Pool on which we cannot train tree by tree."""
    if not isinstance(pool, cb.Pool):
        raise InputError(f"{name} is of type {type(pool).__name__}.", hint="catboost.Pool(X, labels, group_id=qid)")
    try:
        labels_of(pool)
        sizes_of(pool)
        baseline_of(pool)
    except InputError as error:
        raise error.about(name) from None
    if pool.num_pairs():
        msg = f"{name} has pairs, but an objective makes pairs from the labels."
        raise InputError(msg, hint="a Pool without pairs")
    unsummed = {"text": pool.get_text_feature_indices(), "embedding": pool.get_embedding_feature_indices()}
    for kind, columns in unsummed.items():
        if len(columns):
            msg = f"{name} has {kind} features {[*columns]}, and CatBoost cannot sum models with these."
            raise InputError(msg, hint="encode them as numbers, or train natively")


COLUMNS = ("cat_features", "text_features", "embedding_features")  # parameters that the Pools already contain


def fit_by_objective(
    ranker: cb.CatBoostRanker,
    pools: Sequence[cb.Pool],
    objective: Objective | str,
    convention: Convention | None,
    fit_params: Mapping[str, Any],
) -> dict[str, dict[str, list[float]]]:
    """Fit a CatBoostRanker in place as `train` does; the objective replaces its `loss_function`.

    Return the exact log; the ranker's own log can differ in the last bit.
    """
    if convention is None and len(pools) > 1:
        msg = "there are validation queries but no convention to evaluate them under."
        raise InputError(msg, hint="QueryRanker(eval_metric=ra.presets.textbook(10))")
    all_params = {**ranker.get_params(), **fit_params}
    callbacks = _callbacks(all_params.pop("callbacks", None))
    params = TrainingParams.of({n: value for n, value in all_params.items() if n not in {"loss_function", *COLUMNS}})
    names = names_of(convention, params, watches=len(pools) > 1)
    trees, watch = Boosting(params, objective, pools).run(names, callbacks)
    trees.joined(ranker, params, watch)
    return watch.log
