"""`ra.audit.identify` estimates whether a match is chance, and matches several numbers at once."""

from __future__ import annotations

import re

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.audit import Chance, Matches
from rankadapters.audit.numbers import Number, read_number
from tests.helpers.parameters import long_except
from tests.helpers.rankings import small_queries


def generated_data(feature=3):
    """Return generated test queries, and one feature as their scores."""
    _, test = ra.datasets.mq2008_like(random_state=0)
    return ra.Queries(test.labels, qid=test.qid), test.X[:, feature]


def printed_value(queries, scores, convention):
    return f"{ra.evaluate(queries, scores, convention).value:.4f}"


def verdict(matches):
    return matches.chance.verdict(len(matches[0].changes))


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (5, "perhaps by chance"),
        pytest.param("unknown", "as likely as not by chance", marks=pytest.mark.long),
    ],
)
def test_an_invented_number_is_reported_as_chance(k, expected):
    matches = ra.audit.identify(*generated_data(), value="0.4382", k=k)
    assert matches
    assert verdict(matches) == expected
    assert f"the first match is {expected}." in str(matches)
    assert "Hint: give several numbers of the table at once" in str(matches)


COARSE = {  # measures that take few values: a convention, and the step between two values of 30 queries
    "precision": ("letor4.p@5", 1 / 150),
    "recall": ("ranx.recall@1", 1 / 30),
    "success": ("ranx.hit_rate@2", 1 / 30),
    "ndcg": ("lightgbm@1", 1 / 30),
}


def coarse_queries(measure):
    """Return 30 queries of 10 rows with scores."""
    rng = np.random.default_rng(0)
    labels = np.zeros((30, 10))
    for row in labels:
        row[rng.choice(10, 1 if measure == "recall" else 3, replace=False)] = 1
    return ra.Queries(labels.ravel(), group_sizes=[10] * 30), rng.normal(size=300) + labels.ravel()


@pytest.mark.long
@pytest.mark.parametrize("measure", COARSE)
def test_a_match_is_perhaps_chance_if_the_measure_takes_few_values(measure):
    """A model with one hit more or less has one of the nearest values, whatever convention then matches it."""
    text, step = COARSE[measure]
    queries, scores = coarse_queries(measure)
    convention = ra.parse(text)
    value, matched = ra.evaluate(queries, scores, convention).value, 0
    for n_steps in (0, -1, 2, -4):
        number = f"{value + n_steps * step:.4f}"
        matches = ra.audit.identify(queries, scores, value=number, measure=measure, k=convention.k)
        if matches:
            matched += 1
            assert matches.chance.n_random <= 1 + 2 * max(5, 0.1 * value / step), number
            assert matches.chance.share(len(matches[0].changes)) >= 1 / matches.chance.n_random
            assert verdict(matches) != "hardly by chance", number
        assert n_steps or text.partition("@")[0] in matches[0].presets  # the true convention is found
    assert matched


def test_a_convention_that_always_gives_the_same_number_is_as_likely_as_not_chance():
    queries = ra.Queries([1, 0] * 20, group_sizes=[2] * 20)
    matches = ra.audit.identify(queries, np.arange(40.0), value="0.5000", measure="success", k=2)
    assert not matches or matches.chance.share(len(matches[0].changes)) >= 0.5


@pytest.mark.parametrize(
    ("shares", "n_changes", "shares_text", "likelihood"),
    [
        ((0.5,), 3, "50.0 % .0.5 conventions on average.", "as likely as not"),
        ((0.05, 0.5), 0, "50.0 % .0.5 conventions on average., and a preset 5.0 %", "perhaps"),
        ((0.0499, 0.5), 0, "50.0 % .0.5 conventions on average., and a preset 5.0 %", "hardly"),
        ((0.001, 0.3), 0, "30.0 % .0.3 conventions on average., and a preset 0.1 %", "hardly"),
        ((0.0, 4e-4, 0.2), 1, "0.2 .*, and one that differs from a preset in 1 field at most one in 2500", "hardly"),
        ((0.0, 0.0, 4e-4, 0.2), 2, "0.2 .*, and one that differs from a preset in 2 fields at most one", "hardly"),
        ((0.0, 4e-4, 0.2), 0, "0.2 .*, and a preset none of 70", "hardly"),
    ],
)  # fmt: skip
def test_the_sentence_gives_the_shares_of_random_numbers_that_match(shares, n_changes, shares_text, likelihood):
    sentence = Chance(expected=shares, shares=shares, n_random=70).sentence(n_changes)
    assert re.search(f"a convention gives .*{shares_text}", sentence), sentence
    assert sentence.endswith(f": the first match is {likelihood} by chance.")


