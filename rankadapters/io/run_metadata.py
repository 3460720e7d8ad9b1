"""Read and write the ir_metadata header of a TREC run: YAML in the comments before its first row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from rankadapters.core.errors import InputError, MissingToolkitError, brief
from rankadapters.core.evaluation.score import Score

START, END = b"# ir_metadata.start", b"# ir_metadata.end"
NEW_HEADER = {"schema-version": 0.1, "run-version": 1.0}  # fields of a new header
_HINT = "correct the header, or delete its lines"
# Errors besides YAMLError that PyYAML raises for a value with a wrong tag or date.
_MALFORMED = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


class Header(NamedTuple):
    """The header of a run, as read."""

    metadata: dict[str, Any] | None = None  # None without a header, or if PyYAML is not installed
    n_lines: int = 0
    note: str = ""


def read_header(path: object, comments: Sequence[tuple[int, bytes]]) -> Header:
    """Read the header from `comments`: the comment lines before the first row, with their line numbers.

    Raises
    ------
    InputError
        The header has no end, or it is not a YAML mapping.
    """
    lines = [line.strip() for _, line in comments]
    if not lines or lines[0] != START:
        return Header()
    first = comments[0][0]
    if END not in lines:
        msg = f"{path}, line {first}: the ir_metadata header has no line {END.decode()!r} before the first row"
        raise InputError(f"{msg}.", hint=_HINT)
    n_lines = lines.index(END) + 1
    try:
        return Header(_mapping(path, comments[:n_lines]), n_lines)
    except ImportError:
        command = 'pip install "rankadapters[files]"'
        return Header(None, n_lines, f"the run's ir_metadata header was not read, which needs PyYAML ({command})")


def _mapping(path: object, comments: Sequence[tuple[int, bytes]]) -> dict[str, Any]:
    import yaml

    first, text = comments[0][0], b"\n".join(line.lstrip()[1:] for _, line in comments[1:-1]).decode()
    try:
        metadata = yaml.safe_load(text)
    except (yaml.YAMLError, *_MALFORMED) as error:
        mark = getattr(error, "problem_mark", None)
        number = first if mark is None else comments[min(mark.line + 1, len(comments) - 1)][0]
        problem = getattr(error, "problem", None) or type(error).__name__
        raise InputError(f"{path}, line {number}: the ir_metadata header is not YAML: {problem}.", hint=_HINT) from None
    if not isinstance(metadata, dict):
        raise InputError(f"{path}, line {first}: the ir_metadata header is not a YAML mapping.", hint=_HINT)
    return metadata


def write_header(metadata: Mapping[str, Any]) -> str:
    """Return the lines of a header.

    Raises
    ------
    MissingToolkitError
        PyYAML is not installed.
    """
    try:
        import yaml
    except ImportError:
        raise MissingToolkitError.of("PyYAML", "files") from None
    text = yaml.safe_dump(dict(metadata), sort_keys=False, allow_unicode=True, width=float("inf"))
    lines = [f"# {line}".rstrip() for line in text.splitlines()]
    return "\n".join([START.decode(), *lines, END.decode(), ""])


def with_scores(path: object, metadata: Mapping[str, Any], scores: Iterable[Score]) -> dict[str, Any]:
    """Return the metadata with scores added; a score replaces an earlier one under the same convention.

    Raises
    ------
    InputError
        The metadata have something else where the scores belong.
    """
    reported = deepcopy(dict(metadata))
    evaluation = _child(path, _child(path, reported, "research goal", {}), "evaluation", {})
    measures = _child(path, evaluation, "reported measures", [])
    entries = _child(path, evaluation, "scores", [])
    for score in scores:
        entry = score.to_dict()
        signature = entry["convention"]
        if signature not in measures:
            measures.append(signature)
        entries[:] = [old for old in entries if not isinstance(old, dict) or old.get("convention") != signature]
        entries.append(entry)
    return reported


def _child(path: object, parent: dict[str, Any], key: str, empty: Any) -> Any:
    """Return the mapping or list under a key; create it if it is missing."""
    value = empty if parent.get(key) is None else parent[key]
    if not isinstance(value, type(empty)):
        kind = "mapping" if isinstance(empty, dict) else "list"
        msg = f"{path}: {key!r} in the ir_metadata header is {brief(value)}, and not a {kind}"
        raise InputError(f"{msg}.", hint=_HINT)
    parent[key] = value
    return value
