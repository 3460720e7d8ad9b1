"""The modules that are mutated, which of them are kernels, and which module imports which."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

RANKING = {"sorting.py", "compiled.py"}  # modules of core/ranking that numba compiles


def modules(root: Path) -> list[Path]:
    """Return the paths of all modules except the command's, relative to the checkout."""
    paths = (path.relative_to(root) for path in (root / "rankadapters").rglob("*.py"))
    return sorted(path for path in paths if path.parts[1] != "cli")


def is_kernel(module: Path | str) -> bool:
    """Return whether numba compiles a module."""
    path = Path(module)
    if path.parent.name == "ranking":
        return path.name in RANKING
    return path.parent.name == "kernels" and path.parts[1] != "core" and path.name != "__init__.py"


@cache
def imports(root: Path, module: str) -> set[str]:
    """Return the modules of the package that a module imports, also inside functions."""
    imported = set()
    for node in ast.walk(ast.parse((root / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and str(node.value).startswith("rankadapters."):  # for `import_module`
            names = [str(node.value)]
        else:
            continue
        for name in names:
            path = name.replace(".", "/")
            imported |= {file for file in (f"{path}.py", f"{path}/__init__.py") if (root / file).is_file()}
    return imported
