"""The package's own code keeps the promises of SECURITY.md."""

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
# One file starts a program, which is the command line that the user passes. Another reads machine code that it wrote
# itself, as numba's own cache does; SECURITY.md says where. A third reads what Spark's executors return.
ALLOWED = {
    "conformance/programs.py": {"subprocess"}, "core/ranking/jit.py": {"pickle"}, "spark/evaluation.py": {"pickle"},
}  # fmt: skip
OS_PROCESSES = {"system", "popen", "fork", "execv", "execve", "spawnv", "posix_spawn"}


def imported_modules(tree: ast.AST) -> set[str]:
    """Return the top-level names of all modules that a file imports, also inside functions."""
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules.add(node.module.partition(".")[0])
    return modules


def called_names(tree: ast.AST) -> set[str]:
    """Return the names of functions that a file calls without a prefix."""
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {function.id for function in calls if isinstance(function, ast.Name)}


def os_attributes(tree: ast.AST) -> set[str]:
    """Return the attributes of the module os that a file uses."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return {node.attr for node in nodes if isinstance(node.value, ast.Name) and node.value.id == "os"}


def forbidden_names(tree: ast.AST) -> set[str]:
    """Return the forbidden names that a file calls, imports or takes from os."""
    modules = imported_modules(tree) & (UNPICKLING | NETWORK | PROCESSES)
    return modules | called_names(tree) & CODE_FROM_TEXT | os_attributes(tree) & OS_PROCESSES


@for_each("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_file_executes_text_unpickles_opens_connections_or_starts_processes(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert forbidden_names(tree) == ALLOWED.get(file.relative_to(PACKAGE).as_posix(), set())


def test_a_program_is_started_without_a_shell():
    tree = ast.parse((PACKAGE / "conformance" / "programs.py").read_text(encoding="utf-8"))
    starts = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in dir(subprocess)]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.func in starts]
    assert [ast.unparse(call.func) for call in calls] == ["subprocess.Popen"]
    assert not [keyword for keyword in calls[0].keywords if keyword.arg == "shell"]


@pytest.mark.parametrize(
    "text", ["eval('1')", "import pickle", "from urllib.request import urlopen", "import os\nos.system('ls')"]
)
def test_forbidden_code_is_detected(text):
    assert forbidden_names(ast.parse(text))
