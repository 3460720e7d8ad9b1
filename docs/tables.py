"""Tables and pictures in the pages, made from the code.

`python docs/tables.py` writes them anew, between `<!-- generated: NAME -->` and `<!-- end -->`. A test fails if
they are not what the code makes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import field_pictures
import learner_tables
from field_tables import Table, fields, markdown
from measure_sections import sections

import rankadapters as ra
from rankadapters.cli.conventions import Evidence, PresetFields
from rankadapters.core.measures import MEASURES

DOCS = Path(__file__).parent
PART = re.compile(r"(?P<begin><!-- generated: (?P<name>[\w-]+) -->\n).*?(?P<end><!-- end -->)", re.DOTALL)
CUTOFFS = (1, 3, 5, 10)
BM25_LIKE = 24  # a feature of the generated data, standing in for MQ2008's BM25, its feature 25

NDCG_FIELDS = ra.NDCG.declared()
FIRST_PRESETS = ("textbook", "sklearn", "lightgbm", "xgboost", "catboost", "letor4", "trec_eval_9")
ABOUT = {
    "k": "how many ranks count",
    "gain": "what a label is worth",
    "discount": "how much a rank counts",
    "ideal": "the best possible list",
    "ties": "the order of equal scores",
    "precision": "when scores are equal",
    "short": "a query with fewer than k documents",
    "empty": "a query without relevant documents",
    "missing": "a query without results",
    "unjudged": "a document without a label",
    "average": "how queries make a mean",
}

ranklib, letor3 = ra.presets.ranklib, ra.presets.letor3
EFFECTS: dict[str, dict[str, Callable[[int], ra.NDCG]]] = {
    "empty": {
        "`ranklib`: 0": ranklib,
        "`ranklib_busafekete`: 0.5": ra.presets.ranklib_busafekete,
        "`yahoo`: 1": ra.presets.yahoo,
        "excluded": lambda k: ranklib(k).replace(empty="skip"),
    },
    "short": {
        "`letor3`: short queries have the value 0": letor3,
        "the same, but short queries are evaluated": lambda k: letor3(k).replace(short="pad"),
        "the same, but short queries are excluded": lambda k: letor3(k).replace(short="skip"),
    },
    "discount": {
        "1 / log2(1 + i), `ranklib`": ranklib,
        "1, 1, 1 / log2(3), ..., otherwise `ranklib`": lambda k: ranklib(k).replace(discount="jk2"),
    },
    "ties": {
        "order of the rows in the file, `ranklib`": ranklib,
        "descending document ids, scores in float32, `trec_eval_9`": lambda k: ra.presets.trec_eval_9(k).replace(
            gain="exp2"
        ),
        "average over all orders": lambda k: ranklib(k).replace(ties="average"),
        "worst order": lambda k: ranklib(k).replace(ties="worst"),
        "best order": lambda k: ranklib(k).replace(ties="best"),
    },
}


def texts() -> dict[str, Callable[[], str]]:
    """Return what makes each generated part of a page, by the name in the comment above it."""
    tables: dict[str, Callable[[], Table]] = {
        "evidence": evidence,
        "inexpressible": inexpressible,
        "matrix": matrix,
        "presets": presets,
        "programs": section3,
        "toolkits": toolkits,
        **{f"effect-{name}": partial(effect, conventions) for name, conventions in EFFECTS.items()},
        **{f"who-{field}": partial(who, field) for field in ("ties", "empty")},
    }
    return {
        **{name: partial(spelled, table) for name, table in tables.items()},
        **{name: partial(markdown, table) for name, table in learner_tables.tables().items()},
        "fields": fields,
        "measures": sections,
        "reference-measures": measure_reference,
        "reference-presets": preset_references,
        **{f"picture-{name}": partial(field_pictures.shown, name) for name in field_pictures.PICTURES},
    }


def spelled(table: Callable[[], Table]) -> str:
    """Return a table as Markdown."""
    return markdown(table())


def filled(page: str) -> str:
    """Return the text of a page with its generated parts made anew."""
    makers = texts()
    return PART.sub(lambda part: f"{part['begin']}\n{makers[part['name']]().strip()}\n\n{part['end']}", page)


def files() -> dict[Path, str]:
    """Return every file that this program writes, with its text."""
    pages = [*DOCS.glob("*.md"), *DOCS.glob("reference/*.md")]
    sources = {page: page.read_text(encoding="utf-8") for page in pages if page.name != "spec.md"}  # interchange.py's
    return {page: filled(text) for page, text in sources.items() if PART.search(text)} | field_pictures.files()


def presets() -> Table:
    """Every preset with its fields."""
    rows_by_preset = PresetFields({name: ra.presets.make(name, 10) for name in ra.presets.names()}, None).rows
    head = ["preset", *next(iter(rows_by_preset.values()))]
    return [head, *([f"`{name}`", *(text for text, _ in row.values())] for name, row in rows_by_preset.items())]


def toolkits() -> Table:
    """Return the fields of NDCG under the presets that most readers meet first."""
    conventions = [getattr(ra.presets, name)(10) for name in FIRST_PRESETS]
    lines = [["field", "decides", *(f"`{name}`" for name in FIRST_PRESETS)]]
    for name, field in NDCG_FIELDS.items():
        values = [field.spell(getattr(convention, name)) for convention in conventions]
        lines.append([f"`{name}`", ABOUT[name], *values])
    return lines


def evidence() -> Table:
    """Return the releases for which each tool's presets were confirmed, and the kind of evidence."""
    head, *lines = ["tool", "package", "releases", "evidence"], *Evidence().blocks()[0].lines
    return [head, *([f"`{name}`", *others] for name, *others, _ in lines)]  # the last cell is the installed release


