"""The score of each row that an estimator gives: its prediction, or what a classifier knows beyond its class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankadapters.core.declaration.arguments import refusal
from rankadapters.core.errors import InputError

Response = str | Callable[[Any, Any], Any]
RESPONSES = ("auto", "predict", "predict_proba")


def require_response(response: Any) -> None:
    """Refuse a response that is neither one of `RESPONSES` nor a function."""
    if not callable(response) and not (isinstance(response, str) and response in RESPONSES):
        allowed = f"{', '.join(map(repr, RESPONSES))} and functions of (estimator, X)"
        raise refusal("response", response, allowed, "response='auto'")


def scores_of(estimator: Any, X: Any, response: Response = "auto") -> Any:
    """Return the scores of the rows of X.

    "auto" takes a classifier of two classes by `decision_function` or else the probability of the larger class, a
    classifier of more classes by its expected grade, and every other estimator by `predict`.

    Raises
    ------
    InputError
        A classifier has no probabilities to make a score from, or more than two classes that are not numbers; or the
        response is none of those allowed.
    """
    require_response(response)
    if callable(response):
        return response(estimator, X)
    methods = {"auto": _automatic, "predict": lambda estimator, X: estimator.predict(X), "predict_proba": _graded}
    return methods[response](estimator, X)


def _automatic(estimator: Any, X: Any) -> Any:
    classes = getattr(estimator, "classes_", None)
    classes = () if classes is None else classes
    if len(classes) == 2 and hasattr(estimator, "decision_function"):  # noqa: PLR2004 - else it has several columns
        return estimator.decision_function(X)
    if len(classes) and hasattr(estimator, "predict_proba"):
        return _graded(estimator, X)
    predictions = estimator.predict(X)
    if len(classes) and np.isin(predictions, classes).all():  # CatBoost's base class has classes, but predicts scores
        raise _without_probabilities(estimator)
    return predictions


def _graded(estimator: Any, X: Any) -> Any:
    """Return the probability of the larger of two classes, or the expected grade of more classes."""
    if not hasattr(estimator, "predict_proba"):
        raise _without_probabilities(estimator)
    probabilities, classes = np.asarray(estimator.predict_proba(X)), np.asarray(list(estimator.classes_))
    are_numbers = classes.dtype.kind in "biuf"
    if classes.size == 2:  # noqa: PLR2004 - the second is scikit-learn's positive one; CatBoost's may be the first
        return probabilities[:, np.argmax(classes) if are_numbers else 1]
    if are_numbers:
        return probabilities @ classes
    raise InputError(
        f"the classes of {type(estimator).__name__} are not numbers but {classes.tolist()[0]!r} and others, so they "
        "have no expected grade.",
        hint="train it on grades, or response=lambda model, X: model.predict_proba(X) @ [grade of each class]",
    )


def _without_probabilities(estimator: Any) -> InputError:
    return InputError(
        f"{type(estimator).__name__} has no predict_proba, so its rows have no score.",
        hint="wrap a classifier in CalibratedClassifierCV, or response='predict', which ties all rows of a class",
    )
