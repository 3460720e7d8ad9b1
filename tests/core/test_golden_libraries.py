"""Measures of recommender and data libraries, as printed when they were run; `golden/libraries.json` names them."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import rankadapters as ra
from rankadapters import presets
from tests.tables import for_each

FILE = Path(__file__).parent.parent / "golden" / "libraries.json"


def cases() -> list[Any]:
    kept = json.loads(FILE.read_text(encoding="utf-8"))["libraries"]
    return [
        pytest.param(library, record, id=f"{library['name']}-{number}-{record['case']}")
        for library in kept
        for number, record in enumerate(library["records"])
    ]


@for_each(("library", "record"), cases())
def test_the_preset_gives_what_the_library_printed(library, record):
    preset = presets.maker(library["preset"])
    convention = preset(record.get("k"), **library["options"]).replace(**library["changes"])
    columns = {name: record[name] for name in ("qid", "docid", "judged", "retrieved") if name in record}
    evaluator = ra.Evaluator(record["labels"], convention, **columns)
    relative = library.get("tolerance", 1e-9)  # of libraries that compute in float32
    assert evaluator.evaluate(record["scores"]).value == pytest.approx(record["value"], rel=relative, abs=1e-12)
    theirs = record.get("per_query") or []
    for ours, value in zip(evaluator.per_query(record["scores"]), theirs, strict=False):
        assert math.isnan(ours) if value is None else ours == pytest.approx(value, rel=relative, abs=1e-12)
