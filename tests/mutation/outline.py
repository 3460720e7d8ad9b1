"""The outline of a module: the statements around a line, the names it defines, and the lines that mention a name."""

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
    def of_file(cls, path: Path) -> Outline:
        """Return the outline of a module, which is read once."""
        return cls(path.read_text(encoding="utf-8"))

    def spans_around(self, line: int) -> list[tuple[int, int]]:
        """Return the spans of the statements around a line, the innermost first."""
        spans = {span(node) for node in self.statements if span(node)[0] <= line <= span(node)[1]}
        return sorted(spans, key=lambda ends: ends[1] - ends[0])

    def is_in_function(self, line: int) -> bool:
        """Return whether a line runs when a function is called; other lines run at import."""
        return any(start <= line <= end for start, end in self.bodies)

    def names_defined(self, line: int) -> set[str]:
        """Return the names that the statement of a line defines: of constants, fields, a function or a class."""
        statements = [node for node in self.statements if span(node)[0] <= line <= span(node)[1]]
        node = min(statements, key=lambda statement: span(statement)[1] - span(statement)[0])
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                return {name}
            case ast.Assign(targets=targets):
                return {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=name)):
                return {name}
        return set()

    def lines_that_mention(self, names: set[str]) -> set[int]:
        """Return the lines that mention any of these names."""
        return set().union(*(self.names.get(name, set()) for name in names))


def span(node: ast.stmt) -> tuple[int, int]:
    """Return the first and the last line of a statement, including its decorators."""
    decorator_lines = [decorator.lineno for decorator in getattr(node, "decorator_list", [])]
    return min([node.lineno, *decorator_lines]), node.end_lineno or node.lineno
