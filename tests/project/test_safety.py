"""What SECURITY.md promises of the package's own code."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

from tests.helpers.tables import for_each

PACKAGE = Path(__file__).parent.parent.parent / "rankadapters"
FILES = sorted(PACKAGE.rglob("*.py"))

CODE_FROM_TEXT = {"eval", "exec", "compile", "__import__"}
UNPICKLING = {"pickle", "cPickle", "cloudpickle", "dill", "marshal", "shelve", "joblib"}
NETWORK = {"socket", "ssl", "http", "urllib", "requests", "httpx", "aiohttp", "ftplib", "smtplib", "webbrowser"}
PROCESSES = {"subprocess", "multiprocessing", "pty"}
# The one file that starts a program: the command line that its user gave it.
STARTS_A_PROGRAM = {"conformance/programs.py": {"subprocess"}}
OF_OS = {"system", "popen", "fork", "execv", "execve", "spawnv", "posix_spawn"}


def imported(tree: ast.AST) -> set[str]:
    """Top-level names of all modules that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found


def called(tree: ast.AST) -> set[str]:
    """Names of functions that a file calls without a module before them."""
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {function.id for function in calls if isinstance(function, ast.Name)}


def of_os(tree: ast.AST) -> set[str]:
    """What a file takes of the module os."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return {node.attr for node in nodes if isinstance(node.value, ast.Name) and node.value.id == "os"}


@for_each("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_file_runs_text_unpickles_connects_or_starts_processes(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert not called(tree) & CODE_FROM_TEXT
    allowed = STARTS_A_PROGRAM.get(file.relative_to(PACKAGE).as_posix(), set())
    assert imported(tree) & (UNPICKLING | NETWORK | PROCESSES) == allowed
    assert not of_os(tree) & OF_OS


def test_a_program_is_started_without_a_shell():
    tree = ast.parse((PACKAGE / "conformance" / "programs.py").read_text(encoding="utf-8"))
    starts = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in dir(subprocess)]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.func in starts]
    assert [ast.unparse(call.func) for call in calls] == ["subprocess.Popen"]
    assert not [keyword for keyword in calls[0].keywords if keyword.arg == "shell"]


@pytest.mark.parametrize(
    "text", ["eval('1')", "import pickle", "from urllib.request import urlopen", "import os\nos.system('ls')"]
)
def test_what_is_forbidden_is_found(text):
    tree = ast.parse(text)
    assert called(tree) & CODE_FROM_TEXT or imported(tree) & (UNPICKLING | NETWORK) or of_os(tree) & OF_OS