def who(field: str) -> Table:
    """Group the NDCG presets by their value of a field."""
    kind, makers = NDCG_FIELDS[field], {name: ra.presets.make(name, 10) for name in ra.presets.names("ndcg")}
    values = dict.fromkeys(kind.spell(getattr(preset, field)) for preset in makers.values())
    table = [[f"`{field}`", "presets"]]
    for value in values:
        named = [f"`{name}`" for name, preset in makers.items() if kind.spell(getattr(preset, field)) == value]
        table.append([f"`{value}`", ", ".join(named)])
    return table


def matrix() -> Table:
    """How many presets each tool has of each measure."""
    counts = {word: Counter(name.partition(".")[0] for name in ra.presets.names(word)) for word in MEASURES}
    tools = dict.fromkeys(tool for count in counts.values() for tool in count)
    words = [word for word, count in counts.items() if count]
    body = [[f"`{tool}`", *(str(counts[word][tool] or "") for word in words)] for tool in sorted(tools)]
    return [["", *(MEASURES[word].__name__ for word in words)], *body]


def reference(directives: str) -> str:
    """Return a block of reStructuredText."""
    return "```{eval-rst}\n" + directives + "\n```\n"


def measure_reference() -> str:
    """Return the directives that document every measure."""
    return reference("\n\n".join(f".. autoclass:: rankadapters.{measure.__name__}" for measure in MEASURES.values()))


def preset_references() -> str:
    """Return a section for every tool."""
    return "\n".join(preset_reference(name, tool) for name, tool in ra.presets.TOOLS.items())


def preset_reference(name: str, tool: object) -> str:
    """Return a section with what a tool's presets say of themselves."""
    path = f"{type(tool).__module__}.{type(tool).__name__}"
    return f"## `ra.presets.{name}`\n\n" + reference(f".. autoclass:: {path}\n   :members:")


def inexpressible() -> Table:
    """Return the table of tools' behavior that no convention reproduces."""
    return [
        ["what the tool does", "why no convention expresses it"],
        *([f"`{name}`", reason] for name, reason in ra.presets.inexpressible().items()),
    ]


def section3() -> Table:
    """NDCG of one feature of the generated data under the programs of the paper, with exponential gains."""
    return effect(dict(programs()))


def effect(conventions: dict[str, Callable[[int], ra.NDCG]]) -> Table:
    """NDCG of one feature of the generated data under some conventions, at every cutoff."""
    _, test = ra.datasets.mq2008_like(random_state=0)
    docid = [f"d{row}" for row in range(test.labels.size)]
    queries = ra.Queries(test.labels, qid=test.qid, docid=docid)
    table = [["", *(f"NDCG@{k}" for k in CUTOFFS)]]
    for name, at in conventions.items():
        scores = ra.evaluate(queries, test.X[:, BM25_LIKE], [at(k) for k in CUTOFFS])
        table.append([name, *(f"{score.value:.4f}" for score in scores.values())])
    return table


def programs() -> Iterable[tuple[str, object]]:
    """The programs of the paper's Section 3, the fork of its first author, and the definition."""
    for name in ("letor3", "letor4", "mslr", "yahoo", "ranklib", "ranklib_busafekete"):
        yield f"`{name}`", getattr(ra.presets, name)
    yield "`trec_eval_9`, gains 2^y - 1", lambda k: ra.presets.trec_eval_9(k).replace(gain="exp2")
    yield "`trec_eval_9`, gains y", ra.presets.trec_eval_9
    yield "`textbook`", ra.presets.textbook


if __name__ == "__main__":
    field_pictures.FOLDER.mkdir(exist_ok=True)
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
