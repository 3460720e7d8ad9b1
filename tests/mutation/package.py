"""The modules that are mutated, which of them are kernels, and who imports whom."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

# What is in the folders of kernels and runs as Python.
MACHINERY = {"__init__.py", "compiling.py", "dispatch.py", "kept_code.py", "views.py"}


def modules(root: Path) -> list[Path]:
    """All modules of the package but the command's, relative to the checkout."""
    found = (path.relative_to(root) for path in (root / "rankadapters").rglob("*.py"))
    return sorted(path for path in found if path.parts[1] != "cli")


def is_kernel(module: Path | str) -> bool:
    """Tell whether a module is of machine code."""
    path = Path(module)
    return path.parent.name == "kernels" and path.name not in MACHINERY


@cache
def imports(root: Path, module: str) -> set[str]:
    """Modules of the package that a module imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse((root / module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
        elif isinstance(node, ast.Constant) and str(node.value).startswith("rankadapters."):  # for `import_module`
            names = [str(node.value)]
        else:
            continue
        for name in names:
            path = name.replace(".", "/")
            found |= {each for each in (f"{path}.py", f"{path}/__init__.py") if (root / each).is_file()}
    return found


def dependents(root: Path, module: str) -> set[str]:
    """A module and all that import it, however indirectly."""
    importers: dict[str, set[str]] = {}
    for importer in map(str, modules(root)):
        for imported in imports(root, importer):
            importers.setdefault(imported, set()).add(importer)
    found, new = set(), {module}
    while new:
        found |= new
        new = set().union(*(importers.get(each, set()) for each in new)) - found
    return found
