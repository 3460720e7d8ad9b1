"""The rules of docs/spec.md on fields that do not go together are exactly those of the measures."""

from __future__ import annotations

import math
import re
from pathlib import Path
from random import Random

import pytest

import rankadapters as ra
from rankadapters.core.declaration.fields import Cutoff, Gain, gain_table
from rankadapters.core.measures import MEASURES
from tests.helpers.parameters import examples

PAGE = (Path(__file__).parents[2] / "docs" / "spec.md").read_text(encoding="utf-8")


def is_at(fields, **values):
    """Return whether each of these fields has that value, or one of those values."""
    return all(fields.get(name) in (value if isinstance(value, tuple) else (value,)) for name, value in values.items())


def gain_of_unjudged(fields):
    """Return the gain of the label `unjudged`; None if a table has no such entry, infinity if it is no number."""
    label, gains = fields.get("unjudged"), gain_table(fields.get("gain", ""))
    if not isinstance(label, float):
        return math.inf
    if gains is not None:
        return dict(enumerate(gains)).get(label)
    if is_from(fields):
        return float(label >= level_of(fields))
    return {"exp2": 2**label - 1, "exp2-floor": 2 ** math.floor(label) - 1}.get(fields["gain"], label)


def is_from(fields):
    return fields.get("gain", "").startswith("from_") and "unjudged" in fields


def level_of(fields):
    return float(fields["gain"].removeprefix("from_"))


def average_of(fields):
    return fields["average"].partition("_")[0]


def weighs_rows(fields):
    return is_at(fields, average="row") or is_at(fields, pool="rows", average="query")


# What a reader writes instead, by row of the page's table; the fields have their measure too.
REWRITTEN = {
    "any `short` | `@all` | `short=pad`": lambda f: is_at(f, k=None) and "k" in f,
    "`ideal=all` | `@all` | `ideal=cutoff`": lambda f: is_at(f, k=None, ideal="all"),
    "`ideal=top-only` | `@all` | `ideal=retrieved-only`": lambda f: is_at(f, k=None, ideal="top-only"),
    "`divisor=cutoff` | AP, `@all` | `divisor=relevant`": lambda f: is_at(f, measure="ap", k=None, divisor="cutoff"),
    "`divisor=k` | Precision and FMeasure, `@all` | `divisor=retrieved`": lambda f: is_at(
        f, measure=("precision", "f-measure"), k=None, divisor="k"
    ),
    "`average=query-except-empty` | `empty=0` | `average=query`": lambda f: is_at(
        f, empty=0.0, average="query-except-empty"
    ),
    "`unjudged=B` | the label B has gain 0 | `unjudged=zero`": lambda f: gain_of_unjudged(f) == 0,
    "`unjudged=B` | `gain=from_C`, the label B has gain 1 | `unjudged=C`, or `unjudged=0` if C is negative": lambda f: (
        is_from(f) and gain_of_unjudged(f) == 1
    ),
    "`discount=log_2` | everywhere | `discount=log2`": lambda f: is_at(f, discount="log_2"),
    "`empty=skip` | `pool=rows`, `pool=pairs`, `pool=sums` | `empty=error`": lambda f: is_at(
        f, empty="skip", pool=("rows", "pairs", "sums")
    ),
    "`missing=zero` | AUC, `pool=pairs` | `missing=skip`": lambda f: is_at(
        f, measure="auc", missing="zero", pool="pairs"
    ),
    "`pool=sums` | Precision, `divisor=k` with a cutoff or `divisor=one`, `average=uniform` or `average=query` | "
    "`pool=queries` and `empty=0`": lambda f: (
        is_at(f, measure="precision", pool="sums", average=("uniform", "query"))
        and (is_at(f, divisor="one") or (is_at(f, divisor="k") and f["k"] is not None))
    ),
}
# When a reader refuses the fields that result, by item of the page's list.
REFUSED = {
    "`ideal=top-only` or `precision=none` occurs with `ties=average`": lambda f: (
        is_at(f, ideal="top-only", ties="average") or is_at(f, precision="none", ties="average")
    ),
    "`ideal=ones` has a cutoff above 1000000": lambda f: is_at(f, ideal="ones") and (f["k"] or 0) > 1_000_000,
    "`unjudged` is a number without an entry in the gain table": lambda f: gain_of_unjudged(f) is None,
    "AP has `pool=rows` with an `average` other than `uniform`, `query` or `row`, or with ties by docid": lambda f: (
        is_at(f, measure="ap", pool="rows")
        and (average_of(f) not in {"uniform", "query", "row"} or f["ties"].startswith("docid"))
    ),
    "AP has `ties=average` with `divisor=found`, or rows that count by weight (`average=row`, or `pool=rows` with "
    "`average=query`) with `ties=average` or `divisor=cutoff`": lambda f: (
        is_at(f, measure="ap", ties="average", divisor="found")
        or (is_at(f, measure="ap") and weighs_rows(f) and (is_at(f, ties="average") or is_at(f, divisor="cutoff")))
    ),
    "AUC has `average=pair` with a `pool` other than `pairs`, `pool=pairs` with an `average` other than `uniform`, "
    "`query` or `pair`, or `pool=rows` with one other than `uniform`, `query` or `row`": lambda f: (
        is_at(f, measure="auc", average="pair", pool=("queries", "rows"))
        or (is_at(f, measure="auc", pool="pairs") and average_of(f) not in {"uniform", "query", "pair"})
        or (is_at(f, measure="auc", pool="rows") and average_of(f) not in {"uniform", "query", "row"})
    ),
    "AUC or PairLogit has `average=pair` without `pairs=given`": lambda f: (
        is_at(f, measure=("auc", "pair-logit"), average="pair") and f["pairs"] != "given"
    ),
    "AUC has `pairs=given` with `average=row`, or with `average=query` and `pool=rows`": lambda f: (
        is_at(f, measure="auc", pairs="given") and weighs_rows(f)
    ),
    "Spearman, Kendall or Pearson has `pool=rows` with an `average` other than `uniform`": lambda f: (
        is_at(f, measure=("spearman", "kendall", "pearson"), pool="rows") and f["average"] != "uniform"
    ),
    "Precision has `divisor=relevant` with `relevant=label`": lambda f: is_at(
        f, measure="precision", divisor="relevant", relevant="label"
    ),
    "Precision, Recall or FMeasure has `pool=sums` with an `average` other than `uniform` or `query`": lambda f: (
        is_at(f, measure=("precision", "recall", "f-measure"), pool="sums")
        and average_of(f) not in {"uniform", "query"}
    ),
    "RR has `count=found` with `ties=average`": lambda f: is_at(f, measure="rr", count="found", ties="average"),
}


