"""Where the package can be mutated, and a sample of it: one mutant at each of some random places.

Cosmic-ray's operators make the mutants. A place is an operator, a number, a condition, a loop or a decorator; that `+`
may become any of eleven operators makes it no likelier to be chosen than a number, which may become two.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.ast.ast_query import ASTQuery
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from cosmic_ray.work_item import MutationSpec, WorkItem

from tests.mutation.package import modules

PLAIN = {"name", "newline", "string", "endmarker", "fstring_start", "fstring_string", "fstring_end"}
# What no test should see: types, and stubs for type checkers.
FOR_TYPE_CHECKERS = {"overload", "override", "final"}

Position = tuple[int, int]


class Place(NamedTuple):
    """One place of a module, and the mutants that cosmic-ray makes there."""

    start: Position
    end: Position
    definition: str | None
    variants: list[tuple[str, int]]  # operator, and which of its occurrences in the module


def places(source: str) -> list[Place]:
    """Find all places of a module but those that only type checkers read."""
    skipped = _for_type_checkers(source)
    nodes = [node for node in ast_nodes(get_ast(source)) if node.type not in PLAIN]
    operators = [node for node in nodes if node.type == "operator"]
    found: dict[tuple[Position, str], Place] = {}
    for name in operator_names():
        kind = name.partition("/")[2].partition("_")[0]
        among = operators if kind == "ReplaceBinaryOperator" else nodes
        for occurrence, (node, start, end) in enumerate(_positions(name, among)):
            if any(first <= start < last for first, last in skipped):
                continue
            place = found.get((start, kind))
            if place is None:
                place = found[start, kind] = Place(start, end, ASTQuery(node).get_definition_name(), [])
            place.variants.append((name, occurrence))
    return list(found.values())


def _positions(name: str, nodes: list[Any]) -> Iterator[tuple[Any, Position, Position]]:
    operator_class = get_operator(name)
    if operator_class.arguments():  # names of variables, which we do not give
        return
    operator = operator_class()
    for node in nodes:
        for start, end in operator.mutation_positions(node):
            yield node, start, end


def _for_type_checkers(source: str) -> list[tuple[Position, Position]]:
    """Spans of annotations, of `__all__`, and of what runs under TYPE_CHECKING or not at all."""
    spans = []
    for node in ast.walk(ast.parse(source)):
        annotations = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        spans += [each for each in annotations if each is not None]
        if _is_for_type_checkers(node):
            spans.append(node)
    return [((_first_line(each), each.col_offset), _end(each)) for each in spans]


def _first_line(node: Any) -> int:
    return min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])


def _end(node: Any) -> Position:
    return node.end_lineno, node.end_col_offset


def _is_for_type_checkers(node: ast.AST) -> bool:
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.FunctionDef(decorator_list=decorators):
            return any(isinstance(each, ast.Name) and each.id in FOR_TYPE_CHECKERS for each in decorators)
    return False


def mutated(source: str, operator_name: str, occurrence: int) -> str | None:
    """Source with one mutation; None where it is no longer Python, or as odd as `x is 1`, or does not change at all."""
    try:
        code = mutate_code(source, get_operator(operator_name)(), occurrence)
    except AttributeError:  # cosmic-ray 8.7.0 fails at errors with a dot, as in `except xgb.core.XGBoostError`
        return None
    if code is None or code == source:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            compile(code, "<mutant>", "exec", dont_inherit=True)
        except (SyntaxError, SyntaxWarning):
            return None
    return code


def sample(root: Path, size: int, seed: int) -> Iterator[WorkItem]:
    """Choose random places of the whole package, and one mutant at each, in random order."""
    random = Random(seed)
    sources = {module: (root / module).read_text(encoding="utf-8") for module in modules(root)}
    everywhere = [(module, place) for module, source in sources.items() for place in places(source)]
    random.shuffle(everywhere)
    number = 0
    for module, place in everywhere:
        random.shuffle(place.variants)
        name, occurrence = next(
            (each for each in place.variants if mutated(sources[module], *each) is not None), (None, 0)
        )
        if name is None:
            continue
        spec = MutationSpec(module, name, occurrence, place.start, place.end, {}, place.definition)
        yield WorkItem.single(f"{number:06d}", spec)
        number += 1
        if number == size:
            return
