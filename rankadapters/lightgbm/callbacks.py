"""Early stopping on a declared metric, by LightGBM's own callback."""

from __future__ import annotations

from typing import Any

import lightgbm as lgb

from rankadapters.callbacks.arguments import require_name, require_patience
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import InputError
from rankadapters.lightgbm.distributed import leaving_network
from rankadapters.presets.texts import as_convention

_LightGBMStopping: Any = type(lgb.early_stopping(1))


class EarlyStopping(_LightGBMStopping):
    """LightGBM's early stopping, with the declared metric moved to the first position; made by `early_stopping`."""

    name: str  # of the metric to watch

    def __call__(self, env: Any) -> None:
        """Sort the declared metric first in the results, and decide as LightGBM does."""
        results = env.evaluation_result_list or []
        results.sort(key=lambda result: not self._is_watched(result))
        with leaving_network(env):
            if results and not self._is_watched(results[0]):
                reported = sorted({result[1] for result in results})
                msg = f"early stopping watches {self.name!r}, but the sets report {reported}."
                raise InputError(msg, hint="the same convention in feval= or eval_metric=ra.lightgbm.eval_metric(...)")
        super().__call__(env)

    def _is_watched(self, result: Any) -> bool:
        # Before LightGBM 4.7, lgb.cv reports the metric "ndcg" of the validation sets as "valid ndcg".
        return bool(result[1] == self.name or result[1].endswith(f" {self.name}"))


def early_stopping(
    convention: Convention | str, rounds: int, *, name: str | None = None, min_delta: float = 0.0, verbose: bool = True
) -> EarlyStopping:
    """Stop when the declared metric has not improved for some rounds on a validation set; other metrics are ignored.

    `lgb.early_stopping(20, first_metric_only=True)` and
    `LGBMRanker(early_stopping_rounds=20, first_metric_only=True, metric="None")` do the same if the convention is the
    first that `eval_metric` reports. They watch the first metric, whatever its name: without `metric="None"`,
    LightGBM's own.

    On several workers use `global_eval`, so that all workers stop in the same round.

    Parameters
    ----------
    convention : Convention or str
        A convention that `eval_metric` reports.
    rounds : int
        Rounds without improvement before training stops.
    name : str, optional
        The display name, if `eval_metric(names=)` changed it.
    min_delta : float
        Smallest change that counts as an improvement.
    verbose : bool
        Whether LightGBM logs its decision.

    Returns
    -------
    EarlyStopping
        A subclass of LightGBM's callback, for `callbacks=` of `lgb.train`, `lgb.cv` and `LGBMRanker.fit`.

    Raises
    ------
    InputError
        During training, when nothing reports the convention.

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
    require_patience(rounds, min_delta)
    require_name("name", name)
    stopping = EarlyStopping(int(rounds), first_metric_only=True, verbose=verbose, min_delta=min_delta)
    stopping.name = as_convention(convention).name if name is None else name
    return stopping