def test_every_rule_on_fields_together_is_tested_below():
    section = re.search("## Fields together\n(.*?)\n## ", PAGE, re.DOTALL)[1]
    items = re.findall(r"^- (.*?)[;.]$(?=\n- |\n\n)", section, re.MULTILINE | re.DOTALL)
    assert [" ".join(item.split()) for item in items] == list(REFUSED)
    assert re.findall(r"^\| (.*) \|$", section, re.MULTILINE)[1:] == list(REWRITTEN)


def values_of(kind):
    """Return some allowed values of a field: each word, and numbers at and beyond every threshold of the rules."""
    if isinstance(kind, Cutoff):
        return [None, 1, 10, 1_000_000, 1_000_001]
    some = (0.0, 0.5, 1.0, 2.0, 5.0) if kind.words else (0.5, 1.0, kind.numbers.least) if kind.numbers else ()
    words = ["table_0_0_2", "table_1_2_4", "table_0_1", *kind.words] if isinstance(kind, Gain) else [*kind.words]
    numbers = [number for number in some if kind.numbers and kind.numbers.take(number) is not None]
    texts = [(word, text) for word in kind.numbered for text in ("0.5", "1", "2")]
    numbered = [f"{word}_{text}" for word, text in texts if kind.range_of(word).take(float(text)) is not None]
    return [*words, *numbers, *numbered]


def as_the_page_says(measure, fields):
    """Return the fields that a reader takes for these, or None if it refuses them."""
    read = {"measure": measure, **fields}
    for row, applies in REWRITTEN.items():
        if not applies(read):
            continue
        for text in re.findall("`([^`]*)`", row.rpartition("|")[2]):
            name, value = text.split("=")
            read[name] = float(value) if name == "empty" and value == "0" else value
        if "from_C" in row:
            read["unjudged"] = max(level_of(fields), 0.0)
    refused = any(applies(read) for applies in REFUSED.values())
    return None if refused else {name: read[name] for name in fields}


@pytest.mark.long
@pytest.mark.parametrize("measure", MEASURES)
def test_a_measure_rewrites_and_refuses_exactly_what_the_page_says(measure):
    random, kinds = Random(measure), MEASURES[measure].declared()
    values = {name: values_of(kind) for name, kind in kinds.items()}
    for _ in range(examples(10_000)):
        fields = {name: random.choice(allowed) for name, allowed in values.items()}
        try:
            read = MEASURES[measure](**fields).to_dict()
        except ra.ConventionError:
            read = None
        assert read == as_the_page_says(measure, fields), fields
