"""The package's own code keeps the promises of SECURITY.md."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent.parent / "rankadapters"
CODE_FROM_TEXT = {"eval", "exec", "compile", "__import__"}
UNPICKLING = {"pickle", "cPickle", "cloudpickle", "dill", "marshal", "shelve", "joblib"}
NETWORK = {"socket", "ssl", "http", "urllib", "requests", "httpx", "aiohttp", "ftplib", "smtplib", "webbrowser"}
PROCESSES = {"subprocess", "multiprocessing", "pty"}
OS_PROCESSES = {"system", "popen", "fork", "execv", "execve", "spawnv", "posix_spawn"}
# One file starts a program, which is the command line that the user passes. Another reads machine code that it wrote
# itself, as numba's own cache does; SECURITY.md says where. A third reads what Spark's executors return.
ALLOWED = {
    "conformance/programs.py": {"subprocess"}, "core/ranking/jit.py": {"pickle"}, "spark/evaluation.py": {"pickle"},
}  # fmt: skip


def forbidden_names(code: str) -> set[str]:
    """Return the forbidden names that code calls, imports (also inside functions) or takes from os."""
    names = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            names |= {module.partition(".")[0] for module in modules} & (UNPICKLING | NETWORK | PROCESSES)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            names |= {node.func.id} & CODE_FROM_TEXT
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
            names |= {node.attr} & OS_PROCESSES
    return names


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_file_executes_text_unpickles_opens_connections_or_starts_processes(file):
    """Ruff's S602 to S606 refuse a shell."""
    allowed = ALLOWED.get(file.relative_to(PACKAGE).as_posix(), set())
    assert forbidden_names(file.read_text(encoding="utf-8")) == allowed


def test_forbidden_code_is_detected():
    for code in ("eval('1')", "import pickle", "from urllib.request import urlopen", "import os\nos.system('ls')"):
        assert len(forbidden_names(code)) == 1, code
