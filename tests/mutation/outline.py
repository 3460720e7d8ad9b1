"""What stands where in a module: statements around a line, what it defines, and where a name is mentioned."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

Functions = ast.FunctionDef | ast.AsyncFunctionDef


class Outline:
    """Statements and names of a module, by line."""

    def __init__(self, source: str) -> None:
        nodes = list(ast.walk(ast.parse(source)))
        self.statements = [node for node in nodes if isinstance(node, ast.stmt)]
        self.bodies = [
            (node.body[0].lineno, node.end_lineno) for node in self.statements if isinstance(node, Functions)
        ]
        self.names: dict[str, set[int]] = {}
        for node in nodes:
            if name := getattr(node, "id", None) or getattr(node, "attr", None):
                self.names.setdefault(name, set()).add(node.lineno)

    @classmethod
    @cache
    def of(cls, path: Path) -> Outline:
        """Read a module, once."""
        return cls(path.read_text(encoding="utf-8"))

    def around(self, line: int) -> list[tuple[int, int]]:
        """Spans of the statements around a line, the innermost first."""
        spans = {span(node) for node in self.statements if span(node)[0] <= line <= span(node)[1]}
        return sorted(spans, key=lambda each: each[1] - each[0])

    def is_in_function(self, line: int) -> bool:
        """Tell whether a line runs when a function is called; other lines run when the module is imported."""
        return any(start <= line <= end for start, end in self.bodies)

    def defined(self, line: int) -> set[str]:
        """Names that the statement of a line defines: a constant, a field, a function or a class."""
        around = [node for node in self.statements if span(node)[0] <= line <= span(node)[1]]
        node = min(around, key=lambda each: span(each)[1] - span(each)[0])
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                return {name}
            case ast.Assign(targets=targets):
                return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                return {name}
        return set()

    def mentions(self, names: set[str]) -> set[int]:
        """Lines that mention any of these names."""
        return set().union(*(self.names.get(name, set()) for name in names))


def span(node: ast.stmt) -> tuple[int, int]:
    """First and last line of a statement, its decorators among them."""
    decorators = [each.lineno for each in getattr(node, "decorator_list", [])]
    return min([node.lineno, *decorators]), node.end_lineno or node.lineno
