"""`ra.audit.page` makes a report page: one accessible file that loads nothing else."""

from __future__ import annotations

import base64
import re

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.audit import web_page
from rankadapters.plotting.plots import curves
from tests.helpers.rankings import small_queries

pytest.importorskip("matplotlib")

CONVENTIONS = [ra.presets.yahoo(5), ra.presets.letor4(5), ra.presets.lightgbm(5)]
XHTML = "{http://www.w3.org/1999/xhtml}"
IMAGE = "data:image/svg+xml;base64,"


def make_page():
    queries, scores = small_queries()
    models = {"<first> & only": scores, "second": queries.labels + scores}
    return ra.audit.page(queries, models, CONVENTIONS, n_resamples=49, title="Models & conventions")


@pytest.fixture(scope="module")
def text():
    return make_page()


@pytest.fixture(scope="module")
def tree(text):
    html5lib = pytest.importorskip("html5lib")
    return html5lib.HTMLParser(strict=True).parse(text)


def text_in(element):
    return "".join(element.itertext())


def pictures(tree):
    return list(tree.iter(f"{XHTML}img"))


def test_html5lib_parses_the_page_strictly(tree):
    assert tree.get("lang") == "en"
    [title] = tree.iter(f"{XHTML}title")
    assert text_in(title) == "Models & conventions"
    assert [element.get("name") for element in tree.iter(f"{XHTML}meta")][1] == "viewport"


def test_the_page_loads_nothing_and_has_no_script(text, tree):
    assert not list(tree.iter(f"{XHTML}script"))
    for element in tree.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            if name.rpartition("}")[2] in {"href", "src", "srcset", "data", "action", "poster"}:
                assert value.startswith(IMAGE), value[:40]
    for image in pictures(tree):
        svg = base64.b64decode(image.get("src").removeprefix(IMAGE)).decode()
        assert not [target for target in re.findall(r"(?:url\(|href=\")(.)", svg) if target != "#"]
        assert svg.endswith("</svg>\n")
    assert "url(" not in text
    assert "@import" not in text


def test_the_page_fits_a_phone_and_follows_the_browsers_dark_and_light(text):
    """Without the browser that showed this once: a wide table scrolls by itself, and a picture is never wider."""
    styles = (
        "color-scheme: light dark;", "background: Canvas; color: CanvasText;", ".scroll { overflow-x: auto;",
        "img { max-width: 100%;", 'content="width=device-width, initial-scale=1"',
    )  # fmt: skip
    assert [style for style in styles if style not in text] == []
    assert text.count('class="scroll"') == text.count("<table")


def test_tables_have_captions_and_headers_with_a_scope(tree):
    tables = list(tree.iter(f"{XHTML}table"))
    assert len(tables) > 5
    for table in tables:
        assert text_in(table.find(f"{XHTML}caption"))
        assert {head.get("scope") for head in table.iter(f"{XHTML}th")} == {"col", "row"}
        for line in table.find(f"{XHTML}tbody"):
            assert next(cell.tag for cell in line) == f"{XHTML}th"


def test_every_picture_has_a_caption_and_a_description(tree):
    # The difference; each model has curves, and a waterfall for letor4; without weights lightgbm equals yahoo.
    assert len(pictures(tree)) == 5
    for figure in tree.iter(f"{XHTML}figure"):
        assert re.match("<first> & only: |second: |The difference", text_in(figure.find(f"{XHTML}figcaption")))
    descriptions = [picture.get("alt") for picture in pictures(tree)]
    assert min(map(len, descriptions)) > 40
    assert any(re.search(r"yahoo 0\.\d{4} at 1, 0\.\d{4} at 5", description) for description in descriptions)


def test_the_page_contains_values_parts_and_signatures(text, tree):
    queries, scores = small_queries()
    body = text_in(tree)
    for convention in CONVENTIONS:
        assert str(convention) in body
        assert f"{ra.evaluate(queries, scores, convention).value:.6f}" in body
    parts = ra.audit.explain(queries, scores, *CONVENTIONS[:2]).contributions
    for part in parts.values():
        assert f"{part:+.6f}" in body or part == 0
    assert "2 models under 3 conventions, over 40 queries." in body
    first_name, *other_names = (convention.name for convention in CONVENTIONS)
    for name, end in zip(other_names, (".", ", and every query has the same value."), strict=True):
        assert f"from {first_name} to {name}{end}" in body
    assert "&lt;first&gt; &amp; only" in text


