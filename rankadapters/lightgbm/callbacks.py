"""Early stopping on a declared metric, by LightGBM's own callback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lightgbm as lgb

from rankadapters.callbacks.arguments import require_patience
from rankadapters.core.data.keywords import needs
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.presets.texts import as_convention


@needs(convention="'letor4@10', or another convention", rounds="rounds=50, how long to wait for an improvement")
def early_stopping(
    convention: Convention | str, rounds: int, *, min_delta: float = 0.0, verbose: bool = True
) -> Callable[[Any], None]:
    """Stop when the first metric has not improved for some rounds on a validation set; other metrics are ignored.

    LightGBM watches the first metric that is reported, whatever its name. So `convention` must be the first of
    `eval_metric`, and LightGBM's parameter `metric` must be `"None"`: otherwise its own metrics come first.
    `lgb.early_stopping(20, first_metric_only=True)` and
    `LGBMRanker(early_stopping_round=20, first_metric_only=True, metric="None")` do the same.

    On several workers use `global_eval`, so that all workers stop in the same round.

    Parameters
    ----------
    convention : Convention or str
        The first convention of `eval_metric`, which tells LightGBM whether higher or lower values are better.
    rounds : int
        Rounds without improvement before training stops.
    min_delta : float
        Smallest change that counts as an improvement.
    verbose : bool
        Whether LightGBM logs its decision.

    Returns
    -------
    callable
        `lgb.early_stopping(rounds, first_metric_only=True, ...)`, for `callbacks=` of `lgb.train`, `lgb.cv` and
        `LGBMRanker.fit`.

    Examples
    --------
    >>> import lightgbm as lgb, numpy as np, rankadapters as ra
    >>> X, y = np.random.default_rng(0).random((120, 3)), np.arange(120) % 3
    >>> train = lgb.Dataset(X[:60], label=y[:60], group=[20, 40])
    >>> valid = lgb.Dataset(X[60:], label=y[60:], group=[30, 30], reference=train)
    >>> params, log = {"objective": "lambdarank", "metric": "None", "verbosity": -1}, {}
    >>> callbacks = [ra.lightgbm.early_stopping("letor4@5", 3, verbose=False), lgb.record_evaluation(log)]
    >>> metric = ra.lightgbm.eval_metric("letor4@5")
    >>> booster = lgb.train(params, train, 90, valid_sets=[valid], feval=metric, callbacks=callbacks)
    >>> len(log["valid_0"]["ndcg@5/letor4"]) - booster.best_iteration
    3
    """
    as_convention(convention)
    require_patience(rounds, min_delta)
    return lgb.early_stopping(int(rounds), first_metric_only=True, verbose=verbose, min_delta=min_delta)
