"""The assertions in docs/moving.md hold: our numbers equal those of other libraries."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "moving.md"
BLOCK = re.compile(r"^```(python|py)\n(.*?)^```", re.DOTALL | re.MULTILINE)
BLOCKS = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
OUR_CODE = [code for kind, code in BLOCKS if kind == "python" and "sklearn" not in code]
LIBRARY_CODE = {f"{code.split()[1]} {number}": code for number, (kind, code) in enumerate(BLOCKS) if kind == "py"}


def test_the_page_has_code_for_every_library():
    assert [name.split()[0] for name in LIBRARY_CODE] == ["pytrec_eval", "pytrec_eval", "ir_measures", "ranx", "torch"]
    assert all("assert abs(" in code for code in LIBRARY_CODE.values())


def test_the_columns_keep_the_order_of_the_run():
    """Libraries break ties by the order of the run, which may differ from that of the judgments."""
    namespace: dict[str, object] = {}
    for code in OUR_CODE:
        exec(compile(code, str(PAGE), "exec"), namespace)  # noqa: S102 - our own text
    qrels, run = {"q": {"a": 1, "b": 0, "d": 2}}, {"q": {"c": 0.5, "b": 0.5, "a": 0.5}}
    judgments = namespace["ra"].io.from_qrels(qrels, run)
    assert judgments.queries.labels[1:].tolist() == [0, 1, 2]
    assert judgments.scores[:3].tolist() == [0.5, 0.5, 0.5]
    assert judgments.queries.judged.tolist() == [False, True, True, True]
    assert judgments.queries.retrieved.tolist() == [True, True, True, False]


@pytest.mark.long
@pytest.mark.parametrize("library", LIBRARY_CODE)
@pytest.mark.filterwarnings("ignore")  # of the libraries
def test_the_library_and_rankadapters_compute_the_same_number(library):
    for package in re.findall(r"^(?:import|from) (\w+)", LIBRARY_CODE[library], re.MULTILINE):
        pytest.importorskip(package)
    namespace: dict[str, object] = {}
    for code in (*OUR_CODE, LIBRARY_CODE[library]):
        exec(compile(code, str(PAGE), "exec"), namespace)  # noqa: S102 - our own text
