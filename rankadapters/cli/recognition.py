"""Files without an option: their content says which option would name them, and tables have usual names of columns."""

from __future__ import annotations

import argparse
import os
import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rankadapters.core.errors import InputError, MissingToolkitError, choices

_ABOUT = {
    "features": "rows of SVMlight or LETOR",
    "predictions": "predictions",
    "table": "a table",
    "qrels": "qrels",
    "run": "a run",
}
_OPTIONS = "--table FILE, --features FILE --predictions FILE, or --qrels FILE --run FILE"
_HEAD = 1 << 16  # bytes, in which JSON is searched for numbers
_FRACTION = re.compile(rb":\s*-?\d+(?:\.\d|[eE])")


def place_files(arguments: argparse.Namespace) -> None:
    """Set the options that would name the files; `how_read` has what each file was taken for.

    Raises
    ------
    InputError
        The content of a file fits no option, or one that has a file already.
    """
    kinds: dict[str, list[str]] = defaultdict(list)
    for text in getattr(arguments, "files", ()):
        kinds[_kind(named(text)[1])].append(text)
    if kinds["qrels"] and not kinds["run"] and "run" not in arguments:
        kinds["run"] = [str(file) for file in sorted(Path(kinds["qrels"][0], "results").glob("*"))]  # of BEIR
    arguments.files, arguments.how_read = [], getattr(arguments, "how_read", {})
    for kind, texts in kinds.items():
        if texts:
            setattr(arguments, kind, _value(arguments, kind, texts))
            arguments.how_read |= dict.fromkeys(texts, _ABOUT[kind])


def named(text: str) -> tuple[str | None, str]:
    """Return the name and the path of NAME=FILE; if the text is an existing path, it has no name."""
    name, equals, path = text.partition("=")
    is_named = equals and name and "/" not in name and "\\" not in name and not Path(text).exists()
    return (name, path) if is_named else (None, text)


def _value(arguments: argparse.Namespace, kind: str, texts: list[str]) -> object:
    """Return the value that the option of a kind has for these files."""
    if kind in arguments:
        msg = f"{texts[0]} looks like {_ABOUT[kind]}, which --{kind} names already."
        raise InputError(msg, hint=f"drop one of the two, or name each file: {_OPTIONS}")
    several = kind == "features" or (kind in {"predictions", "run"} and arguments.several_models)
    if len(texts) > 1 and not several:
        msg = f"{texts[0]} and {texts[1]} both look like {_ABOUT[kind]}."
        raise InputError(msg, hint=f"name each file: {_OPTIONS}")
    if kind == "predictions":
        return [[text] for text in texts] if several else texts
    return texts if several else texts[0]


def _kind(path: str) -> str:
    """Return the option for the content of a file or folder."""
    from rankadapters.io.text import lines, open_text
    from rankadapters.io.trec import is_json

    if os.path.isdir(path):  # noqa: PTH112 - False for an empty or too long text
        return "qrels" if Path(path, "qrels").is_dir() else "table"
    with open_text(path) as file:
        head = file.read(_HEAD)
    if head.startswith(b"PAR1"):
        return "table"
    if is_json(path):  # a run has a number with a decimal point, since labels are whole
        return "run" if _FRACTION.search(head) else "qrels"
    first = next((line for _, line in lines(path) if not line.lstrip().startswith(b"#")), b"")
    kind = _kind_of_line(first)
    if kind is None:
        msg = f"{path} begins with {first.decode().strip()!r:.60}, which is not recognized."
        raise InputError(msg, hint=f"name the file by its option: {_OPTIONS}")
    return kind


def _kind_of_line(line: bytes) -> str | None:
    r"""Return the option for a file that begins with a line.

    >>> [_kind_of_line(line) for line in (b"2 qid:7 1:0.5", b"7 0 d1 2", b"7 Q0 d1 1 0.5 tag", b"0.5", b"qid,label")]
    ['features', 'qrels', 'run', 'predictions', 'table']
    >>> [_kind_of_line(line) for line in (b"7\td1\t2", b"7\td1\t1\t0.5", b"0,5")]
    ['qrels', 'run', None]
    """
    from rankadapters.io.text import is_finite
    from rankadapters.io.trec import HEADER

    words, cells = line.split(), line.split(b"\t")
    numbers, has_tabs = [is_finite(word) for word in words], words == cells
    names = cells if len(cells) > 1 else line.split(b",")
    kind: str | None
    match numbers, has_tabs:
        case ([_, _, _, True], True) if words[1] not in {b"0", b"Q0"} and words[2] in {b"0", b"1"}:
            kind = "run"  # of MS MARCO
        case ([_, _, _, True], _) | ([_, _, True], True):
            kind = "qrels"
        case [True], _:
            kind = "predictions"
        case [_, _, _, _, True, _, *_], _:
            kind = "run"
        case _:
            kind = "table" if len(names) > 1 and not all(map(is_finite, names)) else None
    if line == HEADER:
        kind = "qrels"
    return "features" if len(words) > 1 and numbers[0] and re.match(rb"qid:|\d+:", words[1]) else kind


def name_columns(arguments: argparse.Namespace, *, scored: bool) -> None:
    """Name the columns of a table that no option names and that do not have our names.

    Raises
    ------
    InputError
        Several columns have a usual name.
    """
    from rankadapters.core.declaration.guesses import USUAL_NAMES
    from rankadapters.io.table_files import columns_of

    roles = [role for role in USUAL_NAMES if role not in arguments and (scored or role != "score")]
    columns: Sequence[str] = ()
    with suppress(InputError, MissingToolkitError):  # reading the rows has the same error
        columns = columns_of(arguments.table) if roles else ()
    named_columns = []
    for role in roles:
        usual = [name for name in columns if name.strip().lower() in USUAL_NAMES[role]]
        if role in columns or not usual:
            continue
        if len(usual) > 1:
            msg = f"{arguments.table} has no column {role!r}, but {choices(usual)}."
            raise InputError(msg, hint=f"--{role} {usual[0]} names one")
        named_columns.append(f"{role} {usual[0]!r}")
        setattr(arguments, role, usual if role == "score" and arguments.several_models else usual[0])
    if named_columns:
        arguments.how_read[arguments.table] = f"a table, with {', '.join(named_columns)}"
