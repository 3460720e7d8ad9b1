"""Every field of every measure, as its declaration describes it: the text that two pages show."""

from __future__ import annotations

from rankadapters.core.declaration.fields import GROUPS, Field
from rankadapters.core.measures import MEASURES

Table = list[list[str]]


def fields() -> str:
    """Every field of every measure: what it decides, and what each value means."""
    names = dict.fromkeys(name for measure in MEASURES.values() for name in measure.declared())
    ordered = sorted(names, key=lambda name: GROUPS.index(kinds_of(name)[0].group))
    return "\n\n".join(map(_field, ordered)) + "\n"


def kinds_of(name: str) -> list[Field]:
    """The declarations of one field, by measure."""
    return [measure.declared()[name] for measure in MEASURES.values() if name in measure.declared()]


def markdown(table: Table) -> str:
    """Spell a table, head first."""
    head, *body = table
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *body]) + "\n"


def _field(name: str) -> str:
    having = {word: kinds[name] for word, measure in MEASURES.items() if name in (kinds := measure.declared())}
    who = "every measure" if len(having) == len(MEASURES) else ", ".join(MEASURES[word].__name__ for word in having)
    meanings: dict[str, str] = {}
    for kind in having.values():  # a loss, which comes last, weighs rows by words that other measures have for queries
        meanings |= {value: text for value, text in kind.meanings().items() if value not in meanings}
    lines = [["value", "meaning"]]
    for value, text in meanings.items():
        own = [MEASURES[word].__name__ for word, kind in having.items() if value in kind.meanings()]
        lines.append([f"`{value}`", text if len(own) == len(having) else f"{text} ({', '.join(own)})"])
    kind = next(iter(having.values()))
    if not meanings:
        return f"`{name}` · {who}\n: {kind.about} Allowed: {kind.allowed}."
    table = markdown(lines).replace("\n", "\n  ").rstrip()
    return f"`{name}` · {who}\n: {kind.about}\n\n  {table}"
