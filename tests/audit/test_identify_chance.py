"""Which matches are chance, and several numbers at once, which leave little to it."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.audit.identification import candidates, published_number
from rankadapters.audit.identification.chance import Chance, measure_chance
from rankadapters.audit.identification.matches import Matches
from rankadapters.audit.identification.numbers import Number
from rankadapters.audit.printed import read
from rankadapters.statistics.search import Search
from tests.helpers.depth import THOROUGH
from tests.helpers.graded_queries import small
from tests.helpers.tables import for_each


def generated(feature=3):
    _, test = ra.datasets.mq2008_like(random_state=0)
    return ra.Queries(test.labels, qid=test.qid), test.X[:, feature]


def printed(queries, scores, convention, decimals=4):
    return f"{ra.evaluate(queries, scores, convention).value:.{decimals}f}"


def verdict(found):
    return found.chance.verdict(len(found[0].changes))


@pytest.fixture
def search_once(monkeypatch):
    """Evaluate the grid once for equal scores and cutoffs, and only match numbers, without further suggestions."""
    searches = {}

    def search(measure, grid, data):
        key = tuple((part.scores.tobytes(), part.cutoffs) for part in data)
        if key not in searches:
            new = Search(measure, grid, data)
            groups = list(new.groups())
            searches[key] = SimpleNamespace(groups=lambda progress: groups, notes=new.notes)
        return searches[key]

    monkeypatch.setattr(candidates, "Search", search)
    for suggestions in ("find_distinguishing_numbers", "near_misses"):
        monkeypatch.setattr(published_number, suggestions, lambda *_: ())


@pytest.mark.parametrize(("k", "said"), [(5, "perhaps by chance"), ("unknown", "as likely as not by chance")])
def test_an_invented_number_is_told_to_be_chance(k, said):
    found = ra.audit.identify(*generated(), value="0.4382", k=k)
    assert found
    assert verdict(found) == said
    assert f"the first match is {said}." in str(found)
    assert "Hint: give several numbers of the table at once" in str(found)


@pytest.mark.usefixtures("search_once")
@for_each(("decimals", "data"), [(4, generated()), *([(3, small(docids=True))] if THOROUGH else [])], ids=lambda _: "")
def test_as_many_conventions_give_a_random_number_as_the_search_says(decimals, data):
    queries, scores = data
    middle = sum(ra.evaluate(queries, scores, f"{name}@5").value for name in ("yahoo", "letor4")) / 2
    said = []
    for number in np.random.default_rng(0).uniform(middle - 0.1, middle + 0.1, 80):
        found = ra.audit.identify(queries, scores, value=f"{number:.{decimals}f}", k=5)
        said.append((found.chance.expected[-1], len(found), found.chance.shares[-1], bool(found)))
    expected, measured, share, matching = np.mean(said, axis=0)
    assert measured == pytest.approx(expected, rel=0.3)
    assert matching == pytest.approx(share, abs=0.1)  # two standard errors of 80 draws


@pytest.mark.usefixtures("search_once")
def test_two_random_numbers_match_as_often_as_the_search_says():
    queries, scores = small(docids=True)
    middle = [sum(ra.evaluate(queries, scores, f"{n}@{k}").value for n in ("yahoo", "letor4")) / 2 for k in (5, 10)]
    said = []
    for shares in np.random.default_rng(1).uniform(0.9, 1.1, (50, 2)):
        numbers = [f"{value:.2f}" for value in middle * shares]
        found = ra.audit.identify(queries, scores, value=numbers, k=[5, 10])
        said.append((found.chance.expected[-1], len(found)))
    expected, measured = np.mean(said, axis=0)
    assert measured == pytest.approx(expected, rel=0.5)
    assert expected > 0.5


@for_each(
    ("value", "bounded", "below", "above"),
    [("0.50", 1, 5, 5), ("0.03", 1, 3, 5), ("0.98", 1, 9, 2), ("0.03", 0, 5, 5), ("1.00", 0, 10, 10)],
)
def test_random_numbers_are_within_the_window_and_what_the_measure_can_give(value, bounded, below, above):
    number = Number(ra.NDCG, "ndcg", read(value, None), bool(bounded), None, None, (5,))
    steps = np.array([[0], [0.4], [1], [1.04], [-below], [above], [-below - 1], [above + 1]])
    n_changes = [np.array([0, 0, 2, 2, 2, 2, 0, 0])]
    chance = measure_chance(SimpleNamespace(numbers=[number], means=[float(value) + steps / 100], n_changes=n_changes))
    assert chance.n_random == below + above
    assert chance.expected == pytest.approx((0, 0, 4 / chance.n_random))
    assert chance.shares == pytest.approx((0, 0, 3 / chance.n_random))


def test_of_conventions_at_the_same_distance_the_first_is_the_nearest():
    number = Number(ra.NDCG, "ndcg", read("0.50", None), True, None, None, (5,))
    found = candidates.Candidates([number], [])
    for name, means in (("first", [[np.nan, 0.7], [0.4, 0.6]]), ("second", [[0.6, 0.4]]), ("third", [[0.2, 0.9]])):
        conventions = lambda *indices, name=name: [(name, *indices)]  # noqa: E731
        found.add(SimpleNamespace(means=np.array(means)[..., None], conventions=conventions))
    assert found.nearest == (pytest.approx(0.1), ("first", 1, 0))
    assert found.groups() == []


@for_each(
    ("shares", "n_changes", "said", "verdict"),
    [
        ((0.5,), 3, "50.0 % too .0.5 conventions on average.", "as likely as not"),
        ((0.05, 0.5), 0, "50.0 % too .0.5 conventions on average., and a preset 5.0 %", "perhaps"),
        ((0.0499, 0.5), 0, "50.0 % too .0.5 conventions on average., and a preset 5.0 %", "hardly"),
        ((0.001, 0.3), 0, "30.0 % too .0.3 conventions on average., and a preset 0.1 %", "hardly"),
        ((0.0, 4e-4, 0.2), 1, "0.2 .*, and one that differs from a preset in 1 field at most one in 2500", "hardly"),
        ((0.0, 0.0, 4e-4, 0.2), 2, "0.2 .*, and one that differs from a preset in 2 fields at most one", "hardly"),
        ((0.0, 4e-4, 0.2), 0, "0.2 .*, and a preset none of 70", "hardly"),
    ],
)  # fmt: skip
def test_a_sentence_says_how_many_random_numbers_a_preset_and_any_convention_give(shares, n_changes, said, verdict):
    sentence = Chance(expected=shares, shares=shares, n_random=70).sentence(n_changes)
    assert re.search(f"a convention gives .*{said}", sentence), sentence
    assert sentence.endswith(f": the first match is {verdict} by chance.")


def test_of_more_than_20_notes_the_others_are_counted():
    number = Number(ra.NDCG, "ndcg", read("0.50", None), True, None, None, (5,))
    chance = Chance(expected=(0,), shares=(0,), n_random=1)
    for n, more in ((0, []), (20, []), (21, ["Note: 1 more; to_dict() has all"])):
        found = Matches([], numbers=[number], chance=chance, notes=tuple(map(str, range(n))))
        head, *notes = str(found).splitlines()
        assert head == "No convention of the grid gives 0.50."
        assert [note for note in notes if note] == [*(f"Note: {i}" for i in range(min(n, 20))), *more]


def test_a_preset_is_chance_less_often_than_a_convention_that_nobody_uses():
    found = ra.audit.identify(*generated(), value="0.4382", k=5)
    assert list(found.chance.expected) == sorted(found.chance.expected)
    assert list(found.chance.shares) == sorted(found.chance.shares)
    assert found.chance.share(0) < 0.02
    assert found.chance.share(3) > 0.1
    assert len(found[0].changes) == 3


@pytest.mark.usefixtures("search_once")
def test_two_numbers_of_a_preset_have_it_first_and_are_hardly_chance():
    queries, scores = generated(24)
    queries = ra.Queries(
        queries.labels,
        qid=queries.query_ids.repeat(np.diff(queries.indptr)),
        docid=[str(row) for row in range(len(scores))],
    )
    refused = []
    for name in ra.presets.names("ndcg"):
        conventions = {k: ra.presets.make(name, k) for k in (5, 10)}
        try:
            numbers = {f"ndcg@{k}": printed(queries, scores, convention) for k, convention in conventions.items()}
        except ra.InputError:
            refused.append(name)
            continue
        found = ra.audit.identify(queries, scores, value=numbers)
        first = found[0]
        assert first.covers(conventions[5]), name
        assert first.changes == {}, name
        assert verdict(found) == "hardly by chance", name
        values = tuple(ra.evaluate(queries, scores, first.convention.at(k)).value for k in (5, 10))
        assert first.values == values, name
    assert refused == ["autogluon"]


@pytest.mark.usefixtures("search_once")
def test_random_numbers_match_nothing_together_or_are_told_to_be_chance():
    queries, scores = generated()
    hits = 0
    for pair in np.random.default_rng(2).uniform(0.3, 0.6, (30, 2)):
        found = ra.audit.identify(queries, scores, value={5: f"{pair[0]:.4f}", 10: f"{pair[1]:.4f}"})
        hits += bool(found)
    assert hits == 0
    for number in np.random.default_rng(3).uniform(0.3, 0.6, 30):
        found = ra.audit.identify(queries, scores, value=f"{number:.4f}", k=5)
        assert not found or found[0].changes == {} or verdict(found) != "hardly by chance" or len(found[0].changes) == 1


@pytest.mark.parametrize("name", ["letor4", "trec_eval_9", "lightgbm", "catboost"])
def test_a_number_without_a_cutoff_goes_with_others(name):
    queries, scores = small(docids=True)
    conventions = {k: ra.presets.make(name, k) for k in (None, 5)}
    numbers = {k: printed(queries, scores, convention) for k, convention in conventions.items()}
    found = ra.audit.identify(queries, scores, value=numbers)
    [match] = [match for match in found if match.covers(conventions[5])]
    assert [number.name for number in found.numbers] == ["ndcg@5", "ndcg@all"]
    assert match.values[1] == ra.evaluate(queries, scores, match.convention.at(None)).value


def test_a_policy_that_means_nothing_without_a_cutoff_is_found_by_the_other_number():
    queries, scores = small()
    convention = ra.presets.letor4(5).replace(ideal="all")
    cutoffs = {"ndcg@all": None, "ndcg@5": 5, "@3": 3}
    numbers = {name: printed(queries, scores, convention.at(k)) for name, k in cutoffs.items()}
    found = ra.audit.identify(queries, scores, value=numbers)
    assert any(match.covers(convention) for match in found)


def test_numbers_of_several_models_have_one_convention():
    queries, first = generated(3)
    second = generated(24)[1]
    convention = ra.presets.letor4(10)
    numbers = {"a": printed(queries, first, convention), "b": printed(queries, second, convention)}
    pandas = pytest.importorskip("pandas")
    mapping, table = {"a": first, "b": second, "c": first}, pandas.DataFrame({"a": first, "b": second})
    for scores, k in ((mapping, "unknown"), (table, 10)):
        found = ra.audit.identify(queries, scores, value=numbers, k=k)
        assert found[0].covers(convention)
        assert verdict(found) == "hardly by chance"
        assert found[0].values == tuple(ra.evaluate(queries, s, convention).value for s in (first, second))


def test_models_that_retrieved_other_rows_have_queries_of_their_own():
    labels, sizes = [1, 0, 0, 1, 0, 0], [3, 3]
    queries = {
        "a": ra.Queries(labels, group_sizes=sizes),
        "b": ra.Queries(labels, group_sizes=sizes, retrieved=[True, True, False, True, True, True]),
    }
    scores = {"a": [1, 2, 3, 1, 3, 2], "b": [1, 2, 0, 3, 2, 1]}
    convention = ra.presets.trec_eval_9(2).replace(ties="input")
    numbers = {name: {2: printed(queries[name], scores[name], convention)} for name in scores}
    numbers["b"][3] = printed(queries["b"], scores["b"], convention.at(3))
    found = ra.audit.identify(queries, scores, value=numbers)
    assert [number.name for number in found.numbers] == ["a ndcg@2", "b ndcg@2", "b ndcg@3"]
    assert any(match.covers(convention) for match in found)


def test_where_one_number_does_not_fit_it_is_named():
    queries, scores = generated()
    numbers = {k: printed(queries, scores, f"letor4@{k}") for k in (5, 10)}
    found = ra.audit.identify(queries, scores, value={**numbers, 3: "0.4321"})
    assert not found
    [only] = ra.audit.identify(queries, scores, value=numbers)
    assert f"without ndcg@3 = 0.4321, 1 fit; the likeliest is {only}" in found.notes
    assert not [note for note in found.notes if note.startswith("without ndcg@5")]
    assert "No convention of the grid gives all of ndcg@5 = " in str(found)


def test_every_form_names_the_numbers_and_the_chance():
    queries, scores = generated()
    numbers = [printed(queries, scores, f"letor4@{k}") for k in (5, 10)]
    found = ra.audit.identify(queries, scores, value=numbers, k=[5, 10])
    plain = json.loads(found.to_json())
    assert plain["numbers"] == [
        {"name": f"ndcg@{k}", "value": number, "decimals": 4} for k, number in zip((5, 10), numbers, strict=True)
    ]
    assert plain["chance"]["expected"] == list(found.chance.expected)
    assert plain["matches"][0]["values"] == list(found[0].values)
    for text in (str(found), found.to_markdown(), found._repr_html_()):
        assert "by chance" in text
        assert "ndcg@10" in text


def test_a_measure_without_a_cutoff_takes_numbers_of_several_models():
    queries, first = small()
    second = first + queries.labels
    convention = ra.parse("lightgbm.auc").replace(average="uniform")
    numbers = {"a": printed(queries, first, convention), "b": printed(queries, second, convention)}
    found = ra.audit.identify(queries, {"a": first, "b": second}, value=numbers, measure="auc")
    assert any(match.covers(convention) for match in found)


SCORES = [1, 2]
MODELS = {"a": SCORES, "b": SCORES}


@pytest.mark.parametrize(
    ("value", "scores", "more", "error", "problem"),
    [
        (["0.5", "0.4"], SCORES, {}, ra.InputError, "value has 2 numbers, but k='unknown' is not a list"),
        (["0.5", "0.4"], SCORES, {"k": [1]}, ra.InputError, r"value has 2 numbers, but k=\[1\] is not a list"),
        ({}, SCORES, {}, ra.InputError, "value has no number"),
        ({"map@5": "0.5"}, SCORES, {}, ra.ConventionError, "named 'map@5', but the measure is 'ndcg'"),
        ({"bm25": "0.5"}, SCORES, {}, ra.ConventionError, "named 'bm25', but|named 'bm25', which has no cutoff"),
        ({0: "0.5"}, SCORES, {}, ra.ConventionError, "k=0 is not a cutoff"),
        ({5: "x"}, SCORES, {}, ra.InputError, "value='x' is not a number"),
        ("0.5", MODELS, {}, ra.InputError, "scores has 2 models, but value='0.5' does not name the model"),
        ({"c": "0.5"}, MODELS, {}, ra.InputError, "value has a number for the model 'c'; .* are 'a', 'b'"),
        ({"a": "0.5", "b": {2: "0.5"}}, MODELS, {}, ra.InputError, "the cutoff of a ndcg is unknown, but other"),
        ({"a": ["0.5", "0.4"], "b": ["0.5", "0.4"]}, MODELS, {"k": ["unknown", 5]}, ra.InputError, "of a ndcg is unk"),
    ],
)  # fmt: skip
def test_numbers_that_say_too_little_are_refused(value, scores, more, error, problem):
    with pytest.raises(error, match=problem) as caught:
        ra.audit.identify([1, 0], scores, value=value, group_sizes=[2], **more)
    assert "Hint: " in str(caught.value)
