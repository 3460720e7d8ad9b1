"""Training CatBoost under any objective: one tree a round on its gradients, added up to an ordinary model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import catboost as cb

from rankadapters.callbacks.history import History
from rankadapters.callbacks.ignored_weights import IgnoredWeights
from rankadapters.callbacks.objectives import Training
from rankadapters.catboost.boosted_pool import BoostedPool, baseline_of, judged_pools, labels_of, sizes_of
from rankadapters.catboost.evaluated_sets import LEARN, set_names
from rankadapters.catboost.joined_model import Trees
from rankadapters.catboost.training_params import TrainingParams
from rankadapters.catboost.watched_sets import Watch, WatchedSet, names_of
from rankadapters.core.data.columns import Array
from rankadapters.core.declaration.arguments import members
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.objectives.base import Objective
from rankadapters.progress import advance, shown


def train(
    params: Mapping[str, Any],
    pool: cb.Pool,
    objective: Objective | str,
    convention: Convention | str | Sequence[Convention | str] | None = None,
    *,
    eval_set: cb.Pool | Sequence[cb.Pool] | None = None,
    early_stopping_rounds: int | None = None,
    use_best_model: bool | None = None,
    names: Sequence[str] | None = None,
    callbacks: Sequence[Any] | None = None,
    verbose: bool | int | None = None,
) -> cb.CatBoost:
    """Train CatBoost under any objective.

    CatBoost's Python objectives never see groups. So the Pool is quantized once, and each round is a training of its
    own, of one tree, on the objective's derivatives: targets -gradient / hessian, weights hessian. The trees are added
    up.

    Parameters
    ----------
    params : dict
        CatBoost's, in its words and with its defaults. What has no place in a training one tree a round is refused by
        name.
    pool : catboost.Pool
        What is trained on: labels and group ids; it is not changed. Its group weights multiply the gradients, unless
        the objective's convention says `average="uniform"`, and its baseline is where scores start from.
    objective : Objective or str
        One of `ra.objectives`, or its text.
    convention : Convention or str, or sequence of them, optional
        What is reported of every set in every round. The first is watched.
    eval_set : catboost.Pool, or sequence of them, optional
        Validation sets, with labels and group ids. The last is watched, as CatBoost does.
    early_stopping_rounds : int, optional
        Stop after so many rounds in which the watched convention did not improve.
    use_best_model : bool, optional
        Whether the model ends with the best round; by default where there is an `eval_set`.
    names : sequence of str, optional
        Names to report under; `convention.name` by default.
    callbacks : sequence, optional
        As in `CatBoost.fit`: `after_iteration(info)` is told `info.iteration`, from 1 on, and `info.metrics`, one
        dict that grows with the rounds; the training ends with the round for which one returns False.
    verbose : bool or int, optional
        Whether, or every how many rounds, a line is printed. A bar on a terminal shows the progress in any case.

    Returns
    -------
    catboost.CatBoost
        An ordinary model. `evals_result_`, `best_score_` and `best_iteration_` are as after a training of CatBoost's,
        also in a saved model. What was just trained has `history`, too: (name of the set, convention, value) in full
        precision, each equal to `ra.evaluate` on the model's predictions of that round, added to the baseline where the
        Pool has one, bit for bit.

    Raises
    ------
    InputError
        A parameter that has no place, or that an argument says too; a Pool without labels or group ids, with pairs,
        with text or embedding features, or with weights that vary within a query; a set to watch without a convention,
        or the reverse; an objective that gives no gradient at all.
    ConventionError
        What is not an objective or not a convention.

    Warns
    -----
    UserWarning
        A convention ignores the weights of a Pool in `eval_set`, or of `pool` where there is no `eval_set`.

    References
    ----------
    CatBoost 1.2.10. Under `QueryRMSE` predictions equal those of its own loss to 1e-8 after 30 rounds.

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
    wanted = TrainingParams.of(
        params, early_stopping_rounds=early_stopping_rounds, use_best_model=use_best_model, verbose=verbose
    )
    sets = list(eval_set) if isinstance(eval_set, (list, tuple)) else [eval_set] if eval_set is not None else []
    shown_names = names_of(convention, names, wanted, watches=bool(sets))
    called = _callbacks(callbacks)
    boosting = Boosting(wanted, objective, [pool, *sets])
    with shown("training"):
        trees, watch = boosting.run(shown_names, called)
    model = trees.joined(cb.CatBoost({**params}), wanted, watch)
    model.history = watch.history
    return model


def _callbacks(callbacks: object) -> list[Any]:
    found = [] if callbacks is None else [callbacks] if (several := members(callbacks)) is None else several
    for each in found:
        if not callable(getattr(each, "after_iteration", None)):
            msg = f"callbacks has {each!r:.80}, without a method after_iteration(info).\nHint: as for CatBoost.fit."
            raise InputError(msg)
    return found


