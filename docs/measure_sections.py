"""The page of measures, made from their classes and presets: formula, fields, and the tools that compute each."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from rankadapters.presets.texts import maker

HEAD = "k"  # the argument of a preset
Line = list[str]


def sections() -> str:
    """Return a section for every measure."""
    return "\n\n".join(_section(word) for word in MEASURES) + "\n"


def _section(word: str) -> str:
    measure = MEASURES[word]
    direction = "Higher is better." if measure.higher_is_better else "**Lower is better.**"
    formula = inspect.cleandoc(measure.__doc__ or "").partition("\nParameters\n")[0].strip()
    fields = [
        ["field", "allowed values"],
        *([f"`{name}`", _plain(kind.allowed)] for name, kind in measure.declared().items()),
    ]
    parts = [
        f"## {measure.__name__}",
        formula,
        f"Word in signatures: `{word}`. {direction}",
        _table(fields),
        *_tools(word),
    ]
    return "\n\n".join(parts)


def _tools(word: str) -> Iterator[str]:
    """Yield a table of the presets of a measure, with the fields that tell them apart."""
    made = {name: ra.presets.make(name, 10).to_dict() for name in ra.presets.names(word)}
    if not made:
        return
    names = [name for name in MEASURES[word].fields() if name != HEAD]
    alike = [name for name in names if len({fields[name] for fields in made.values()}) == 1]
    lines = [["preset", "source", *(f"`{name}`" for name in names if name not in alike)]]
    kinds = MEASURES[word].declared()
    for preset, fields in made.items():
        values = [kinds[name].spell(fields[name]) for name in names if name not in alike]
        lines.append([f"`{preset}`", _said(preset), *values])
    yield _table(lines)
    shared = next(iter(made.values()))
    if alike and len(made) > 1:
        yield "All have " + ", ".join(f"`{name}={kinds[name].spell(shared[name])}`" for name in alike) + "."


def _said(preset: str) -> str:
    """Return the first paragraph of a preset's docstring, with the release that was run."""
    make = maker(preset)
    text = inspect.getdoc(make if "." in preset else type(make.__self__)) or ""
    release = make.__self__.evidence_of(make.__name__).removeprefix("run ")
    return " ".join(text.partition("\n\n")[0].split()).replace("Run: ", f"Run against {release}: ")


def _plain(text: str) -> str:
    """Keep Markdown from taking a `<number>` for HTML."""
    return text.replace("<", "\\<")


def _table(lines: list[Line]) -> str:
    head, *body = lines
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *body])
