"""The report page: one file that needs nothing else."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.audit.web_page.charts import query_scatter
from tests.helpers.graded_queries import small

for package in ("scipy", "matplotlib", "jinja2"):
    pytest.importorskip(package)

CONVENTIONS = [ra.presets.yahoo(5), ra.presets.letor4(5), ra.presets.lightgbm(5)]
XHTML = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "headless_shell")


def make(models=2, **options):
    queries, scores = small()
    several = {"<first> & only": scores, "second": queries.labels + scores}
    chosen = dict(list(several.items())[:models])
    return ra.audit.page(queries, chosen, CONVENTIONS, n_resamples=49, **options)


@pytest.fixture(scope="module")
def text():
    return make(title="Models & conventions")


@pytest.fixture(scope="module")
def tree(text):
    html5lib = pytest.importorskip("html5lib")
    return html5lib.HTMLParser(strict=True).parse(text)


def inside(element):
    return "".join(element.itertext())


def test_html5lib_parses_the_page_strictly(tree):
    assert tree.get("lang") == "en"
    [title] = tree.iter(f"{XHTML}title")
    assert inside(title) == "Models & conventions"
    assert [element.get("name") for element in tree.iter(f"{XHTML}meta")][1] == "viewport"


def test_nothing_is_loaded_and_no_script_runs(text, tree):
    assert not list(tree.iter(f"{XHTML}script"))
    for element in tree.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on")
            if name.rpartition("}")[2] in {"href", "src", "srcset", "data", "action", "poster"}:
                assert value.startswith("#"), value
    assert not [target for target in re.findall(r"url\((.)", text) if target != "#"]
    assert "@import" not in text


def test_every_id_is_unique_and_every_link_and_label_has_its_target(tree):
    ids = [element.get("id") for element in tree.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    for element in tree.iter():
        wanted = (element.get("aria-labelledby") or "").split()
        if (element.get("href") or "").startswith("#"):
            wanted.append(element.get("href")[1:])
        assert set(wanted) <= set(ids)


def test_tables_have_captions_and_headers_with_a_scope(tree):
    tables = list(tree.iter(f"{XHTML}table"))
    assert len(tables) > 5
    for table in tables:
        assert inside(table.find(f"{XHTML}caption"))
        assert {head.get("scope") for head in table.iter(f"{XHTML}th")} == {"col", "row"}
        for line in table.find(f"{XHTML}tbody"):
            assert next(cell.tag for cell in line) == f"{XHTML}th"


def test_every_chart_has_a_text_in_its_place(tree):
    charts = list(tree.iter(f"{SVG}svg"))
    # For both models: a waterfall and a scatter for letor4 (lightgbm is yahoo without weights), and the curves.
    assert len(charts) == 6
    for chart in charts:
        assert chart.get("role") == "img"
        assert inside(chart.find(f"{SVG}title"))
        assert len(inside(chart.find(f"{SVG}desc"))) > 40
    words = [inside(chart.find(f"{SVG}desc")) for chart in charts]
    assert any("40 queries" in each for each in words)
    assert any(re.search(r"yahoo 0\.\d{4} at 1, 0\.\d{4} at 5", each) for each in words)


def test_the_page_holds_values_parts_and_signatures(text, tree):
    queries, scores = small()
    body = inside(tree)
    for convention in CONVENTIONS:
        assert str(convention) in body
        assert f"{ra.evaluate(queries, scores, convention).value:.6f}" in body
    parts = ra.audit.explain(queries, scores, *CONVENTIONS[:2]).contributions
    for part in parts.values():
        assert f"{part:+.6f}" in body or part == 0
    assert "2 models under 3 conventions, over 40 queries." in body
    first, *others = (convention.name for convention in CONVENTIONS)
    for other, ends in zip(others, (".", ", and every query has the same value."), strict=True):
        assert f"from {first} to {other}{ends}" in body
    assert "&lt;first&gt; &amp; only" in text


def test_the_curves_are_the_values_at_each_cutoff(tree):
    queries, scores = small()
    [words, _] = [inside(chart.find(f"{SVG}desc")) for chart in tree.iter(f"{SVG}svg") if "cutoff" in inside(chart[0])]
    for k in (1, 5, 10, 20):
        assert f"{ra.evaluate(queries, scores, ra.presets.letor4(k)).value:.4f} at {k}" in words


def test_the_same_input_gives_the_same_page(text):
    assert make(title="Models & conventions") == text


def test_one_model_and_one_convention_are_a_page_too():
    queries, scores = small()
    found = ra.audit.page(queries, {"only": scores}, CONVENTIONS[:1])
    assert "1 model under 1 convention, over 40 queries" in found
    assert "Does the convention change who wins?" not in found
    assert "Why the conventions differ" not in found


def test_conventions_without_values_at_some_cutoffs_leave_holes():
    queries, scores = small()
    convention = ra.presets.yahoo(5).replace(short="skip")  # beyond 13 rows every query is skipped
    found = ra.audit.page(queries, {"only": scores}, [convention])
    assert "no value at 20" in found


def test_a_second_measure_is_shown_without_a_gap():
    queries, scores = small()
    ndcg = ra.presets.yahoo(5)
    dcg = ra.DCG(**{name: value for name, value in ndcg.to_dict().items() if name not in {"ideal", "empty"}})
    found = ra.audit.page(queries, {"only": scores}, [ndcg, dcg])
    assert str(dcg) in found
    assert "NDCG@k, DCG@k" in found
    assert "parts of the gap" not in found


def test_conventions_that_differ_in_their_cutoff_only_are_one_line():
    queries, scores = small()
    other = ra.presets.yahoo(5).replace(gain="linear")
    found = ra.audit.page(queries, {"only": scores}, [ra.presets.yahoo(3), ra.presets.yahoo(5), other])
    [words] = re.findall(r"One line per convention. (.*?)\.</desc>", found)
    assert [line.partition(" ")[0] for line in words.split("; ")] == ["yahoo", other.name.partition("/")[2]]


@pytest.mark.parametrize(("missing", "extra"), [("jinja2", "report"), ("matplotlib", "plot"), ("scipy", "audit")])
def test_what_is_not_installed_is_named(missing, extra):
    code = f"""
