"""The picture in the README shows what the package computes."""

from __future__ import annotations

from itertools import pairwise

import pytest

import rankadapters as ra
from tests.docs.scripts import script
from tests.helpers.checkout import CHECKOUT

picture = script("picture")


@pytest.fixture(scope="module")
def panels():
    return picture.panels()


def test_the_picture_in_the_readme_shows_the_numbers_of_the_package(panels):
    assert picture.FILE.read_text(encoding="utf-8") == picture.drawn(panels), "python docs/picture.py draws it anew"
    assert picture.NARROW.read_text(encoding="utf-8") == picture.drawn(panels, narrow=True)
    link = f"]({picture.FILE.relative_to(CHECKOUT).as_posix()})"
    assert link in (CHECKOUT / "README.md").read_text(encoding="utf-8")


def test_the_waterfall_leads_from_one_toolkits_column_to_the_others(panels):
    (_, _, toolkits), (_, _, waterfall), _ = panels
    own = {column.name: column.end for column in toolkits}
    assert [waterfall[0].end, waterfall[-1].end] == [own[waterfall[0].name], own[waterfall[-1].name]]
    for before, part in pairwise(waterfall[:-1]):
        assert part.start == before.end
    assert waterfall[-2].end == pytest.approx(waterfall[-1].end, abs=1e-12)


def test_the_toolkits_compute_the_numbers_themselves():
    for toolkit in picture.TOOLKITS:
        pytest.importorskip(toolkit)
    _, test = ra.datasets.mq2008_like(random_state=0)
    report = ra.parity.crosscheck(test.labels, test.X[:, picture.FEATURE], measure="ndcg", k=10, qid=test.qid)
    assert [row.verdict for row in report.rows] == ["equal"] * len(picture.TOOLKITS)


def test_the_texts_of_the_picture_are_escaped():
    assert picture.text(0, 0, "a < b & c", "name") == '<text class="name" x="0" y="0.0">a &lt; b &amp; c</text>'
