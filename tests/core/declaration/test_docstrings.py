"""Docstrings of conventions list every field from its own text; a class adds only remarks."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import rankadapters as ra
from rankadapters.core.declaration.declared import RAISES, with_fields
from rankadapters.core.measures import MEASURES
from rankadapters.core.measures.losses import Loss
from rankadapters.core.measures.ranked import Discounted, Ranked

CLASSES = [*MEASURES.values(), ra.Convention, Ranked, Discounted, Loss]
MEASURE_FILES = sorted((Path(ra.__file__).parent / "core" / "measures").glob("*.py"))
TITLES = ["Parameters", "Raises", "References", "Examples"]


@pytest.mark.parametrize("kind", CLASSES)
def test_docstrings_explain_every_field_in_the_order_of_the_signature(kind):
    text = inspect.getdoc(kind)
    section = text.partition("\nParameters\n----------\n")[2].partition("\n\nRaises\n------\n")[0]
    entries = re.split(r"^(\w+) : .+\n", section, flags=re.MULTILINE)[1:]
    assert tuple(entries[::2]) == kind.fields()
    for field, body in zip(kind.declared().values(), entries[1::2], strict=True):
        entry = " ".join(body.split())
        assert entry.startswith(field.about)
        assert [word for word, meaning in field.meanings().items() if f"- `{word}`: {meaning}" not in entry] == []
        assert field.meanings() or f"Allowed: {field.allowed}." in entry
    titles = re.findall(r"^([A-Z]\w+)\n-{3,}$", text, re.MULTILINE)  # no section twice, all in the order of numpydoc
    assert titles == [title for title in TITLES if title in titles]
    assert titles[:2] == ["Parameters", "Raises"]


@pytest.mark.parametrize("path", MEASURE_FILES, ids=lambda path: path.stem)
def test_remarks_in_a_measure_file_are_on_its_fields_and_are_shown(path):
    module = importlib.import_module(f"rankadapters.core.measures.{path.stem}")
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        kind = getattr(module, getattr(node, "name", ""), None)
        if isinstance(kind, type) and issubclass(kind, ra.Convention):
            section = ast.get_docstring(node).partition("\nParameters\n----------\n")[2].partition("\n\n")[0]
            entries = re.findall(r"^(\S.*)\n((?:    .+\n?)+)", section, re.MULTILINE)
            assert {name for name, _ in entries} <= set(kind.fields())
            assert bool(entries) == bool(section)
            assert [body for _, body in entries if body not in kind.__doc__] == []


def test_the_errors_of_a_class_follow_the_one_for_wrong_fields():
    class_error = "InputError\n    When bound to queries: a label is outside [0, 1].\n\nReferences"
    assert class_error in ra.QueryCrossEntropy.__doc__
    assert "InputError" not in ra.QueryRMSE.__doc__


@pytest.mark.long
def test_python_without_docstrings_imports_the_package():
    code = "import rankadapters as ra; print(ra.AP.measure)"
    assert subprocess.check_output([sys.executable, "-OO", "-c", code], text=True).strip() == "ap"


def test_a_docstring_without_sections_gets_parameters_and_raises():
    text = with_fields("One line.", {"k": ra.NDCG.declared()["k"]})
    assert text.startswith("One line.\n\nParameters\n----------\nk : int or None\n    Only ranks 1..k count")
    assert text.endswith("\n\n" + RAISES + "\n")
