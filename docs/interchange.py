"""The interchange format, generated from the declared fields: two JSON Schemas, and parts of `docs/spec.md`.

`python docs/interchange.py` writes them; a test says when one of them is out of date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import spec_examples
from field_tables import Table, fields, markdown

from rankadapters.conformance.vectors import WORDS as PURPOSES
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.declared import VERSION
from rankadapters.core.declaration.fields import LARGEST_CUTOFF, Field, Gain
from rankadapters.core.measures import MEASURES
from rankadapters.evaluation.score import COUNTS

DOCS = Path(__file__).parent
SCHEMAS = DOCS / "schemas"
PAGE = DOCS / "spec.md"
WIDTH = 100  # of a line of the grammar
NUMBER = r"(?:0|-?(?:0\.[0-9]*[1-9]|[1-9][0-9]{0,15}(?:\.[0-9]*[1-9])?|[1-9](?:\.[0-9]*[1-9])?e-?[0-9]{2,3}))"
CUTOFF = "(?:all|[1-9][0-9]{0,18})"
# The rules of RFC 5234, whose names do not heed case: no rule of ours may be called `alpha`.
CORE_RULES = {
    "alpha", "bit", "char", "cr", "crlf", "ctl", "digit", "dquote", "hexdig", "htab", "lf", "lwsp", "octet", "sp",
    "vchar", "wsp",
}  # fmt: skip
LEXICAL = """version = %s"/v1"
cutoff = "@" ( %s"all" / %x31-39 *18DIGIT )
number = "0" / [ "-" ] ( small / plain / scientific )
small = "0" decimals
plain = %x31-39 *15DIGIT [ decimals ]
scientific = %x31-39 [ decimals ] %s"e" [ "-" ] 2*3DIGIT
decimals = "." *DIGIT %x31-39
"""

Schema = dict[str, Any]


class Spelling(NamedTuple):
    """One alternative of what a field may be: in the grammar, and as a regular expression."""

    grammar: str
    pattern: str


def spellings(kind: Field) -> Iterator[Spelling]:
    """Yield what a field may be in a signature, which leaves out an implied value."""
    for word in kind.words:
        if word == kind.implied:
            continue
        yield Spelling(f'%s"{word}"', re.escape(word).replace(r"\-", "-"))
    for word in kind.numbered:
        yield Spelling(f'%s"{word}_" number', f"{word}_{NUMBER}")
    if isinstance(kind, Gain):
        yield Spelling('%s"table" 1*( "_" number )', f"table(?:_{NUMBER})+")
    if kind.numbers:
        yield Spelling("number", NUMBER)


def pattern_of(measure: type[Convention]) -> str:
    """The regular expression of a measure's signatures."""
    parts = [measure.measure]
    for name, kind in measure.declared().items():
        value = "(?:" + "|".join(spelling.pattern for spelling in spellings(kind)) + ")"
        part = f"/{name}={value}" if kind.implied is None else f"(?:/{name}={value})?"
        parts.append(f"@{CUTOFF}" if kind.group == "head" else part)
    return f"^{''.join(parts)}/v{VERSION}$"


def grammar() -> str:
    """The grammar of signatures, in ABNF (RFC 5234 and 7405)."""
    rules = {"signature": " / ".join(f"{word}-signature" for word in MEASURES)}
    values: dict[str, str] = {}
    for word, measure in MEASURES.items():
        names = [f'%s"{word}"']
        for name, kind in measure.declared().items():
            rule = "cutoff" if kind.group == "head" else _rule(word, name, kind, values)
            names.append(rule if kind.implied is None else f"[{rule}]")
        rules[f"{word}-signature"] = " ".join([*names, "version"])
    lines = [_folded(f"{name} = {text}") for name, text in (rules | values).items()]
    return "\n".join(lines) + "\n" + LEXICAL


def _rule(word: str, name: str, kind: Field, rules: dict[str, str]) -> str:
    """Name the rule of a field: by the field, or by the measure too where it may be something else there."""
    text = f'%s"/{name}=" ( ' + " / ".join(spelling.grammar for spelling in spellings(kind)) + " )"
    common = name.replace("_", "-")
    equal = [rule for rule, other in rules.items() if other == text]
    taken = common in rules or common in CORE_RULES
    rule = equal[0] if equal else f"{word}-{common}" if taken else common
    rules[rule] = text
    return rule


