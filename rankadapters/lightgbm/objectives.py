"""Objectives for `lgb.train`, `lgb.cv` and `LGBMRanker`."""

from __future__ import annotations

from typing import Any

import lightgbm as lgb
import numpy as np

from rankadapters import objectives
from rankadapters.callbacks.arguments import refuse_other_toolkit, refused_as_scorer
from rankadapters.callbacks.dataset_columns import DatasetColumns
from rankadapters.callbacks.objectives import ToolkitObjective
from rankadapters.core.arrays import Array
from rankadapters.core.declaration.guesses import LAMBDARANK, shows_call
from rankadapters.core.errors import warn_caller
from rankadapters.lightgbm.metrics import columns_of
from rankadapters.lightgbm.trainings import refuse_bagging_by_query, refuse_cut_queries
from rankadapters.objectives import Objective, PositionBias
from rankadapters.objectives.lambda_rank import Trading
from rankadapters.objectives.pairwise import BeyondKWord, NormalizationWord

native_objective, read_objective = objectives.lightgbm.native_objective, objectives.lightgbm.read_objective


class ObjectiveCallback(ToolkitObjective):
    """An objective for LightGBM's `params["objective"]` and `objective=`; made by `objective` or `lambdarank`."""

    # LightGBM counts an objective's parameters, and passes the groups only if there are four positional parameters.
    def __call__(self, first: Any, second: Any, weight: Any = None, group: Any = None) -> Any:
        """Return gradients and hessians for `(preds, Dataset)`, or LGBMRanker's `(y_true, y_pred, weight, group)`."""
        if (refused := refused_as_scorer(first)) is not None:
            return refused
        refuse_other_toolkit("lightgbm", "objective", first, second)
        if isinstance(second, lgb.Dataset):
            data, columns, scores = second, self._columns(second), first
        else:
            data, columns, scores = first, columns_of(first, weight, group), second
        factors = [] if columns.weights is None else [columns.weights]
        return self.gradients(data, columns, factors, scores)

    def _columns(self, dataset: lgb.Dataset) -> DatasetColumns:
        """Return the columns of a Dataset, with positions if they are needed; refuse cut queries and bagged queries."""
        columns, is_new = columns_of(dataset.construct()), not self._knows(dataset)
        if is_new:
            refuse_cut_queries(dataset)
            refuse_bagging_by_query(dataset.params or {})
        if self.position_bias is not None:
            return columns._replace(positions=_positions(dataset))
        if is_new and _positions(dataset) is not None:
            warn_caller(
                "the Dataset has positions, but the objective models no position bias, as LightGBM's own lambdarank "
                "would.",
                hint="objective(value, position_bias=ra.objectives.lightgbm.position_bias()), or lgb.Dataset without "
                "position=",
            )
        return columns


