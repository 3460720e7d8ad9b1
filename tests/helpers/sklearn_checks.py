"""scikit-learn's own checks of estimators, of which those fail as they should that call fit or score without qid."""

from __future__ import annotations


def failed_checks(estimator, *, but):
    """Return the error of each failed check, by name, except those whose error or its cause contains `but`."""
    from sklearn.utils.estimator_checks import check_estimator

    results = check_estimator(estimator, on_fail=None, on_skip=None)
    passed = [result["check_name"] for result in results if result["status"] == "passed"]
    assert len(passed) > 9, passed
    return {
        result["check_name"]: repr(result["exception"])
        for result in results
        if result["status"] == "failed" and not any(but in message for message in messages(result["exception"]))
    }


def messages(error):
    """Yield the texts of an error and of the errors that led to it."""
    while error is not None:
        yield str(error)
        error = error.__cause__ or error.__context__