def _folded(line: str) -> str:
    """Break a line between elements; ABNF goes on in lines that begin with a blank."""
    lines, words = [], line.split(" ")
    start = words.pop(0)
    for word in words:
        if len(start) + len(word) >= WIDTH:
            lines.append(start)
            start = "   "
        start = f"{start} {word}"
    return "\n".join([*lines, start])


def schemas() -> dict[str, Schema]:
    """Every schema, by the name of its file."""
    texts = {
        "score": ("A score", "A value and the convention that made it: what Score.to_json() writes.", _score()),
        "vectors": ("Vectors", "The cases by which an implementation of a convention is tested.", _vectors()),
    }
    return {
        f"{name}.schema.json": {
            "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:rankadapters:{name}:v{VERSION}",
            "title": title, "description": about, **schema,
        }
        for name, (title, about, schema) in texts.items()
    }  # fmt: skip


def _object(properties: Schema, **more: Any) -> Schema:
    return {
        "type": "object", "required": list(properties), "additionalProperties": False, "properties": properties, **more
    }  # fmt: skip


def _signature() -> Schema:
    measures = [{"title": word, "pattern": pattern_of(measure)} for word, measure in MEASURES.items()]
    return {"type": "string", "anyOf": measures}


def _score() -> Schema:
    counts = {name: {"type": "integer", "minimum": 0} for name in COUNTS}
    return _object(
        {
            "value": {"type": "number"},
            "name": {"type": "string", "description": "The display name of the convention, which has no meaning."},
            "convention": {"$ref": "#/$defs/signature"},
            **counts,
            "digest": {
                "description": "A hash of the queries. Scores compare if digest, n_queries and convention are equal.",
                "type": "string", "pattern": "^0x[0-9a-f]+$",
            },
        },
        **{"$defs": {"signature": _signature()}},
    )  # fmt: skip


def _vectors() -> Schema:
    numbers = {"type": "array", "items": {"type": "number"}, "minItems": 1}
    names = dict.fromkeys(name for measure in MEASURES.values() for name in measure.fields())
    case = {
        "id": {"type": "integer", "minimum": 1},
        "k": {
            "description": "The cutoff of the convention; null for all ranks.",
            "anyOf": [{"type": "null"}, {"type": "integer", "minimum": 1, "maximum": LARGEST_CUTOFF}],
        },
        "queries": {"type": "array", "minItems": 1, "items": _object({"labels": numbers, "scores": numbers})},
        "value": {"type": ["number", "null"], "description": "null if an implementation must refuse the case."},
        "purpose": {"enum": list(dict.fromkeys(PURPOSES.values()))},
        "shows": {
            "description": "Fields of the convention; a different value of one of them changes the value.",
            "type": "array", "items": {"enum": list(names)}, "uniqueItems": True,
        },
        "optional": {"type": "boolean", "description": "Whether an implementation may refuse such labels."},
    }  # fmt: skip
    cases = {"type": "array", "items": _object(case), "minItems": 1}
    return _object(
        {"convention": {"$ref": "#/$defs/signature"}, "cases": cases}, **{"$defs": {"signature": _signature()}}
    )


def sections() -> dict[str, str]:
    """The generated parts of the page, by the name in the comment above each."""
    return {
        "grammar": f"```abnf\n{grammar()}```\n",
        "measures": markdown(_measures()),
        "fields": fields(pictures=False),
        "examples": "```json\n" + "\n".join(map(json.dumps, spec_examples.examples())) + "\n```\n",
    }


def _measures() -> Table:
    lines = [["first word", "measure", "better", "fields, in the order of the signature"]]
    for word, measure in MEASURES.items():
        better = "higher" if measure.higher_is_better else "lower"
        names = ", ".join(f"`{name}`" for name in measure.fields())
        lines.append([f"`{word}`", measure.__name__, better, names])
    return lines


def page(text: str) -> str:
    """Replace the generated parts of the page."""
    for name, section in sections().items():
        begin, end = f"<!-- generated: {name} -->\n", "<!-- end -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{section}\n{end}{rest.partition(end)[2]}"
    return text


def files() -> dict[Path, str]:
    """Every generated file, with its text."""
    texts = {SCHEMAS / name: json.dumps(schema, indent=1) + "\n" for name, schema in schemas().items()}
    return texts | {PAGE: page(PAGE.read_text(encoding="utf-8"))}


if __name__ == "__main__":
    SCHEMAS.mkdir(exist_ok=True)
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
