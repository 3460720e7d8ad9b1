"""The layout of the package: toolkits define the same names in the same files, and modules export no helpers."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections import defaultdict
from functools import cache
from inspect import Parameter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "rankadapters"
# Counts of the rows of each query id in the order of the ids: by numpy, and by pandas.
SORTED_COUNTS = re.compile(
    r"""\bunique\([^()]*qid[^()]*return_counts|\bgroupby\([^()]*qid[^()]*\)(?:\[[^\]]*\])?\.(?:size|count)\(\)"""
    r"""|qid\W*\.value_counts\(|\bbincount\([^()]*\bqid\)"""
)
FILES = {
    "metrics": ("eval_metric", "native_metric", "read_metric"),
    "objectives": ("objective", "lambdarank", "native_objective"),
    "callbacks": ("early_stopping", "EvalCallback"),
    "distributed": ("global_eval",),
    "parity": ("check_parity", "check_model"),
}
# Adapters that have the same name in every toolkit.
IN_EACH_TOOLKIT = {"EvalMetric", "ObjectiveCallback"}
LOSSES = {"QueryCrossEntropy", "QueryRMSE", "QuerySoftMax"}  # each is an objective and a measure
HELPERS = {
    "lightgbm": ("LABELS", "MOST_ROWS", "query_weights"),
    "objectives": ("as_objective",),
    "parity": ("FLOAT32", "FULL_DOUBLE", "differing", "relative", "require_expressible", "spelled"),
}
# By module: the optional arguments of its functions that may be passed by position.
POSITIONAL_OPTIONS = {
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
def test_toolkits_define_the_same_names_in_the_same_files(toolkit):
    pytest.importorskip(toolkit)
    package = importlib.import_module(f"rankadapters.{toolkit}")
    files = {name: file for file, names in FILES.items() for name in names if name in package.__all__}
    assert {"native_metric", "read_metric", "check_parity"} <= set(files)
    for name, file in files.items():
        module = importlib.import_module(f"rankadapters.{toolkit}.{file}")
        assert getattr(module, name) is getattr(package, name)


def test_no_module_reads_the_local_variables_of_another_function():
    """The call stack of a toolkit is private: a renamed local variable would break us, or mislead us in silence."""
    read = {
        (path.name, node.attr)
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in {"f_back", "f_locals", "tb_frame"}
    }
    assert read == {("errors.py", "f_back")}  # `warn_caller` finds the user's line


@pytest.mark.parametrize("folder", ["docs", "examples", "benchmarks", "rankadapters"])
def test_no_group_sizes_are_counted_in_the_order_of_sorted_ids(folder):
    """`numpy.unique` sorts the ids: of the rows q10 q10 q10 q9 q2 q2 it counts [3, 2, 1], not [3, 1, 2]."""
    root = PACKAGE.parent
    files = [
        path for path in (root / folder).rglob("*") if path.suffix in {".py", ".md"} and "_build" not in path.parts
    ]
    texts = {path: path.read_text(encoding="utf-8") for path in [*files, root / "README.md"]}
    assert len(texts) > 10
    assert [(path.name, line) for path, text in texts.items() for line in SORTED_COUNTS.findall(text)] == []


@pytest.mark.parametrize(
    "line",
    [
        "sizes = np.unique(train.qid, return_counts=True)[1]",
        "qids, sizes = np.unique(\n    data.qid[rows],\n    return_counts=True,\n)",
        'sizes = frame.groupby("qid").size()',
        'sizes = frame["qid"].value_counts(sort=False)',
        "sizes = np.bincount(qid)",
    ],
)
def test_counts_in_the_order_of_sorted_ids_are_recognized(line):
    assert SORTED_COUNTS.search(line)


def test_class_names_are_unique():
    files_by_class = defaultdict(list)
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                files_by_class[node.name].append(str(path.relative_to(PACKAGE)))
    allowed = IN_EACH_TOOLKIT | LOSSES
    repeated = {name: files for name, files in files_by_class.items() if len(files) > 1 and name not in allowed}
    assert repeated == {}


@pytest.mark.parametrize(("module", "helpers"), HELPERS.items())
def test_a_module_exports_no_helper(module, helpers):
    if module == "lightgbm":
        pytest.importorskip(module)
    package = importlib.import_module(f"rankadapters.{module}")
    assert not set(helpers) & set(package.__all__)


def test_every_argument_can_be_passed_by_name():
    positional_only = {
        f"{path.stem}.{node.name}"
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.args.posonlyargs
    }
    assert positional_only == {"global_metrics.add", "evaluate.__getitem__"}  # protocols, whose parameters users name


@pytest.mark.parametrize("module", sorted(POSITIONAL_OPTIONS))
def test_optional_arguments_are_passed_by_name(module):
    if module in {"catboost", "lightgbm", "sklearn", "xgboost"}:
        pytest.importorskip(module)
    package = importlib.import_module(f"rankadapters.{module}".rstrip("."))
    options = {}
    for name in package.__all__:
        if inspect.isroutine(function := getattr(package, name)):
            parameters = inspect.signature(function).parameters.values()
            assert Parameter.POSITIONAL_ONLY not in {parameter.kind for parameter in parameters}
            positional = [parameter for parameter in parameters if parameter.kind is Parameter.POSITIONAL_OR_KEYWORD]
            options[name] = [parameter.name for parameter in positional if parameter.default is not Parameter.empty]
    assert {name: names for name, names in options.items() if names} == POSITIONAL_OPTIONS[module]


def test_dataclass_decorators_repeat_no_default():
    defaults = dict.fromkeys(("frozen", "kw_only", "slots"), False)
    defaults |= dict.fromkeys(("eq", "init", "repr", "match_args"), True)
    settings = [
        (f"{path.name}:{keyword.value.lineno}", keyword.arg, keyword.value.value)
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dataclass"
        for keyword in node.keywords
    ]
    assert len(settings) > 100
    assert [setting for setting in settings if setting[2] is not (not defaults[setting[1]])] == []


def test_no_module_patches_objects_of_other_modules():
    """A patch would be missing in a process that has not imported the module that makes it."""
    patched = []
    for path, tree in trees():
        defined = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        for node in tree.body:
            targets = node.targets if isinstance(node, ast.Assign) else []
            owners = [target.value for target in targets if isinstance(target, ast.Attribute)]
            call = node.value if isinstance(node, ast.Expr) else None
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "setattr":
                owners.append(call.args[0])
            patched += [f"{path.name}: {ast.unparse(owner)}" for owner in owners if ast.unparse(owner) not in defined]
    assert patched == []
