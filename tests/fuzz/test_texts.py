"""Texts of conventions, objectives, position biases and metrics are read and written back, or refused."""

from __future__ import annotations

import copy
import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters import objectives, presets
from rankadapters.presets.vocabulary import Vocabulary
from tests.fuzz.budget import share
from tests.fuzz.mutations import mutated
from tests.helpers.checkout import golden_file
from tests.objectives.examples import ALL

pytestmark = pytest.mark.long

PRESETS = [presets.make(name, k) for name in presets.names(None) for k in (5, None)]
CONVENTIONS = sorted({text for preset in PRESETS for text in (str(preset), preset.name, preset.short_name)})
WORDS = sorted({part for preset in PRESETS for part in str(preset).split("/")})
HASHED_NAME = re.compile(r".*/[0-9a-f]{7}")


def check_round_trip(convention):
    """Check that each text of a convention is read as that convention, and that copies are equal."""
    assert ra.parse(str(convention)) == convention
    assert str(ra.parse(str(convention))) == str(convention)
    assert re.fullmatch(r"[A-Za-z0-9@=._/-]+", str(convention))
    assert pickle.loads(pickle.dumps(convention)) == copy.deepcopy(convention) == convention
    if not HASHED_NAME.fullmatch(convention.name):
        assert ra.parse(convention.name) == convention
        assert ra.parse(convention.name).name == convention.name
    assert ra.parse(convention.short_name) == convention


def read_or_none(read, text):
    """Read a text; return None if it raises a ConventionError."""
    try:
        return read(text)
    except ra.ConventionError as error:
        assert str(error).strip()
        return None


@share(0.08)
@given(mutated(CONVENTIONS, WORDS) | st.text(max_size=12))
def test_texts_of_conventions(text):
    convention = read_or_none(ra.parse, text)
    if convention is not None:
        check_round_trip(convention)


OBJECTIVES = [str(value) for value in [*ALL, objectives.catboost.lambdamart()]]
BIASES = [
    str(objectives.lightgbm.position_bias()), str(objectives.unbiased_lambdamart()), str(objectives.xgboost.unbiased()),
]  # fmt: skip
PARTS = sorted({part for text in [*OBJECTIVES, *BIASES] for part in text.split("/")})


@share(0.04)
@given(mutated(OBJECTIVES, PARTS), mutated(BIASES, PARTS))
def test_texts_of_objectives(text, bias):
    for read, signature in (
        (objectives.parse, text), (objectives.parse_position_bias, bias), (objectives.parse, bias),
        (objectives.parse_position_bias, text),
    ):  # fmt: skip
        value = read_or_none(read, signature)
        if value is not None:
            assert str(value) == signature
            assert read(str(value)) == value
            assert pickle.loads(pickle.dumps(value)) == value


PIECES = [
    "top=", "type=Base", "5", "@5", "rel=", "-l2", "1" * 20, "1" * 5000, "\u0663", "\u017f", "decay=0.5",
    "hints=skip_train~false",
]  # fmt: skip


NAMES = {}  # of metrics, by tool
for tool_name, metric, options, _ in golden_file("measures")["names"]:
    if not options:
        NAMES.setdefault(tool_name, []).append(metric)


@share(0.03)
@given(st.sampled_from(sorted(NAMES)).flatmap(lambda tool: st.tuples(st.just(tool), mutated(NAMES[tool], PIECES))))
def test_tools_names_of_metrics(tool_and_text):
    tool, text = tool_and_text
    vocabulary = presets.TOOLS[tool]
    convention = read_or_none(vocabulary.read, text)
    if convention is None:
        return
    assert text.isascii()
    check_round_trip(convention)
    if isinstance(vocabulary, Vocabulary):
        assert vocabulary.read(vocabulary.write(convention)) == convention


LOSSES = [
    "QueryRMSE", "QuerySoftMax:beta=2;lambda=0.1", "PairLogit", "PairLogit:max_pairs=5", "QueryCrossEntropy:alpha=0.5",
    "LambdaMart:metric=NDCG;top=5;type=Exp;sigma=2;norm=true", "YetiRank:mode=NDCG;top=5;permutations=10;decay=0.9",
    "YetiRank:mode=Classic;noise=Gumbel;noise_power=2", "StochasticRank:metric=NDCG;top=2;type=Exp;mu=0.1;nu=0.01",
    "StochasticRank:metric=PFound;decay=0.9;num_estimations=2", "StochasticFilter:sigma=1;num_estimations=3",
]  # fmt: skip


@share(0.02)
@given(mutated(LOSSES, PIECES))
def test_losses_of_catboost(text):
    pytest.importorskip("catboost")
    objective = read_or_none(ra.catboost.read_objective, text)
    if objective is None:
        return
    assert text.isascii()
    assert objectives.parse(str(objective)) == objective
    try:
        loss = ra.catboost.native_objective(objective)["loss_function"]
    except ra.UnsupportedConventionError:
        return
    if isinstance(loss, str):
        assert ra.catboost.read_objective(loss) == objective
