"""What audits refuse: models, labels, conventions and cutoffs that do not fit; the message names the wrong one."""

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


OTHER_QUERIES = [  # the labels of model b, the convention, and the message; None if the models can be compared
    (queries(), YAHOO, None),
    (queries(retrieved=[True, False, True, True]), ra.parse("trec_eval@2+ties=input"), None),
    (queries([1, 0, 1, 0]), YAHOO, "model 'b' has the same queries as the first model, but different judged labels"),
    (queries(query_weight=[1, 3]), YAHOO, "model 'b' has the same queries as the first model, but different weights"),
    (None, YAHOO, "labels has no queries for model 'b'"),
]


@pytest.mark.parametrize(("of_b", "convention", "message"), OTHER_QUERIES)
def test_models_are_compared_over_the_same_judgments_only(of_b, convention, message):
    labels = {"a": queries(query_weight=[1, 2]) if message and "weights" in message else queries()}
    labels |= {} if of_b is None else {"b": of_b}
    convention = convention.replace(average="query") if message and "weights" in message else convention
    if message is None:
        assert list(order({"a": A, "b": B}, labels, convention).scores) == ["a", "b"]
        return
    with pytest.raises(ra.InputError) as caught:
        order({"a": A, "b": B}, labels, convention)
    assert message in str(caught.value)


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
