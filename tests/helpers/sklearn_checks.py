"""scikit-learn's checks of estimators, except those that must fail because they call fit or score without qid."""

from __future__ import annotations


def failed_checks(estimator, *, expected_error):
    """Return the error of each failed check by name, except checks that fail with the expected message."""
    from sklearn.utils.estimator_checks import check_estimator

    results = check_estimator(estimator, on_fail=None, on_skip=None)
    passed = [result["check_name"] for result in results if result["status"] == "passed"]
    assert len(passed) > 9, passed
    return {
        result["check_name"]: repr(result["exception"])
        for result in results
        if result["status"] == "failed"
        and not any(expected_error in message for message in error_messages(result["exception"]))
    }


def error_messages(error):
    """Yield the texts of an error and of the errors that led to it."""
    while error is not None:
        yield str(error)
        error = error.__cause__ or error.__context__