class Boosting:
    """A training one tree a round."""

    def __init__(self, params: TrainingParams, objective: Objective | str, pools: Sequence[cb.Pool]) -> None:
        for place, pool in enumerate(pools):
            refuse_pool(pool, f"eval_set[{place - 1}]" if place else "pool")
        labels = labels_of(pools[0])
        if labels.min() == labels.max():
            msg = f"all labels of the pool are {labels[0]:g}, so that no order is better than another."
            raise InputError(f"{msg}\nHint: labels of two grades or more.")
        self.params = params
        self._pool = BoostedPool(pools[0], params.quantization, params.random_seed)
        self._pools = pools  # as they are: CatBoost cannot predict on a Pool quantized to more than 255 borders
        self._judged = judged_pools([self._pool.features, *pools[1:]], params.growing.get("thread_count", -1))
        self._training = Training(objective, params.n_threads)
        weights = self._judged[0].weights if self._training.objective.uses_weights else None
        self._factors = [] if weights is None else [weights]
        self._mean_weight = 1.0 if weights is None else float(weights.mean(dtype="float64"))

    def run(self, names: dict[Convention, str], callbacks: Sequence[Any]) -> tuple[Trees, Watch]:
        """Grow trees until the rounds, the patience or the gradient end; give them, and what was seen on the way."""
        # Weights of a training set that is reported beside others are for the training.
        if any(judged.weights is not None for judged in self._judged[1:] or self._judged):
            IgnoredWeights().warn(names)
        sets = [
            WatchedSet.of(*each, list(names), self.params.n_threads)
            for each in zip(set_names(len(self._pools) - 1), self._pools, self._judged, strict=True)
        ]
        watch = Watch(sets, names, self.params, callbacks)
        trees = Trees()
        goes_on = True
        while goes_on and len(trees) < self.params.rounds:
            tree = self._grow(watch.sets[0].scores, len(trees))
            if tree is None:
                break
            trees.append(tree)
            for each in watch.sets:
                each.add(tree)
            goes_on = watch.after_round()
            advance(len(trees), self.params.rounds)
        return trees, watch

    def _grow(self, scores: Array, place: int) -> cb.CatBoost | None:
        """Grow the tree of a round; none where no gradient is left."""
        grad, hess = self._training.gradients(self._pool, self._judged[0], self._factors, scores)
        if not grad.any():
            if place:
                return None
            msg = "the objective gives no gradient in round 1.\nHint: queries with rows of different labels."
            raise InputError(msg)
        if not (hess >= 0).all() or not hess.any():
            found = "no hessian" if not hess.any() else f"a hessian of {hess.min():g}"
            msg = f"the objective gives {found} in round {place + 1}; a tree needs hessians from 0 on, some above it."
            raise InputError(msg)
        return self._pool.grow(grad, hess, self._mean_weight, self.params, place)


def refuse_pool(pool: object, name: str) -> None:
    """Refuse what is not a Pool that a training one tree a round can take."""
    if not isinstance(pool, cb.Pool):
        msg = f"{name} is of type {type(pool).__name__}.\nHint: catboost.Pool(X, labels, group_id=qid)."
        raise InputError(msg)
    try:
        labels_of(pool)
        sizes_of(pool)
        baseline_of(pool)
    except InputError as error:
        raise error.about(name) from None
    if pool.num_pairs():
        msg = f"{name} has pairs, but an objective makes its own of the labels.\nHint: a Pool without pairs."
        raise InputError(msg)
    unsummed = {"text": pool.get_text_feature_indices(), "embedding": pool.get_embedding_feature_indices()}
    for kind, columns in unsummed.items():
        if len(columns):
            msg = f"{name} has {kind} features {[*columns]}, and CatBoost cannot add up models with such."
            raise InputError(f"{msg}\nHint: encode them as numbers, or train natively.")


COLUMNS = ("cat_features", "text_features", "embedding_features")  # which the Pools know


def fit_by_objective(
    ranker: cb.CatBoostRanker,
    pools: Sequence[cb.Pool],
    objective: Objective | str,
    convention: Convention | None,
    fit_params: Mapping[str, Any],
) -> History:
    """Fit a CatBoostRanker as `train` does, in place; the objective stands for its `loss_function`."""
    if convention is None and len(pools) > 1:
        msg = "the validation queries have no convention that they are evaluated under beside an objective of ours."
        raise InputError(f"{msg}\nHint: QueryRanker(eval_metric=ra.presets.textbook(10)).")
    given = {**ranker.get_params(), **fit_params}
    callbacks = _callbacks(given.pop("callbacks", None))
    params = TrainingParams.of({n: value for n, value in given.items() if n not in {"loss_function", *COLUMNS}})
    names = names_of(convention, None, params, watches=len(pools) > 1)
    trees, watch = Boosting(params, objective, pools).run(names, callbacks)
    trees.joined(ranker, params, watch)
    return History(entry for entry in watch.history if entry.dataset != LEARN)