import sys
sys.modules[{missing!r}] = sys.modules["matplotlib.figure"] = None
import rankadapters as ra
try:
    ra.audit.page([1, 0], {{"a": [1, 2], "b": [2, 1]}}, [ra.presets.yahoo(1)], group_sizes=[2])
except ra.MissingToolkitError as error:
    print(error)
"""
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert found == f'{missing} is not installed.\nHint: pip install "rankadapters[{extra}]"\n'


def test_bad_input_is_refused():
    with pytest.raises(ra.InputError, match="scores has 0 models; at least 1 must be given"):
        ra.audit.page([1, 0], {}, CONVENTIONS, group_sizes=[2])
    with pytest.raises(ra.InputError, match="model 'a': scores has 1 rows"):
        ra.audit.page([1, 0], {"a": [1]}, CONVENTIONS, group_sizes=[2])


PROBE = """<!DOCTYPE html><title>probe</title>
<iframe src="page.html" style="width:360px;height:700px;border:0"></iframe>
<script>addEventListener("load", () => {
  const page = document.querySelector("iframe").contentDocument, root = page.documentElement;
  const style = page.defaultView.getComputedStyle(page.body);
  const small = [...page.querySelectorAll("svg")].filter(svg => svg.getBoundingClientRect().width < 250).length;
  document.title = JSON.stringify({width: root.scrollWidth, height: root.scrollHeight, ground: style.backgroundColor,
    text: style.color, small, charts: page.querySelectorAll("svg").length});
});</script>"""


@pytest.fixture
def browse(text, tmp_path):
    """Open the page on a phone in headless Chromium, and give what a script finds there."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip(f"no browser is there: none of {', '.join(BROWSERS)} on the path, and no CHROMIUM")
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    (tmp_path / "probe.html").write_text(PROBE, encoding="utf-8")

    def run(*options, page="probe.html"):
        command = [
            found, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
            "--allow-file-access-from-files", f"--user-data-dir={tmp_path / 'profile'}", *options,
            (tmp_path / page).as_uri(),
        ]  # fmt: skip
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout

    return run


@pytest.mark.parametrize(("scheme", "darker"), [(0, True), (1, False)])
def test_a_phone_shows_all_of_the_page_in_dark_and_light(browse, scheme, darker):
    shown = browse(f"--blink-settings=preferredColorScheme={scheme}", "--virtual-time-budget=5000", "--dump-dom")
    seen = json.loads(re.search(r"<title>(.*?)</title>", shown)[1])
    assert seen["width"] == 360  # wide tables scroll by themselves, not the page
    assert (seen["charts"], seen["small"]) == (6, 0)
    light = {name: sum(map(int, re.findall(r"\d+", seen[name])[:3])) for name in ("ground", "text")}
    assert (light["ground"] < light["text"]) is darker
    assert abs(light["ground"] - light["text"]) > 500


def test_a_browser_paints_the_charts(browse, tmp_path):
    from matplotlib.image import imread

    picture = tmp_path / "page.png"
    browse("--window-size=500,3000", f"--screenshot={picture}", page="page.html")
    pixels = (imread(picture)[:, :, :3] * 255).round().astype(int)
    assert pixels.shape == (3000, 500, 3)
    colors = {tuple(color) for color in np.unique(pixels.reshape(-1, 3), axis=0).tolist()}
    assert (0x7F, 0x7F, 0x7F) in colors  # the ends of a waterfall
    assert (0xD5, 0x5E, 0x00) in colors


def test_the_template_is_package_data():
    from importlib.resources import files

    assert files("rankadapters.statistics").joinpath("page.html.jinja").is_file()


def test_conventions_without_a_cutoff_have_no_curve():
    queries, scores = small()
    conventions = ["letor4@5", "catboost.query_auc"]
    binary = queries.with_labels((queries.labels > 0).astype(float))
    text = ra.audit.page(binary, {"one": scores, "two": -scores}, conventions, n_resamples=49)
    assert "auc/catboost.query_auc" in text


def test_a_scatter_counts_queries_with_a_lower_and_a_higher_value_and_without_one():
    x, y = np.array([0.5, 0.5, 0.5, 0.1, 0.2, 0.3, np.nan, 1.0]), np.array([0.2, 0.5, 0.7, 0.3, 0.9, 0.1, 0.5, np.nan])
    caption = query_scatter(x, y, ("a", "b"), "model", "chart").caption
    assert "Of 8 queries 6 have a value under both: 2 a lower one under b, 3 a higher one, 1 the same." in caption
