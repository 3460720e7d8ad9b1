"""What a QueryRanker is told before it looks at a row, checked."""

from __future__ import annotations

from numbers import Real
from typing import Any

from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.presets.texts import as_convention
from rankadapters.objectives.base import as_objective
from rankadapters.sklearn.handing import RANKERS, toolkit_of
from rankadapters.sklearn.inner import last_step


def check_declared(ranker: Any, eval_set: object) -> None:
    """Check the parameters of a QueryRanker, and that they agree with each other.

    Raises
    ------
    InputError
        The estimator is missing or of no kind that can rank, a parameter is not a name or not a share, or it needs
        another that is missing.
    ConventionError
        `convention` or `eval_metric` is not a convention, or `objective` not an objective.
    """
    _check_estimator(ranker.estimator)
    _check_qid(ranker.qid)
    for name in ("convention", "eval_metric"):
        value = getattr(ranker, name)
        if value is not None:
            _check_convention(name, value)
    _check_validation(ranker, eval_set)
    _check_objective(ranker.objective, last_step(ranker.estimator))


def sets_of(eval_set: Any) -> list[tuple[Any, ...]]:
    """Read `eval_set`: one tuple (X, y[, qid[, sample_weight]]), or a list of them."""
    sets = [eval_set] if isinstance(eval_set, tuple) else list(eval_set or ())
    for given in sets:
        if not isinstance(given, tuple) or len(given) not in {2, 3, 4}:
            msg = (
                f"{given!r:.80} is not a validation set.\nHint: eval_set=[(X, y, qid)] or [(X, y, qid, sample_weight)]."
            )
            raise InputError(msg)
    return sets


def _check_estimator(estimator: Any) -> None:
    if isinstance(estimator, type):
        msg = f"estimator is the class {estimator.__name__}.\nHint: QueryRanker({estimator.__name__}())."
        raise InputError(msg)
    for name in ("fit", "predict"):
        if not hasattr(estimator, name):
            what = f"estimator={estimator!r:.80} has no {name}"
            msg = f"{what}.\nHint: an estimator, or a Pipeline whose last step has fit and predict."
            raise InputError(msg)


def _check_convention(name: str, value: Any) -> None:
    try:
        as_convention(value)
    except ConventionError as error:
        raise error.about(name) from None


def _check_qid(qid: Any) -> None:
    if qid is not None and not isinstance(qid, str):
        msg = (
            f"qid={qid!r:.80} must name a column or index level of X.\n"
            "Hint: QueryRanker(estimator).fit(X, y, qid=ids) takes the ids themselves."
        )
        raise InputError(msg)


def _check_validation(ranker: Any, eval_set: object) -> None:
    fraction, estimator = ranker.validation_fraction, last_step(ranker.estimator)
    if fraction is not None and (not isinstance(fraction, Real) or not 0 < float(fraction) < 1):
        raise InputError(f"validation_fraction={fraction!r} is not a share of the queries; allowed is 0 < share < 1.")
    asked = {"eval_set": eval_set, "eval_metric": ranker.eval_metric, "validation_fraction": fraction}
    given = [name for name, value in asked.items() if value is not None]
    if given and toolkit_of(estimator) is None:
        msg = (
            f"{type(estimator).__name__} is handed no validation queries, so {given[0]} has no use.\n"
            f"Hint: it is for {', '.join(RANKERS)}; leave it out and stop the estimator by its own means."
        )
        raise InputError(msg)
    if given == ["eval_metric"]:
        msg = "eval_metric has no validation queries.\nHint: fit(eval_set=[(X, y, qid)]) or validation_fraction=0.1."
        raise InputError(msg)
    if eval_set is not None and not sets_of(eval_set):
        msg = "eval_set lists no validation queries.\nHint: eval_set=[(X, y, qid)], or leave it out."
        raise InputError(msg)
    if eval_set is not None and fraction is not None:
        msg = "validation queries were given twice.\nHint: either eval_set or validation_fraction."
        raise InputError(msg)


def _check_objective(objective: object, estimator: Any) -> None:
    if objective is None:
        return
    as_objective(objective)
    if toolkit_of(estimator) is None:
        msg = f"{type(estimator).__name__} is not trained by an objective.\nHint: it is for {', '.join(RANKERS)}."
        raise InputError(msg)