def objective(
    objective: Objective | str, *, position_bias: PositionBias | str | None = None, n_threads: int | None = None
) -> ObjectiveCallback:
    """Make an objective for `params["objective"]` of `lgb.train` and `lgb.cv`, and for `LGBMRanker(objective=)`.

    Called directly as `obj(preds, dataset)`, it returns `grad, hess`. Row weights multiply the gradients, as in
    LightGBM, unless the objective's convention says `average="uniform"`. Pass `lgb.cv` folds of whole queries: its own
    folds keep queries together only under LightGBM's ranking objectives, and cut queries are refused.

    Parameters
    ----------
    objective : Objective or str
        An objective of `ra.objectives`, or its text.
    position_bias : PositionBias or str, optional
        The position bias to learn and to remove from the gradients: `ra.objectives.lightgbm.position_bias()`, which
        needs `lgb.Dataset(position=)`, any other, or a signature. None learns no bias. `obj.learned_bias` is the
        result.
    n_threads : int, optional
        None uses all CPUs. The gradients are the same for any number.

    Returns
    -------
    ObjectiveCallback
        A callable. Its random draws and its position bias continue from round to round on each Dataset. They start
        anew in a deep copy (which `lgb.train` makes), in a pickle, and after `reset()`.

    Raises
    ------
    ConventionError
        `objective` is not an objective, or has a position bias but no pairs.
    InputError
        In training: the Dataset has no group, or no positions although the position bias needs them; `lgb.cv` cut
        queries; the Dataset has `bagging_by_query` among its parameters; labels changed between rounds; or predictions
        are not finite. The message names round and row.

    Warns
    -----
    UserWarning
        In training, on a Dataset with positions but without `position_bias`.

    Notes
    -----
    LightGBM handles two of its settings wrongly under every callable objective. Use another setting, or LightGBM's own
    objective (`native_objective`).

    - `bagging_by_query`: LightGBM draws queries only for its own objectives. Under a callable it trains on all rows, or
      grows no tree if `bagging_fraction / bagging_freq` is at most 1/2. It also adds every tree to the score of row 0
      once for each row that should have been left out. `bagging_by_query=False` draws rows. We raise an error in
      QueryRanker, and in `lgb.train` and `lgb.cv` with a new Dataset. Elsewhere LightGBM does not tell the objective:
      in LGBMRanker, in `Booster.update`, and with a Dataset that was constructed before.
    - `boosting="dart"`: LightGBM drops trees by an uninitialized flag, so two trainings may differ. If the training set
      is in `valid_sets`, it also returns the trees that it dropped last with the wrong sign.

    References
    ----------
    LightGBM 4.7.0, python-package: `engine.train`, `basic.Booster.update`, `sklearn._ObjectiveFunctionWrapper`;
    src/boosting/gbdt.cpp: `GBDT::TrainOneIter`, and `GBDT::Boosting`, which alone bags by query; src/boosting/dart.hpp:
    `is_update_score_cur_iter_`, which `TrainOneIter` sets after a callable has asked for scores.

    Examples
    --------
    >>> import lightgbm as lgb, numpy as np, rankadapters as ra
    >>> X, y = np.random.default_rng(0).random((60, 3)), np.arange(60) % 3
    >>> params = {"num_leaves": 4, "verbosity": -1, "num_threads": 1}
    >>> ours = params | {"objective": ra.lightgbm.objective(ra.objectives.lightgbm.lambdarank())}
    >>> built_in = params | {"objective": "lambdarank"}
    >>> one, other = (lgb.train(p, lgb.Dataset(X, y, group=[20, 40]), 3) for p in (ours, built_in))
    >>> bool((one.predict(X) == other.predict(X, raw_score=True)).all())
    True
    """
    return ObjectiveCallback(objective, n_threads, position_bias)


@shows_call(LAMBDARANK["lightgbm"])
def lambdarank(
    convention: Trading | str,
    *,
    truncation: int | None,
    sigma: float = 1.0,
    beyond_k: BeyondKWord = "keep",
    normalization: NormalizationWord = "lightgbm",
    n_threads: int | None = None,
) -> ObjectiveCallback:
    """Make an objective callback from `ra.objectives.lambdarank`, with LightGBM's hessian.

    Examples
    --------
    >>> import rankadapters as ra
    >>> str(ra.lightgbm.lambdarank(ra.presets.letor4(10), truncation=30).objective)[:38]
    'lambdarank/truncation=30/samples=all/s'
    """
    value = objectives.lambdarank(
        convention, truncation=truncation, sigma=sigma, beyond_k=beyond_k, normalization=normalization
    )
    return ObjectiveCallback(value, n_threads)


def _positions(dataset: lgb.Dataset) -> Array | None:
    """Return the positions of a Dataset, numbered by first appearance; a subset takes them from the whole Dataset."""
    positions = dataset.get_position()
    if positions is None and dataset.used_indices is not None and dataset.reference is not None:
        whole = _positions(dataset.reference)
        return None if whole is None else whole[np.asarray(dataset.used_indices)]
    return None if positions is None else np.asarray(positions)
