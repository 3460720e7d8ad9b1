"""Random mutants of the package, made by the operators of cosmic-ray."""

from __future__ import annotations

import ast
import difflib
import warnings
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

PLAIN = {"name", "newline", "string", "endmarker", "fstring_start", "fstring_string", "fstring_end"}  # never mutated
TYPES = {"ReplaceBinaryOperator": "operator", "ReplaceComparisonOperator": "comparison"}  # of nodes, by kind of mutant
COMPILED = ("ranking/sorting.py", "ranking/compiled.py")  # kernels in a folder of another name

Position = tuple[int, int]


class Mutant(NamedTuple):
    """A change at one place of a module."""

    module: str
    line: int
    source: str  # of the whole module, with the change
    diff: str

    @property
    def is_kernel(self) -> bool:
        """Whether numba compiles the module."""
        return Path(self.module).parent.name == "kernels" or self.module.endswith(COMPILED)


def sample(root: Path, options: Any) -> Iterator[Mutant]:
    """Yield mutants of modules except the command's, in random order.

    A place in the code is chosen before its mutant, so that `+`, which has eleven mutants, is chosen no more often than
    a number, which has two.
    """
    random = Random(options.seed)
    modules = sorted(path.relative_to(root) for name in options.only for path in (root / name).rglob("*.py"))
    sources = {str(path): (root / path).read_text(encoding="utf-8") for path in modules if path.parts[1] != "cli"}
    all_places = [(module, *place) for module, source in sources.items() for place in places(source).items()]
    random.shuffle(all_places)
    mutants = (
        mutant_at(module, start[0], sources[module], variants, random) for module, (start, _), variants in all_places
    )
    yield from islice(filter(None, mutants), options.sample)


def mutant_at(module: str, line: int, source: str, variants: list[tuple[str, int]], random: Random) -> Mutant | None:
    """Return one of the mutants of a place; None if all are invalid."""
    random.shuffle(variants)
    mutated = next(filter(None, (mutate(source, *variant) for variant in variants)), None)
    if mutated is None:
        return None
    diff = difflib.unified_diff(source.splitlines(), mutated.splitlines(), module, n=0, lineterm="")
    return Mutant(module, line, mutated, "\n".join(diff))


def places(source: str) -> dict[tuple[Position, str], list[tuple[str, int]]]:
    """Return the mutants of a module by position and kind: pairs of an operator and the number of its occurrence."""
    skipped = spans_of_annotations(source)
    nodes = [node for node in ast_nodes(get_ast(source)) if node.type not in PLAIN]
    nodes_of_kind = {kind: [node for node in nodes if node.type == type_] for kind, type_ in TYPES.items()}
    by_place: dict[tuple[Position, str], list[tuple[str, int]]] = {}
    for name in operator_names():
        if get_operator(name).arguments():  # it needs names of variables
            continue
        operator, kind = get_operator(name)(), name.partition("/")[2].partition("_")[0]
        candidates = nodes_of_kind.get(kind, nodes)
        positions = [start for node in candidates for start, _ in operator.mutation_positions(node)]
        for occurrence, start in enumerate(positions):
            if not any(first <= start < last for first, last in skipped):
                by_place.setdefault((start, kind), []).append((name, occurrence))
    return by_place


def spans_of_annotations(source: str) -> list[tuple[Position, Position]]:
    """Return where annotations start and end, which only type checkers read."""
    nodes = list(ast.walk(ast.parse(source)))
    annotations = [
        getattr(node, name) for node in nodes for name in ("annotation", "returns") if getattr(node, name, None)
    ]
    return [((node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)) for node in annotations]


def mutate(source: str, operator_name: str, occurrence: int) -> str | None:
    """Return the source with one mutation; None if it is invalid, raises a SyntaxWarning or is unchanged."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            code = mutate_code(source, get_operator(operator_name)(), occurrence)
            compile(code or "", "<mutant>", "exec", dont_inherit=True)
        except (AttributeError, SyntaxError, SyntaxWarning):  # AttributeError of cosmic-ray 8.7: `except xgb.Error`
            return None
    return None if code == source else code
