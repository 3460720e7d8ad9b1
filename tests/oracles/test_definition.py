"""The definition in plain Python, which the kernels are compared with, compared with closed forms."""

from __future__ import annotations

import ast
from math import log2, log10
from pathlib import Path

import pytest

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from tests.oracles import ORACLES, oracle
from tests.oracles.rows import Row, discount, gain

ORACLE_FILES = [path for path in sorted(Path(__file__).parent.glob("*.py")) if path != Path(__file__)]


@pytest.mark.parametrize(
    ("name", "label", "expected"),
    [
        ("exp2", 3, 7), ("exp2", 1.5, 2**1.5 - 1), ("exp2", -1, -0.5), ("exp2-floor", 1.5, 1), ("linear", 2.5, 2.5),
        ("exp2-floor", -0.5, -0.5), ("linear", -1, -1), ("linear-positive", 2.5, 2.5), ("linear-positive", -1, 0),
        ("table_0_1_3", 2, 3), ("from_2", 2, 1), ("from_2", 3, 1), ("from_2", 1, 0), ("linear-from_2", 3, 3),
        ("linear-from_2", 2, 2), ("linear-from_2", 1, 0),
    ],
)  # fmt: skip
def test_gains_of_labels(name, label, expected):
    assert gain(label, name) == expected


@pytest.mark.parametrize(
    ("name", "rank", "expected"),
    [
        ("log2", 1, 1), ("log2", 3, 0.5), ("jk2", 1, 1), ("jk2", 2, 1), ("jk2", 4, 0.5), ("reciprocal", 4, 0.25),
        ("log_10", 2, 1 / log10(3)), ("log2", 2, 1 / log2(3)), ("power_0.5", 1, 1), ("power_0.5", 4, 0.125),
    ],
)  # fmt: skip
def test_discounts_of_ranks(name, rank, expected):
    assert discount(rank, name) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(("k", "chance"), [(1, 1 / 4), (2, 1 / 2), (None, 1)])
@pytest.mark.parametrize("first", [0, 3])
def test_success_of_a_tie_is_the_share_of_its_orders_that_have_a_relevant_row_in_reach(k, chance, first):
    convention = ra.parse("ranx.hit_rate@1").replace(k=k, ties="average")
    rows = [Row(label=float(index == first), score=0.5) for index in range(4)]
    assert oracle(rows, convention) == (chance, 1)


def test_every_measure_has_an_oracle():
    assert set(ORACLES) == set(MEASURES)
    assert len(set(ORACLES.values())) == len(MEASURES)


@pytest.mark.parametrize("path", ORACLE_FILES, ids=lambda path: path.stem)
def test_oracles_import_declarations_of_the_package_and_nothing_that_computes(path):
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    package = {name for name in names if name.startswith("rankadapters")}
    assert package <= {
        f"rankadapters.core.{name}" for name in ("errors", "declaration.convention", "declaration.fields")
    }
