"""Where things stand: the same names in each toolkit's folder, one name for one class, and modules without helpers."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections import defaultdict
from functools import cache
from inspect import Parameter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "rankadapters"
FILES = {
    "metrics": ("eval_metric", "custom_metric", "native_metric", "read_metric"),
    "objectives": ("objective", "lambdarank", "native_objective"),
    "callbacks": ("early_stopping", "EvalCallback"),
    "distributed": ("global_eval",),
    "parity": ("check_parity", "check_model"),
}
# An adapter is named alike in its siblings.
IN_EACH_TOOLKIT = {"EarlyStopping", "EvalMetric", "GlobalEval", "ObjectiveCallback"}
LOSSES = {"QueryCrossEntropy", "QueryRMSE", "QuerySoftMax"}  # a loss is an objective and a measure by one name
HELPERS = {
    "lightgbm": ("LABELS", "MOST_ROWS", "query_weights"),
    "objectives": ("as_objective",),
    "parity": (
        "FLOAT32",
        "FULL_DOUBLE",
        "differing",
        "relative",
        "require_expressible",
        "spelled",
    ),
}
# By module: the optional arguments of its functions that may be given without their names.
OPTIONS_BY_PLACE = {
    **{module: {} for module in ("", "audit", "lightgbm", "objectives", "sklearn", "xgboost")},
    "catboost": {"train": ["convention"]},
    "compare": {},
    "exports": {},
    "io": {"read_trec": ["run"]},
    "parity": {"crosscheck": ["convention"]},
    "trackers": {},
}


@cache
def trees():
    """Return the path and the syntax tree of every module of the package."""
    return [(path, ast.parse(path.read_text(encoding="utf-8"))) for path in PACKAGE.rglob("*.py")]


@pytest.mark.parametrize("toolkit", ["lightgbm", "xgboost", "catboost", "sklearn"])
def test_a_toolkit_s_folder_has_each_thing_in_the_file_of_its_siblings(toolkit):
    pytest.importorskip(toolkit)
    package = importlib.import_module(f"rankadapters.{toolkit}")
    found = {name: file for file, names in FILES.items() for name in names if name in package.__all__}
    assert {"native_metric", "read_metric", "check_parity"} <= set(found)
    for name, file in found.items():
        module = importlib.import_module(f"rankadapters.{toolkit}.{file}")
        assert getattr(module, name) is getattr(package, name)


def test_a_class_has_its_name_to_itself():
    places = defaultdict(list)
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(PACKAGE)))
    known = IN_EACH_TOOLKIT | LOSSES
    shared = {name: files for name, files in places.items() if len(files) > 1 and name not in known}
    assert shared == {}


@pytest.mark.parametrize(("module", "helpers"), HELPERS.items())
def test_a_module_exports_no_helper(module, helpers):
    if module == "lightgbm":
        pytest.importorskip(module)
    package = importlib.import_module(f"rankadapters.{module}")
    assert not set(helpers) & set(package.__all__)


def test_every_argument_has_a_name_to_be_given_by():
    nameless = {
        f"{path.stem}.{node.name}"
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.args.posonlyargs
    }
    assert nameless == {"workers.add", "models.__getitem__"}  # protocols of what others write, under names of theirs


@pytest.mark.parametrize("module", sorted(OPTIONS_BY_PLACE))
def test_options_of_functions_are_given_by_name(module):
    if module in {"catboost", "lightgbm", "sklearn", "xgboost"}:
        pytest.importorskip(module)
    package = importlib.import_module(f"rankadapters.{module}".rstrip("."))
    functions = {name: getattr(package, name) for name in package.__all__ if inspect.isfunction(getattr(package, name))}
    places = {name: _by_place(function) for name, function in functions.items()}
    assert Parameter.POSITIONAL_ONLY not in {each.kind for several in places.values() for each in several}
    options = {
        name: [each.name for each in several if each.default is not each.empty] for name, several in places.items()
    }
    assert {name: several for name, several in options.items() if several} == OPTIONS_BY_PLACE[module]


def _by_place(function):
    kinds = {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}
    return [each for each in inspect.signature(function).parameters.values() if each.kind in kinds]


def test_a_dataclass_says_only_what_is_not_the_default():
    defaults = {"frozen": False, "kw_only": False, "slots": False, "eq": True, "init": True, "repr": True}
    said = [
        (f"{path.name}:{keyword.value.lineno}", keyword.arg, keyword.value.value)
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dataclass"
        for keyword in node.keywords
    ]
    assert len(said) > 100
    assert [each for each in said if each[2] is not (not defaults[each[1]])] == []


def test_no_module_sets_an_attribute_of_what_another_made():
    """What one module patches into another is missing in a process that has not imported the first."""
    patched = []
    for path, tree in trees():
        body = tree.body
        own = {node.name for node in body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        for node in body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            owners = [target.value for target in targets if isinstance(target, ast.Attribute)]
            calls = node.value if isinstance(node, ast.Expr) else None
            if isinstance(calls, ast.Call) and isinstance(calls.func, ast.Name) and calls.func.id == "setattr":
                owners.append(calls.args[0])
            patched += [f"{path.name}: {ast.unparse(owner)}" for owner in owners if ast.unparse(owner) not in own]
    assert patched == []
