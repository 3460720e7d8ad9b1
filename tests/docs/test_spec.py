"""The specification docs/spec.md is up to date; its grammar and schemas accept what the package writes."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from tests.docs.scripts import DOCS, script
from tests.helpers.conventions import WITH_PRESET, convention_of, conventions, without_docids
from tests.helpers.parameters import examples, short
from tests.oracles.definition import evaluate
from tests.oracles.rows import Row

interchange = script("interchange")
PAGE = (DOCS / "spec.md").read_text(encoding="utf-8")
EXAMPLES = [json.loads(line) for line in re.search("```json\n(.*?)```", PAGE, re.DOTALL)[1].splitlines()]
EXAMPLE_CONVENTIONS = [ra.parse(example["convention"]) for example in EXAMPLES]
ONE_PER_MEASURE = list({convention.measure: convention for convention in EXAMPLE_CONVENTIONS}.values())


@cache
def validator(name):
    jsonschema = pytest.importorskip("jsonschema")
    return jsonschema.Draft202012Validator(json.loads((DOCS / "schemas" / f"{name}.schema.json").read_text("utf-8")))


def accepts(name, document):
    return validator(name).is_valid(document)


@pytest.fixture(scope="module")
def matches_grammar():
    abnf = pytest.importorskip("abnf")

    class Rules(abnf.Rule):
        """The rules of the page."""

    Rules.load_grammar(re.search("```abnf\n(.*?)```", PAGE, re.DOTALL)[1].replace("\n", "\r\n"))

    def matches(text):
        try:
            Rules("signature").parse_all(text)
        except abnf.ParseError:
            return False
        return True

    return matches


def matches_pattern(text):
    """Return whether the pattern of a schema matches the whole text, as `$` means in ECMAScript."""
    patterns = (interchange.pattern_of(measure) for measure in MEASURES.values())
    return any(re.fullmatch(pattern, text) for pattern in patterns)


@pytest.mark.parametrize(("path", "text"), interchange.files().items(), ids=lambda path: getattr(path, "name", ""))
def test_a_generated_file_is_up_to_date(path, text):
    assert path.read_text(encoding="utf-8") == text, "run `python docs/interchange.py`"


# The grammar


@pytest.mark.long
@given(conventions())
@settings(max_examples=examples(300), deadline=None)
def test_the_grammar_accepts_every_convention(matches_grammar, convention):
    assert matches_grammar(str(convention))
    assert matches_pattern(str(convention))


def mutilated(signature):
    """Yield texts that are not signatures: a field is missing, two are swapped, the version is unknown, ..."""
    head, *fields, version = signature.split("/")
    for i in range(len(fields)):
        yield "/".join([head, *fields[:i], *fields[i + 1 :], version])
        yield "/".join([head, *fields[: i + 1], *fields[i:], version])
        yield "/".join([head, *fields[:i], f"{fields[i]}x", *fields[i + 1 :], version])
        yield "/".join([head, *fields[:i], f"{fields[i].partition('=')[0]}=", *fields[i + 1 :], version])
        yield "/".join([head, *fields[:i], fields[i].upper(), *fields[i + 1 :], version])
    for i, (first, second) in enumerate(pairwise(fields)):
        yield "/".join([head, *fields[:i], second, first, *fields[i + 2 :], version])
    rest = "/".join([*fields, version])
    measure = head.partition("@")[0]
    wrong_heads = (f"{measure}@0", f"{measure}@-1", f"{measure}@007", f"{measure}@", f"{measure}x", "")
    yield from (f"{wrong_head}/{rest}" for wrong_head in wrong_heads)
    yield f"{measure}/{rest}" if "@" in head else f"{measure}@10/{rest}"
    yield from ("/".join([head, *fields]), f"{signature}0", f"{signature}/", f" {signature}", f"{signature}\n")
    yield from (signature.upper(), signature.removesuffix("1") + "2", signature + signature, "")


@pytest.mark.long
@pytest.mark.parametrize("convention", ONE_PER_MEASURE, ids=lambda convention: convention.measure)
def test_the_grammar_refuses_mutilated_signatures(convention, matches_grammar):
    texts = list(mutilated(str(convention)))
    assert [text for text in texts if matches_grammar(text)] == []
    assert [text for text in texts if matches_pattern(text)] == []


@pytest.mark.parametrize("number", ["1.0", "01", "+1", ".5", "1.", "1e5", "1e+22", "-0", "nan", "inf", "1_0", "1,5"])
def test_the_grammar_refuses_noncanonical_numbers(number, matches_grammar):
    signature = str(ra.parse("catboost.mrr@3").replace(relevant="above_7"))
    assert matches_grammar(signature)
    changed = signature.replace("above_7", f"above_{number}")
    assert matches_grammar(changed) is matches_pattern(changed) is False


# The schemas


@pytest.mark.parametrize("name", ["score", "vectors"])
def test_a_schema_is_valid_and_strict(name):
    jsonschema = pytest.importorskip("jsonschema")
    schema = interchange.schemas()[f"{name}.schema.json"]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert [wrong for wrong in (None, [], 1, "", {}) if accepts(name, wrong)] == []


def score_under(convention):
    return ra.evaluate([1, 0, 0, 0], [2, 1, 1, 2], convention, group_sizes=[2, 2])


@pytest.mark.parametrize("text", ["yahoo@1", "textbook@all", "catboost.mrr@2", "lightgbm.map@3", "catboost.query_rmse"])
def test_a_score_fits_the_schema_and_is_restored_from_json(text):
    score = score_under(text)
    validator("score").validate(json.loads(score.to_json()))
    parsed = ra.Score.from_json(score.to_json())
    assert parsed == score
    assert parsed - score == 0  # raises unless the queries are the same


@pytest.mark.parametrize(
    "change",
    [
        {"value": "0.5"}, {"value": None}, {"convention": "yahoo@1"}, {"convention": str(ra.parse("yahoo@1"))[:-3]},
        {"convention": str(ra.parse("yahoo@1")).replace("exp2", "exp3")}, {"n_queries": -1}, {"n_short": 0.5},
        {"digest": "x"}, {"digest": 3}, {"model": "mine"},
    ],
    ids=short,
)  # fmt: skip
def test_the_schema_refuses_wrong_scores(change):
    document = json.loads(score_under("yahoo@1").to_json())
    assert accepts("score", document)
    assert not accepts("score", {**document, **change})
    incomplete = [{member: document[member] for member in document if member != name} for name in document]
    assert [wrong for wrong in incomplete if accepts("score", wrong)] == []


DAMAGE = (
    None, True, False, "", "nope", "0", "0x", "0x_f", "0XF", "0xf ", "0xf\n", "-0x1", [], [1], {}, -1, -0.5, 0.5, 3,
    1e300, 10**400, float("nan"), float("inf"),
)  # fmt: skip


def damaged_scores(document):
    """Yield copies of the JSON document of a score, each with one wrong or changed member."""
    for name in document:
        yield {member: value for member, value in document.items() if member != name}
        yield from ({**document, name: value} for value in DAMAGE)
        yield {**document, name.upper(): document[name]}
    signatures = [*mutilated(document["convention"]), *{ra.parse(document["convention"]).name, "yahoo@1"}]
    yield from ({**document, "convention": text} for text in signatures)


@pytest.mark.long
@pytest.mark.parametrize(
    "convention", [without_docids(convention_of(measure)) for measure in WITH_PRESET], ids=lambda c: c.measure
)
def test_the_reader_of_scores_refuses_what_the_schema_refuses(convention):
    score = ra.evaluate([1, 0, 0, 1], [2, 1, 1, 2], convention, group_sizes=[2, 2])
    document = json.loads(score.to_json())
    assert ra.Score.from_dict(document) == score
    for damaged in damaged_scores(document):
        value = damaged.get("value")
        refused = not accepts("score", damaged) or (isinstance(value, float) and not math.isfinite(value))
        for read in (ra.Score.from_dict, lambda damaged: ra.Score.from_json(json.dumps(damaged))):
            with suppress(ra.InputError, ra.ConventionError):
                read(damaged)
                assert not refused, damaged


@pytest.mark.parametrize(
    "text", ["yahoo@1+gain=linear", "rectools@1", "yahoo@1+unjudged=3", "lightgbm@1+empty=1", "ranx.hits@1"]
)
def test_a_value_that_other_data_can_have_is_read(text):
    document = score_under(text).to_dict()
    assert ra.Score.from_dict({**document, "value": 7}).value == 7.0


@pytest.mark.long
@pytest.mark.parametrize("text", ["yahoo@all", "letor4.p@1", "sklearn.roc_auc_score"])
def test_vectors_fit_the_schema_and_wrong_ones_do_not(text):
    document = json.loads(ra.conformance.vectors(text).to_json())
    validator("vectors").validate(document)
    case = document["cases"][0]
    changes = (
        {"value": "1"}, {"value": True}, {"k": 0}, {"queries": []}, {"queries": [{"labels": [1]}]},
        {"queries": [{"labels": [1], "scores": ["a"]}]}, {"shows": ["gains"]}, {"purpose": 1}, {"optional": 0},
        {"id": 0},
    )  # fmt: skip
    wrong = [{**document, "cases": [{**case, **change}]} for change in changes]
    wrong += [{**document, "cases": []}, {**document, "convention": text}, {"cases": document["cases"]}]
    wrong += [{**document, "cases": [{member: case[member] for member in case if member != name}]} for name in case]
    assert [copy for copy in wrong if accepts("vectors", copy)] == []


# The page


def oracle_rows(query):
    """Return the rows of a query of an example as the oracles take them."""
    size, pairs = len(query["labels"]), query.get("pairs", [])
    columns = {
        "docid": query.get("docid", [""] * size), "retrieved": query.get("retrieved", [True] * size),
        "judged": query.get("judged", [True] * size), "weight": query.get("row_weight", [1.0] * size),
        "beats": [tuple((loser, weight) for winner, loser, weight in pairs if winner == row) for row in range(size)],
    }  # fmt: skip
    rows = zip(query["labels"], query["scores"], *columns.values(), strict=True)
    return [Row(label, score, **dict(zip(columns, rest, strict=True))) for label, score, *rest in rows]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["convention"])
def test_an_example_has_the_value_of_the_definition(example):
    convention = ra.parse(example["convention"])
    queries = [(oracle_rows(query), query.get("query_weight", 1.0)) for query in example["queries"]]
    assert str(convention) == example["convention"]
    if example["value"] is None:
        with pytest.raises(ra.InputError):
            evaluate(queries, convention)
    else:
        assert evaluate(queries, convention) == pytest.approx(example["value"], rel=1e-12)


def test_the_worked_example_shows_the_right_numbers():
    signature = re.search(r"Two queries under\n`(.*?)`", PAGE)[1]
    dcg, ideal = 1.5 + 1.5 / math.log2(3) + 1 / 2, 3 + 1 / math.log2(3)
    score = ra.evaluate([2, 0, 1, 0, 0], [0.5, 0.5, 0.1, 1, 2], signature, group_sizes=[3, 2])
    assert score.value == pytest.approx(dcg / ideal / 2)
    for number in (dcg, ideal, dcg / ideal, dcg / ideal / 2):
        assert f"{number:.5f}" in PAGE


def test_every_formula_is_of_one_measure():
    formulas = PAGE.partition("\n## The formulas\n")[2].partition("\n## ")[0]
    terms = [name for line in re.findall(r"^- \*\*(.+?)\*\*: ", formulas, re.MULTILINE) for name in line.split(", ")]
    assert sorted(terms) == sorted({*terms} & {measure.__name__ for measure in MEASURES.values()})


def words_of_field(name):
    kinds = [measure.declared()[name] for measure in MEASURES.values() if name in measure.fields()]
    return {word for kind in kinds for word in (*kind.words, *kind.numbered)}


@pytest.mark.parametrize("name", sorted({name for measure in MEASURES.values() for name in measure.fields()} - {"k"}))
def test_every_word_of_a_field_has_an_example(name):
    values = [getattr(ra.parse(example["convention"]), name, "") for example in EXAMPLES]
    texts = {text for value in map(str, values) for text in (value, value.rpartition("_")[0])}
    assert words_of_field(name) <= texts