def test_20_notes_are_printed_and_further_ones_are_counted():
    number = Number(ra.NDCG, "ndcg", read_number("0.50", None), True, None, None, (5,))
    chance = Chance(expected=(0,), shares=(0,), n_random=1)
    for n_notes, last_notes in ((0, []), (20, []), (21, ["Note: 1 more; to_dict() has all"])):
        matches = Matches([], numbers=[number], chance=chance, notes=tuple(map(str, range(n_notes))))
        head, *notes = str(matches).splitlines()
        assert head == "No convention of the grid gives 0.50."
        assert [note for note in notes if note] == [*(f"Note: {i}" for i in range(min(n_notes, 20))), *last_notes]


@pytest.mark.parametrize("name", long_except(["letor4", "trec_eval_9", "lightgbm", "catboost"], "letor4", "catboost"))
def test_numbers_with_and_without_a_cutoff_are_matched_together(name):
    queries, scores = small_queries(docids=True)
    conventions = {k: ra.presets.make(name, k) for k in (None, 5)}
    numbers = {k: printed_value(queries, scores, convention) for k, convention in conventions.items()}
    matches = ra.audit.identify(queries, scores, value=numbers)
    [match] = [match for match in matches if match.covers(conventions[5])]
    assert [number.name for number in matches.numbers] == ["ndcg@5", "ndcg@all"]
    assert match.values[1] == ra.evaluate(queries, scores, match.convention.at(None)).value


@pytest.mark.long
def test_a_policy_that_needs_a_cutoff_is_identified_from_numbers_with_one():
    queries, scores = small_queries()
    convention = ra.presets.letor4(5).replace(ideal="all")
    numbers = {k: printed_value(queries, scores, convention.at(k)) for k in (None, 5, 3)}
    matches = ra.audit.identify(queries, scores, value=numbers)
    assert any(match.covers(convention) for match in matches)


def test_each_model_may_have_its_own_queries():
    labels, sizes = [1, 0, 0, 1, 0, 0], [3, 3]
    queries = {
        "a": ra.Queries(labels, group_sizes=sizes),
        "b": ra.Queries(labels, group_sizes=sizes, retrieved=[True, True, False, True, True, True]),
    }
    scores = {"a": [1, 2, 3, 1, 3, 2], "b": [1, 2, 0, 3, 2, 1]}
    convention = ra.presets.trec_eval_9(2).replace(ties="input")
    numbers = {name: {2: printed_value(queries[name], scores[name], convention)} for name in scores}
    numbers["b"][3] = printed_value(queries["b"], scores["b"], convention.at(3))
    matches = ra.audit.identify(queries, scores, value=numbers)
    assert [number.name for number in matches.numbers] == ["a ndcg@2", "b ndcg@2", "b ndcg@3"]
    assert any(match.covers(convention) for match in matches)


def test_a_measure_without_a_cutoff_takes_numbers_of_two_models():
    queries, first = small_queries()
    second = first + queries.labels
    convention = ra.parse("lightgbm.auc").replace(average="uniform")
    numbers = {"a": printed_value(queries, first, convention), "b": printed_value(queries, second, convention)}
    matches = ra.audit.identify(queries, {"a": first, "b": second}, value=numbers, measure="auc")
    assert any(match.covers(convention) for match in matches)
