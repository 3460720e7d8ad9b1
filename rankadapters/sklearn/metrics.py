"""Scorers that compute a convention, for `scoring=` in every search and cross-validation, and the names of metrics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

import numpy as np
from sklearn.utils.metadata_routing import MetadataRequest

from rankadapters import presets
from rankadapters.callbacks.arguments import display_names, refuse_other_toolkit
from rankadapters.core.declaration.arguments import refusal
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.guesses import QUERY_SCORER, shows_call
from rankadapters.core.errors import InputError
from rankadapters.evaluation.evaluate import evaluate
from rankadapters.presets.texts import Conventions, as_convention, is_one
from rankadapters.sklearn.rows import find_qid, one_per_query, queries_of, refuse_other_rows, warn_of_cuts, whole_sizes

native_metric, read_metric = presets.sklearn.write, presets.sklearn.read

Response = str | Callable[[Any, Any], Any]


class QueryScorer:
    """A scikit-learn scorer that computes one convention; `query_scorer` makes it."""

    def __init__(
        self, convention: Convention | str, qid: str, name: str, whole: Any, response: Response = "auto"
    ) -> None:
        self.convention = convention
        self.qid = qid
        self.name = name
        self.response = response
        self._ids = whole
        self._whole = None if whole is None else whole_sizes(whole)

    def __repr__(self) -> str:
        """Show the convention's name and the name of the qid."""
        return f"query_scorer({self.name}, qid={self.qid!r})"

    def __call__(
        self, estimator: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None, **metadata: Any
    ) -> float:
        """Score the rows of X, as the response says, against y; greater is better."""
        if y is None:
            refuse_other_toolkit("sklearn", "eval_metric", estimator, X)
            raise InputError("the scorer got no y.", hint="scoring=scorer, or scorer(estimator, X, y, qid=qid)")
        unknown = set(metadata) - {self.qid}
        if unknown:
            msg = f"the scorer takes {self.qid!r} but was passed {min(unknown)!r}."
            raise InputError(msg, hint="query_scorer(qid=)")
        qid = metadata.get(self.qid)
        refuse_other_rows(self.qid, X=X, y=y, qid=qid, sample_weight=sample_weight)
        queries = queries_of(y, find_qid(self.qid, X, y, whole=self._ids) if qid is None else qid)
        if self._whole is not None:
            warn_of_cuts(queries, self._whole)
        convention = as_convention(self.convention)
        if sample_weight is not None:
            refuse_ignored_weights(convention)
            if convention.weighting == "row_weight":
                queries = queries.with_weights(row_weight=sample_weight)
            else:
                queries = queries.with_weights(one_per_query(sample_weight, queries))
        return convention.worth(evaluate(queries, scores_of(estimator, X, self.response), convention).value)

    def get_metadata_routing(self) -> MetadataRequest:
        """Request qid, and weights if the convention uses them, so that no `set_score_request` is needed."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param=self.qid, alias=True)
        request.score.add_request(param="sample_weight", alias=self._accept_sample_weight())
        return request

    # Without metadata routing, scikit-learn 1.9.1 calls this method of every scorer in a dict, also of plain functions.
    def _accept_sample_weight(self) -> bool:
        """Return whether the convention uses weights."""
        return as_convention(self.convention).weighting is not None


def refuse_ignored_weights(convention: Convention) -> None:
    """Refuse weights if the convention would ignore them."""
    if convention.weighting is None:
        msg = f"sample_weight was given but the convention says average={convention.average!r}, which would ignore it."
        hint = "convention.replace(average='query') where the measure has it, or drop sample_weight"
        raise InputError(msg, hint=hint)


@overload
def query_scorer(  # type: ignore[overload-overlap]  # a text is not a sequence of texts here
    convention: Convention | str, *, qid: str = ..., whole: Any = ..., response: Response = ...,
) -> QueryScorer: ...  # fmt: skip
@overload
def query_scorer(
    convention: Conventions, *, qid: str = ..., whole: Any = ..., response: Response = ...,
) -> dict[str, QueryScorer]: ...  # fmt: skip
@shows_call(QUERY_SCORER)
def query_scorer(
    convention: Convention | str | Conventions,
    *,
    qid: str = "qid",
    whole: Any = None,
    response: Response = "auto",
) -> QueryScorer | dict[str, QueryScorer]:
    """Return a scorer for `scoring=` in GridSearchCV, cross_validate and the like, or a dict with one per convention.

    The scorer takes the query ids from the first of these that exists: routed metadata
    (`sklearn.set_config(enable_metadata_routing=True)`, then `search.fit(X, y, qid=qid)`); a column of X named `qid`;
    an index level of X or of y with that name; `whole`, if X is a bare array with as many rows. If there is none, it
    raises an error. It never uses an unnamed index.

    `TunedThresholdClassifierCV` cannot use it, because it scores predicted classes without X; see the guide for a way
    around.

    Parameters
    ----------
    convention : Convention or str, or sequence of these, or mapping of str to these
        The convention to compute. A measure that is better when smaller is negated, as in scikit-learn's scorers. The
        names of a mapping are those of the columns `mean_test_<name>` and of `refit=`; else they are `convention.name`.
    qid : str
        Name of the metadata, column or index level that holds one query id per row.
    whole : array-like, optional
        Query of each row of the full data, before anything was cut or reordered. The scorer then warns if a query comes
        with a different number of rows; it cannot check queries that are not in `whole`.
    response : {"auto", "predict", "predict_proba"} or callable
        The score of a row. "auto" is `predict`, except for a classifier, whose predicted class ties most rows: with two
        classes it is `decision_function` or else `predict_proba[:, 1]`, with more the expected grade,
        `predict_proba @ classes_`. "predict" takes the class. "predict_proba" takes probabilities even if there is a
        `decision_function`. A callable gets the estimator and X.

    Returns
    -------
    QueryScorer or dict of str to QueryScorer
        Callable as `scorer(estimator, X, y, qid=...)`; returns a float. Row weights (`sample_weight`), constant within
        a query, count as query weights unless the convention says `average="uniform"`. For several conventions,
        a dict in the same order; its keys are the display names, because scikit-learn requires strings.

    Raises
    ------
    ConventionError
        `convention` is not a convention, or two conventions have the same display name.
    InputError
        `whole` has a NaN or floats, or `response` is not allowed. When called: qid is missing, has a NaN or floats, or
        differs from y in length; y has a NaN; weights vary within a query; a classifier has no probabilities, or more
        than two classes that are not numbers.

    Warns
    -----
    CutQueriesWarning
        When called: some rows of a query are missing.

    References
    ----------
    scikit-learn 1.9.1, sklearn/utils/_metadata_requests.py.

    Examples
    --------
    >>> import numpy as np, pandas as pd, rankadapters as ra
    >>> from sklearn.linear_model import LinearRegression
    >>> X = pd.DataFrame({"feature": [0.1, 0.9, 0.4, 0.2], "qid": ["a", "a", "b", "b"]})
    >>> model = LinearRegression().fit(X[["feature"]], [0, 1, 0, 1])
    >>> scorer = ra.sklearn.query_scorer(ra.presets.yahoo(2))
    >>> round(scorer(model, X[["feature"]], [0, 1, 0, 1], qid=X["qid"]), 3)
    0.815
    >>> ra.sklearn.query_scorer(["letor4@5", "letor4@10"])
    {'ndcg@5/letor4': query_scorer(ndcg@5/letor4, qid='qid'), 'ndcg@10/letor4': query_scorer(ndcg@10/letor4, qid='qid')}
    """
    if not isinstance(qid, str) or not qid.isidentifier():
        raise refusal("qid", qid, "names of a parameter, column or index level", "pass the ids to fit(qid=)")
    require_response(response)
    name_of = display_names(convention)
    scorers = {name: QueryScorer(value, qid, name, whole, response) for value, name in name_of.items()}
    return next(iter(scorers.values())) if is_one(convention) else scorers


def require_response(response: Any) -> None:
    """Refuse a response that is neither one of `RESPONSES` nor a function."""
    if not callable(response) and not (isinstance(response, str) and response in RESPONSES):
        allowed = f"{', '.join(map(repr, RESPONSES))} and functions of (estimator, X)"
        raise refusal("response", response, allowed, "response='auto'")


def scores_of(estimator: Any, X: Any, response: Response) -> Any:
    """Return the scores of the rows of X, by the response that `query_scorer` describes."""
    require_response(response)
    return response(estimator, X) if callable(response) else RESPONSES[response](estimator, X)


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
        return (probabilities * classes).sum(axis=1)  # a matrix product would round equal rows differently
    raise InputError(
        f"the classes of {type(estimator).__name__} are not numbers but {classes.tolist()[0]!r} and others, so they "
        "have no expected grade.",
        hint="train it on grades, or response=lambda model, X: model.predict_proba(X) @ [grade of each class]",
    )


def _without_probabilities(estimator: Any) -> InputError:
    hint = "wrap a classifier in CalibratedClassifierCV, or response='predict', which ties all rows of a class"
    return InputError(f"{type(estimator).__name__} has no predict_proba, so its rows have no score.", hint=hint)


RESPONSES = {"auto": _automatic, "predict": lambda estimator, X: estimator.predict(X), "predict_proba": _graded}
