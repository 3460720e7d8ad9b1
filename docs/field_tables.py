"""Every field of every measure, as its declaration describes it."""

from __future__ import annotations

import field_pictures

from rankadapters.core.declaration.fields import GROUPS, Field
from rankadapters.core.measures import MEASURES

Table = list[list[str]]


def fields(*, pictures: bool = True) -> str:
    """Return a section for every field of every measure: its meaning, that of each value, and its picture."""
    names = dict.fromkeys(name for measure in MEASURES.values() for name in measure.declared())
    ordered = sorted(names, key=lambda name: GROUPS.index(kinds_of(name)[0].group))
    return "\n\n".join(_field(name, pictures=pictures) for name in ordered) + "\n"


def kinds_of(name: str) -> list[Field]:
    """Return the declarations of one field, by measure."""
    return [measure.declared()[name] for measure in MEASURES.values() if name in measure.declared()]


def markdown(table: Table) -> str:
    """Spell a table, head first."""
    head, *body = table
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *body]) + "\n"


Kinds = dict[str, Field]  # the declarations of a field, by the name of the measure's class


def _field(name: str, *, pictures: bool) -> str:
    """Describe a field, once for all measures in which its values mean the same."""
    groups: list[Kinds] = []
    for measure in MEASURES.values():
        if (kind := measure.declared().get(name)) is not None:
            group = next((group for group in groups if _alike(kind, group)), {})
            if not group:
                groups.append(group)
            group[measure.__name__] = kind
    drawn = pictures and name in field_pictures.PICTURES
    picture = [field_pictures.shown(name).strip()] if drawn else []
    return "\n\n".join([f"### {name}", *map(_described, groups), *picture])


def _alike(kind: Field, group: Kinds) -> bool:
    """Return whether a field and its values mean the same as in the measures of a group."""
    values = _meanings(group)
    meanings = kind.meanings().items()
    about = next(iter(group.values())).about
    return kind.about == about and all(values.get(value, meaning) == meaning for value, meaning in meanings)


def _meanings(group: Kinds) -> dict[str, str]:
    return {value: meaning for kind in group.values() for value, meaning in kind.meanings().items()}


def _described(group: Kinds) -> str:
    who = "Every measure" if len(group) == len(MEASURES) else ", ".join(group)
    kind = next(iter(group.values()))
    meanings = _meanings(group)
    if not meanings:
        return f"*{who}.* {kind.about} Allowed: {kind.allowed}."
    lines = [["value", "meaning"]]
    for value, text in meanings.items():
        lacking = [measure for measure, kind in group.items() if value not in kind.meanings()]
        having = [measure for measure in group if measure not in lacking]
        only = ", ".join(having) if len(having) <= len(lacking) else f"not {', '.join(lacking)}"
        lines.append([f"`{value}`", f"{text} ({only})" if lacking else text])
    ranges = {str(kind.range_of(word)): word for kind in group.values() for word in kind.numbered}
    numbers = ", ".join(text if len(ranges) == 1 else f"{text} (`{word}`)" for text, word in ranges.items())
    allowed = f" Allowed for B: {numbers}." if numbers else ""
    implied = [measure for measure, kind in group.items() if kind.implied is not None]
    unwritten = f" Signatures of {', '.join(implied)} leave out `{group[implied[0]].implied}`." if implied else ""
    return f"*{who}.* {kind.about}{allowed}{unwritten}\n\n{markdown(lines).rstrip()}"
