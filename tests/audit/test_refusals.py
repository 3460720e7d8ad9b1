"""Models, labels, conventions and cutoffs that audits refuse; the message says which is wrong."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra

LABELS, SIZES = [1, 0, 2, 0], [2, 2]
A, B = [4.0, 3.0, 2.0, 1.0], [1.0, 2.0, 3.0, 4.0]
YAHOO = ra.presets.yahoo(2)


def queries(labels=LABELS, **columns):
    return ra.Queries(labels, qid=["q1", "q1", "q2", "q2"], **columns)


def order(scores, labels=LABELS, convention=YAHOO, **columns):
    groups = {} if not isinstance(labels, list) else {"group_sizes": SIZES}
    return ra.audit.order(labels, scores, convention, **groups, **columns, n_resamples=9)


MODELS = [  # the scores, and the message
    ({"a": A}, "scores has 1 model; at least 2 must be given"),
    ({}, "scores has 0 models; at least 2 must be given"),
    (A, "scores is a list, not a mapping from model names to scores"),
    (np.array(A), "scores is an array of shape (4,), not a mapping from model names to scores"),
    ({"a": A, 3: B}, "the model name 3 is not a string"),
    ({"a": A, "b\n": B}, "the model name 'b\\n' contains a line break or another unprintable character"),
]


@pytest.mark.parametrize(("scores", "message"), MODELS, ids=[message for _, message in MODELS])
def test_scores_that_are_no_models_are_refused(scores, message):
    with pytest.raises(ra.InputError) as caught:
        order(scores)
    assert message in str(caught.value)


WEIGHTED = YAHOO.replace(average="query")
OTHER_QUERIES = [  # of model b, and the message
    (
        {"b": queries([1, 0, 1, 0], query_weight=[1, 2])},
        "'b' has the same queries as the first model, but different judged",
    ),
    ({"b": queries(query_weight=[1, 3])}, "'b' has the same queries as the first model, but different weights"),
    ({}, "labels has no queries for model 'b'"),
]


@pytest.mark.parametrize(("of_b", "message"), OTHER_QUERIES)
def test_models_of_other_judgments_or_weights_are_refused(of_b, message):
    with pytest.raises(ra.InputError) as caught:
        order({"a": A, "b": B}, {"a": queries(query_weight=[1, 2]), **of_b}, WEIGHTED)
    assert message in str(caught.value)


@pytest.mark.parametrize("retrieved", [None, [True, False, True, True]])
def test_models_of_the_same_judgments_are_compared_whatever_they_retrieved(retrieved):
    labels = {"a": queries(), "b": queries(retrieved=retrieved)}
    assert list(order({"a": A, "b": B}, labels, ra.parse("trec_eval@2+ties=input")).scores) == ["a", "b"]


@pytest.mark.parametrize("of_each", [False, True])
def test_data_that_a_convention_refuses_are_those_of_a_model_if_each_has_its_own(of_each):
    strict, empty = ra.parse("yahoo@2+empty=error"), queries([0, 0, 1, 0])
    with pytest.raises(ra.InputError, match="nothing to find") as caught:
        order({"a": A, "b": B}, {"a": empty, "b": empty} if of_each else empty, strict)
    assert ("model 'a'" in str(caught.value)) is of_each


def test_the_gap_between_equal_conventions_or_different_measures_has_no_parts():
    report = ra.audit.explain(queries(), A, YAHOO, YAHOO)
    assert str(report).endswith("The conventions are equal: there is nothing to explain.")
    with pytest.raises(ra.ConventionError, match="a has the measure ndcg and b the measure ap; the gap between"):
        ra.audit.explain(queries(), A, YAHOO, "ranx.map@2")


def test_a_profile_needs_a_cutoff_and_a_measure():
    with pytest.raises(ra.ConventionError, match="no cutoff was given"):
        ra.audit.profile(queries(), k=[])
    with pytest.raises(ra.ConventionError, match="measure='dcc'; allowed are "):
        ra.audit.profile(queries(), k=2, measure="dcc")


def test_matches_of_several_numbers_name_all_that_no_convention_gives():
    matches = ra.audit.identify(queries(), A, value={1: "0.1234", 2: "0.2345"}, measure="success")
    assert "No convention of the grid gives all of success@1 = 0.1234, success@2 = 0.2345." in str(matches)
    [match, *_] = ra.audit.identify(queries(), A, value="1.00", k=1, measure="success")
    assert not match.covers(ra.parse("ranx.map@1"))
