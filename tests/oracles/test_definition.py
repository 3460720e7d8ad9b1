"""The definition in plain Python, which the kernels are compared with, compared with closed forms."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import rankadapters as ra
from tests.oracles import oracle
from tests.oracles.rows import Row

ORACLE_FILES = [path for path in sorted(Path(__file__).parent.glob("*.py")) if path != Path(__file__)]


@pytest.mark.parametrize(("k", "chance"), [(1, 1 / 4), (2, 1 / 2), (None, 1)])
@pytest.mark.parametrize("first", [0, 3])
def test_success_of_a_tie_is_the_share_of_its_orders_that_have_a_relevant_row_in_reach(k, chance, first):
    convention = ra.parse("ranx.hit_rate@1").replace(k=k, ties="average")
    rows = [Row(label=float(index == first), score=0.5) for index in range(4)]
    assert oracle(rows, convention) == (chance, 1)


@pytest.mark.parametrize("path", ORACLE_FILES, ids=lambda path: path.stem)
def test_oracles_import_declarations_of_the_package_and_nothing_that_computes(path):
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    package = {name for name in names if name.startswith("rankadapters")}
    assert package <= {
        f"rankadapters.core.{name}" for name in ("errors", "declaration.convention", "declaration.fields")
    }
