"""The documentation as a site: pages run as notebooks, links work, and pictures have alt texts."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import rankadapters as ra
from rankadapters.core.measures import MEASURES
from tests.docs.scripts import script

ROOT = Path(__file__).parent.parent.parent
SOURCES = sorted([*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "reference").glob("*.md")])


@pytest.fixture(scope="module")
def executed():
    pytest.importorskip("nbformat")
    return script("executed")


@pytest.fixture
def faults_of_site(tmp_path):
    def write(**pages):
        for name, text in pages.items():
            (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
        return list(script("links").faults(tmp_path))

    return write


PAGE = """# One

```python
a = 1
```

```py
shown()
```

<!-- drawn: A line
that rises. -->
```python
plot(a)
```

End.
"""


def test_python_blocks_become_code_cells_and_the_rest_markdown(executed):
    notebook = executed.read(PAGE)
    assert [cell.cell_type for cell in notebook.cells] == ["markdown", "code", "markdown", "code", "markdown"]
    assert [cell.source for cell in notebook.cells if cell.cell_type == "code"] == ["a = 1", "plot(a)"]
    assert "```py\nshown()\n```" in notebook.cells[2].source
    assert notebook.cells[-1].source == "\n\nEnd.\n"


def test_a_code_cell_has_its_line_number_and_the_alt_text_of_its_picture(executed):
    notebook = executed.read(PAGE)
    lines = PAGE.splitlines()
    assert [lines[line] for line in notebook.metadata.source_map[1::2]] == ["a = 1", "plot(a)"]
    assert notebook.cells[3].metadata.mystnb == {"image": {"alt": "A line that rises."}}
    assert notebook.cells[1].metadata.mystnb == {}


@pytest.mark.parametrize(
    ("link", "broken"),
    [
        ("two.html", False),
        ("two.html#part", False),
        ("two.html#gone", True),
        ("three.html", True),
        ("#here", False),
        ("#gone", True),
        ("#", False),
        ("https://example.org/gone", False),
        ("mailto:a@example.org", False),
    ],
)
def test_a_broken_link_is_reported(faults_of_site, link, broken):
    faults = faults_of_site(one=f'<p id="here"><a href="{link}">x</a></p>', two='<section id="part"></section>')
    assert faults == ([f"one.html: the link {link} leads nowhere"] if broken else [])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('<a href="mailto:ndcg%4010">ndcg@10</a>', "mailto:ndcg%4010 is a text such as measure@10"),
        ('<a href="#a"><em>optional</em></a><p id="a">', "the word optional of a type is a link"),
        ('<a href="#a"><em>int</em></a>, <em>optional</em><p id="a">', None),
    ],
)
def test_a_link_that_is_no_link_is_reported(faults_of_site, text, fault):
    assert faults_of_site(one=text) == ([f"one.html: {fault}"] if fault else [])


@pytest.mark.parametrize(("alt", "missing"), [('alt="A curve"', False), ('alt=" "', True), ("", True)])
def test_a_picture_without_alt_text_is_reported(faults_of_site, tmp_path, alt, missing):
    (tmp_path / "a.svg").write_text("<svg/>", encoding="utf-8")
    faults = faults_of_site(one=f'<img src="a.svg" {alt}>')
    assert faults == (["one.html: the picture a.svg has no alt text"] if missing else [])


def anchors(page):
    """Return the anchors of a page's headings, as Sphinx and repository hosts make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#{1,4} (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_link_targets_in_the_checkout_exist():
    missing = []
    for page in [*SOURCES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
        for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", page.read_text(encoding="utf-8")):
            file = page.parent / target if target else page
            if "://" not in target and not (file.exists() and (not anchor or anchor in anchors(file))):
                missing.append(f"{page.name}: {target}#{anchor}")
    assert missing == []


def test_pictures_in_the_pages_have_alt_texts():
    without_alt = []
    for page in SOURCES:
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"^```\{(?:image|figure)\}.*?^```", text, re.DOTALL | re.MULTILINE)
        directives = [block for block in blocks if not re.search(r"^:alt: \S", block, re.MULTILINE)]
        without_alt += [f"{page.name}: {picture}" for picture in [*re.findall(r"!\[\s*\]", text), *directives]]
    assert without_alt == []


def toctree_entries(page):
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    lines = [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]
    return [re.sub(r".*<(.+)>", r"\1", line) for line in lines]


def test_every_page_is_in_the_sidebar():
    listed = [entry for page in ("index", "api") for entry in toctree_entries(ROOT / "docs" / f"{page}.md")]
    pages = [page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in SOURCES]
    assert sorted(listed) == sorted(page for page in pages if page != "index")


REFERENCE = "\n".join(page.read_text("utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))


@pytest.mark.parametrize("module", [name for name in ra._SUBMODULES if name != "presets"])
def test_every_public_name_of_a_module_is_in_the_reference(module):
    blocks = re.findall(rf"automodule:: rankadapters\.{module}\n(.*?)^```", REFERENCE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 1
    if blocks[0].startswith("   :members:"):
        return  # the page documents all names
    listed = re.findall(rf"currentmodule:: rankadapters\.{module}\n(.*?)^```", REFERENCE, re.DOTALL | re.MULTILINE)
    documented = re.findall(r"^\.\. auto(?:class|data|function|exception):: (\w+)", "\n".join(listed), re.MULTILINE)
    toolkit = pytest.importorskip(f"rankadapters.{module}", exc_type=ra.MissingToolkitError)
    subpackages = {name for name in toolkit.__all__ if inspect.ismodule(getattr(toolkit, name))}
    assert sorted(documented) == sorted(set(toolkit.__all__) - subpackages)


def test_every_public_name_of_the_package_is_in_the_reference():
    blocks = re.findall(r"currentmodule:: rankadapters\n(.*?)^```", REFERENCE, re.DOTALL | re.MULTILINE)
    documented = re.findall(r"^\.\. auto(?:class|data|function|exception):: (\w+)", "\n".join(blocks), re.MULTILINE)
    measures = {measure.__name__ for measure in MEASURES.values()}  # their blocks are generated
    names = set(ra.__all__) - measures - {"__version__", "presets"}
    assert sorted(name for name in names if documented.count(name) != 1) == []
