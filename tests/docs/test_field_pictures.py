"""Every field has a picture of its effect, and the numbers in the pictures are right."""

from __future__ import annotations

import re
from math import log2
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from rankadapters.core.measures import MEASURES
from tests.docs.scripts import DOCS, script

pictures = script("field_pictures")
RESULTS = {name: {panel.title: panel.result for panel in panels()} for name, (panels, _) in pictures.PICTURES.items()}


def dcg(gains):
    return sum(gain / log2(rank + 2) for rank, gain in enumerate(gains))


def test_every_field_has_a_picture_or_is_a_number_in_a_formula():
    fields = {name for measure in MEASURES.values() for name in measure.declared()}
    assert {*pictures.PICTURES, *pictures.UNDRAWN} == fields
    assert not {*pictures.PICTURES} & {*pictures.UNDRAWN}


QUERY_NDCG = dcg([0, 1, 1]) / dcg([1, 1, 0])  # of the query with labels 0, 1, 1 in the pictures of several queries


@pytest.mark.parametrize(
    ("field", "title", "expected"),
    [
        ("k", "k=1", "NDCG 0.500"),
        ("gain", "gain=table_0_1_5", dcg([1, 5, 0, 1]) / dcg([5, 1, 1, 0])),
        ("discount", "jk2", "last only: NDCG 0.431"),  # 1 / log2(5)
        ("ideal", "all", dcg([1, 0]) / dcg([2, 1, 1, 1])),
        ("ideal", "ones", dcg([1, 0]) / dcg([1, 1, 1])),
        ("relevant", "from_2", "Precision 0.250"),
        ("divisor", "found", "AP 0.833"),  # (1 + 2/3) / 2
        ("pairs", "label", "AUC 0.600"),  # 3 of 5
        ("pairs", "every-two", "AUC 0.667"),  # 4 of 6: the earlier of the two 1s is the better one
        ("ties", "worst", dcg([1, 0, 1, 2]) / dcg([2, 1, 1])),
        ("ties", "together", "AP 0.833"),  # (1 + 3/4 + 3/4) / 3
        ("precision", "float32", dcg([1, 0, 2]) / dcg([2, 1])),
        ("retrieve", "from_0.5", "AP 0.556"),  # (1 + 2/3) / 3
        ("short", "zero", f"mean {QUERY_NDCG / 3:.3f}"),
        ("empty", "empty=0.5", f"mean {(QUERY_NDCG + 0.5 + 1) / 3:.3f}"),
        ("empty", "empty=skip", f"mean {(QUERY_NDCG + 1) / 2:.3f}"),
        ("missing", "zero", f"mean {QUERY_NDCG / 2:.3f}"),
        ("unjudged", "unjudged=1", dcg([2, 1, 1]) / dcg([2, 1])),
        ("pool", "pairs", "AUC 0.750"),
        ("average", "query-except-empty", f"mean {(3 * QUERY_NDCG + 1 + 1) / 6:.3f}"),
    ],
)
def test_a_panel_shows_the_value_of_the_definition(field, title, expected):
    assert RESULTS[field][title] == (expected if isinstance(expected, str) else f"NDCG {expected:.3f}")


def test_the_bars_of_a_panel_add_up_to_its_dcg():
    for panel in pictures.PICTURES["gain"][0]():
        [strip] = panel.strips
        gains = {"gain=linear": [1, 2, 0, 1], "gain=exp2": [1, 3, 0, 1], "gain=table_0_1_5": [1, 5, 0, 1]}[panel.title]
        np.testing.assert_allclose(sum(strip.bars), dcg(gains))


@pytest.mark.parametrize("field", pictures.PICTURES)
def test_a_picture_is_an_svg_with_a_descriptive_title_and_its_results(field):
    panels = pictures.PICTURES[field][0]()
    root = ET.fromstring(pictures.draw(panels))  # noqa: S314 - our own text
    title = root.find("{http://www.w3.org/2000/svg}title").text
    assert title == pictures.describe(panels)
    assert [panel.title for panel in panels if f"{panel.title}: " not in title] == []
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert [panel.result for panel in panels if panel.result not in texts] == []
    assert float(root.get("width")) <= 480  # legible on a phone


@pytest.mark.parametrize("field", pictures.PICTURES)
def test_a_picture_in_a_page_has_an_alt_text(field):
    [(alt, file)] = re.findall(r"^!\[(.+)\]\((.+)\)$", pictures.shown(field), re.MULTILINE)
    assert alt == pictures.describe(pictures.PICTURES[field][0]())
    assert (DOCS / file).is_file()
