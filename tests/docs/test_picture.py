"""The picture in the README shows the output of the command."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
ROUNDING = 1e-12  # smaller differences depend on the machine's order of additions


@pytest.fixture(scope="module")
def picture():
    pytest.importorskip("rich")
    spec = importlib.util.spec_from_file_location("picture", ROOT / "docs" / "picture.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def words(lines):
    return [[_word(text) for text in line.split()] for line in lines if line]


def _word(text):
    try:
        return 0.0 if abs(float(text)) < ROUNDING else float(text)
    except ValueError:
        return text


def test_reading_a_drawn_picture_returns_its_lines(picture):
    assert picture.read(picture.drawn(["a <b> & c", "", "  ndcg@10/ ─── 0.5"])) == ["a <b> & c", "  ndcg@10/ ─── 0.5"]


@pytest.mark.long
def test_the_picture_in_the_readme_shows_the_output_of_the_command(picture):
    shown = words(picture.read(picture.FILE.read_text(encoding="utf-8")))
    versions = dict(line[:2] for line in shown if line[0] in {"sklearn", "lightgbm", "xgboost", "catboost"})
    assert len(versions) == 4
    for toolkit, version in versions.items():
        if pytest.importorskip(toolkit).__version__ != version:
            pytest.skip(f"the picture shows {toolkit} {version}")
    assert shown == words(picture.printed()), "python docs/picture.py draws it anew"
    assert f"]({picture.FILE.relative_to(ROOT)})" in (ROOT / "README.md").read_text(encoding="utf-8")
