"""The places where the package can be mutated, and a sample of mutants at random places.

Cosmic-ray's operators make the mutants. A place is an operator, a number, a condition, a loop or a decorator. A place
is chosen before its mutant, so `+`, which has eleven mutants, is chosen no more often than a number, which has two.
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

# Syntax that no operator mutates.
PLAIN = {"name", "newline", "string", "endmarker", "fstring_start", "fstring_string", "fstring_end"}
# Decorators that only type checkers read.
FOR_TYPE_CHECKERS = {"overload", "override", "final"}

Position = tuple[int, int]


class Place(NamedTuple):
    """A place in a module, and the mutants that cosmic-ray makes there."""

    start: Position
    end: Position
    definition: str | None
    variants: list[tuple[str, int]]  # an operator, and the number of its occurrence in the module


def places(source: str) -> list[Place]:
    """Return all places of a module except those that only type checkers read."""
    skipped = _for_type_checkers(source)
    nodes = [node for node in ast_nodes(get_ast(source)) if node.type not in PLAIN]
    operators = [node for node in nodes if node.type == "operator"]
    by_position: dict[tuple[Position, str], Place] = {}
    for name in operator_names():
        kind = name.partition("/")[2].partition("_")[0]
        candidates = operators if kind == "ReplaceBinaryOperator" else nodes
        for occurrence, (node, start, end) in enumerate(_positions(name, candidates)):
            if any(first <= start < last for first, last in skipped):
                continue
            place = by_position.get((start, kind))
            if place is None:
                place = by_position[start, kind] = Place(start, end, ASTQuery(node).get_definition_name(), [])
            place.variants.append((name, occurrence))
    return list(by_position.values())


def _positions(name: str, nodes: list[Any]) -> Iterator[tuple[Any, Position, Position]]:
    operator_class = get_operator(name)
    if operator_class.arguments():  # it needs names of variables, which we do not pass
        return
    operator = operator_class()
    for node in nodes:
        for start, end in operator.mutation_positions(node):
            yield node, start, end


def _for_type_checkers(source: str) -> list[tuple[Position, Position]]:
    """Return the spans of annotations, `__all__`, TYPE_CHECKING blocks and overloads."""
    nodes = []
    for node in ast.walk(ast.parse(source)):
        annotations = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        nodes += [annotation for annotation in annotations if annotation is not None]
        if _is_for_type_checkers(node):
            nodes.append(node)
    return [((_first_line(node), node.col_offset), _end(node)) for node in nodes]


def _first_line(node: Any) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", []))])


def _end(node: Any) -> Position:
    return node.end_lineno, node.end_col_offset


def _is_for_type_checkers(node: ast.AST) -> bool:
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.FunctionDef(decorator_list=decorators):
            return any(isinstance(name, ast.Name) and name.id in FOR_TYPE_CHECKERS for name in decorators)
    return False


def mutate(source: str, operator_name: str, occurrence: int) -> str | None:
    """Return the source with one mutation; None if it is invalid, raises a SyntaxWarning or is unchanged."""
    try:
        code = mutate_code(source, get_operator(operator_name)(), occurrence)
    except AttributeError:  # cosmic-ray 8.7.0 fails at `except` with a dot, as in `except xgb.core.XGBoostError`
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
    """Yield one mutant at each of `size` random places of the package, in random order."""
    random = Random(seed)
    sources = {module: (root / module).read_text(encoding="utf-8") for module in modules(root)}
    all_places = [(module, place) for module, source in sources.items() for place in places(source)]
    random.shuffle(all_places)
    number = 0
    for module, place in all_places:
        random.shuffle(place.variants)
        valid = (variant for variant in place.variants if mutate(sources[module], *variant) is not None)
        name, occurrence = next(valid, (None, 0))
        if name is None:
            continue
        spec = MutationSpec(module, name, occurrence, place.start, place.end, {}, place.definition)
        yield WorkItem.single(f"{number:06d}", spec)
        number += 1
        if number == size:
            return
