"""The assertions of the page on other libraries, each with the library itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "moving.md"
BLOCK = re.compile(r"^```(python|py)\n(.*?)^```", re.DOTALL | re.MULTILINE)
BLOCKS = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
OURS = [code for kind, code in BLOCKS if kind == "python" and "sklearn" not in code]
THEIRS = {code.split()[1]: code for kind, code in BLOCKS if kind == "py"}


def test_the_page_has_every_library():
    assert list(THEIRS) == ["pytrec_eval", "ir_measures", "ranx", "torch"]
    assert all("assert abs(" in code for code in THEIRS.values())


@pytest.mark.parametrize("library", THEIRS)
@pytest.mark.filterwarnings("ignore")  # the libraries' own
def test_their_call_and_ours_give_the_same_number(library):
    for package in re.findall(r"^(?:import|from) (\w+)", THEIRS[library], re.MULTILINE):
        pytest.importorskip(package)
    namespace: dict[str, object] = {}
    for code in (*OURS, THEIRS[library]):
        exec(compile(code, str(PAGE), "exec"), namespace)  # noqa: S102 - our own text
