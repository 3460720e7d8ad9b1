"""The audits are functions, though each lies in a folder of its name."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
from itertools import permutations

import pytest

import rankadapters as ra
from tests.audit_data import small

AUDITS = ("explain", "identify", "order", "page", "profile")
INSIDE = {
    "explain": "explain.gap",
    "identify": "identify.grid_search",
    "order": "order.report",
    "page": "page.html_page",
    "profile": "profile.pitfalls",
}
CHECK = f"""
import types
import rankadapters as ra
for name in {AUDITS}:
    assert isinstance(getattr(ra.audit, name), types.FunctionType), name
    exec(f"from rankadapters.audit import {{name}} as found")
    assert found is getattr(ra.audit, name)
"""


@pytest.mark.parametrize("first", [*INSIDE.values(), *AUDITS, "field_grid", "models"])
def test_an_audit_is_a_function_whatever_is_imported_first(first):
    code = f"import rankadapters.audit.{first}\n{CHECK}"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_audit_is_a_function_after_imports_in_any_order():
    orders = ["; ".join(f"from rankadapters.audit.{INSIDE[name]} import *" for name in o) for o in permutations(AUDITS)]
    code = "".join(f"{order}\n" for order in orders[:: len(orders) // 10])
    assert subprocess.run([sys.executable, "-c", code + CHECK], check=False).returncode == 0


@pytest.mark.parametrize("name", AUDITS)
def test_an_audit_stays_a_function_when_its_folder_is_loaded_again(name, monkeypatch):
    function = getattr(ra.audit, name)
    folder = f"rankadapters.audit.{name}"
    monkeypatch.delitem(sys.modules, folder)
    module = importlib.import_module(folder)  # as pytest does for the doctests of one file; it sets the attribute too
    assert module.__name__ == folder
    assert getattr(ra.audit, name) is function


def test_another_function_can_stand_in_an_audits_place(monkeypatch):
    monkeypatch.setattr(ra.audit, "order", len)
    assert ra.audit.order is len


def test_what_an_audit_gives_can_be_pickled():
    queries, scores = small()
    found = ra.audit.profile(queries, k=5, scores=scores)
    assert pickle.loads(pickle.dumps(found)) == found