def test_the_curves_show_the_values_at_each_cutoff(tree):
    queries, scores = small_queries()
    [description, _] = [picture.get("alt") for picture in pictures(tree) if " at 20" in picture.get("alt")]
    for k in (1, 5, 10, 20):
        assert f"{ra.evaluate(queries, scores, ra.presets.letor4(k)).value:.4f} at {k}" in description


def test_the_curves_are_drawn_at_the_cutoffs_1_to_20(monkeypatch):
    drawn = []
    monkeypatch.setattr(web_page, "curves", lambda x, *rest: drawn.append(x) or curves(x, *rest))
    queries, scores = small_queries()
    ra.audit.page(queries, {"only": scores}, CONVENTIONS[:1])
    assert drawn == [list(range(1, 21))]


@pytest.mark.long
def test_the_same_input_gives_the_same_page(text):
    assert make_page() == text


def test_a_page_of_one_model_and_one_convention_compares_nothing():
    queries, scores = small_queries()
    page = ra.audit.page(queries, {"only": scores}, CONVENTIONS[:1])
    assert "1 model under 1 convention, over 40 queries" in page
    assert "Pairs of models" not in page
    assert "Why the conventions differ" not in page


YAHOO = ra.presets.yahoo(5)
DCG = ra.DCG(**{name: value for name, value in YAHOO.to_dict().items() if name in ra.DCG.fields()})


@pytest.mark.long
@pytest.mark.parametrize(
    ("conventions", "shown", "absent"),
    [
        ([YAHOO.replace(short="skip")], "no value at 20", None),  # no query has more than 13 rows
        ([YAHOO, DCG], "value against the cutoff", "parts of the gap"),  # of different measures
        (["letor4@5", "catboost.query_auc"], "auc/catboost.query_auc", None),  # without a cutoff and a curve
    ],
)
def test_a_page_has_curves_and_parts_only_where_there_are_any(conventions, shown, absent):
    queries, scores = small_queries()
    binary = queries.with_labels((queries.labels > 0).astype(float))
    page = ra.audit.page(binary, {"one": scores, "two": -scores}, conventions, n_resamples=49)
    assert shown in page
    assert absent is None or absent not in page


@pytest.mark.long
def test_conventions_that_differ_only_in_the_cutoff_share_a_curve():
    queries, scores = small_queries()
    linear = YAHOO.replace(gain="linear")
    page = ra.audit.page(queries, {"only": scores}, [ra.presets.yahoo(3), YAHOO, linear])
    [description] = re.findall(r'alt="One line per convention. (.*?)\."', page)
    assert [entry.partition(" ")[0] for entry in description.split("; ")] == ["yahoo", linear.name.partition("/")[2]]


def test_a_page_of_runs_says_how_many_queries_each_of_them_scored():
    qid, labels, judged = [1, 1, 2, 2, 3, 3], [1, 0, 1, 0, 1, 0], [True] * 6
    queries = {
        "all": ra.Queries(labels, qid=qid, judged=judged, retrieved=[True] * 6),
        "few": ra.Queries(labels, qid=qid, judged=judged, retrieved=[False, False, True, True, True, True]),
    }
    models = {"all": [1, 2, 2, 1, 2, 1], "few": [1, 2, 2, 1, 2, 1]}
    convention = ra.presets.yahoo(2).replace(missing="skip")
    page = ra.audit.page(queries, models, convention, n_resamples=9)
    assert "all scored 3 queries, few scored 2: the comparison is over the 2 queries of all models" in page
    assert "gaps and curves are over the queries that each model scored" in page
    assert "compare neither models nor cutoffs" in page
    assert page.count("1.000000") >= 2  # both rank the common queries perfectly


def test_a_page_begins_with_a_sentence_and_ends_with_the_conventions():
    html5lib = pytest.importorskip("html5lib")
    queries, scores = small_queries()
    by = ["short" if size < 6 else "long" for size in np.diff(queries.indptr)]
    by = dict(zip(queries.query_ids.tolist(), by, strict=True))
    models = {"A": scores, "B": queries.labels + scores}
    page = ra.audit.page(queries, models, CONVENTIONS[:2], by=by, n_resamples=999)
    [main] = html5lib.HTMLParser(strict=True).parse(page).iter(f"{XHTML}main")
    _, sentence, *rest = main
    assert re.fullmatch(
        r"B is better than A by \d\.\d{3} \(\d\.\d{3} to \d\.\d{3}\), in 2 of 2 segments\.", text_in(sentence)
    )
    heads = [text_in(element) for element in rest if element.tag == f"{XHTML}h2"]
    assert heads[:2] == ["Segments of queries", "Models"]
    assert heads[-2:] == ["Why the conventions differ", "Conventions"]
    assert str(CONVENTIONS[0]) in text_in(main[-1])
