"""Results as LaTeX and Markdown tables: read back, both contain the original texts and values."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.core.evaluation.table import Table, as_latex
from tests.helpers.rankings import ranking

DATA = ranking(1)
CONVENTIONS = [ra.parse("letor4@5"), ra.parse("yahoo@10+gain=table_0_1_3"), ra.parse("sklearn.roc_auc_score")]
COMMANDS = {
    "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textasciigrave": "`", "textless": "<",
    "textgreater": ">", "textbar": "|", "allowbreak": "",
}  # fmt: skip
TOKEN = re.compile(r"\\([A-Za-z]+)(?:\{\})?|\\([&%$#_{}])|\$-\$|\{([\[*])\}|(-)\{\}|([^\\&%$#_{}~^`<>|\[*])")


def read_latex(text):
    """Return the text that LaTeX prints; fail on anything that LaTeX would take for markup."""
    letters, end = [], 0
    while end < len(text):
        token = TOKEN.match(text, end)
        assert token, f"markup at {text[end:]!r}"
        assert not (text[end:].startswith("--")), "LaTeX sets -- as a dash"
        command, escaped, grouped, hyphen, letter = token.groups()
        letters.append(COMMANDS[command] if command else escaped or grouped or hyphen or letter or "-")
        end = token.end()
    return "".join(letters)


def read_tabular(latex):
    """Return the column alignments and the cells of the only tabular in a text."""
    pattern = r"^% .*\n\\begin\{tabular\}\{([lr]+)\}\n\\toprule\n((?s:.*))\\bottomrule\n\\end\{tabular\}$"
    [(alignments, body)] = re.findall(pattern, latex, re.MULTILINE)
    head, rule, lines = body.partition("\\midrule\n")
    assert rule
    rows = [line.removesuffix(r" \\") for line in (head + lines).splitlines()]
    cells = [[read_latex(cell.strip(" ")) for cell in re.split(r"(?<!\\)&", row)] for row in rows]
    assert all(len(row) == len(alignments) for row in cells)
    return alignments, cells


@given(st.text(st.characters(codec="ascii", exclude_categories=["Cc"])))
@example("--- -1 [x] *a* 50 % & a_b {c} $d$ #e ~f ^g \\h `i <j> |k|")
@example("\\textbar{}")
def test_latex_prints_every_text_unchanged(text):
    assert read_latex(as_latex(text)) == text


def test_line_breaks_do_not_end_rows_and_brackets_are_not_options():
    latex = Table.of("a\nb", ("[x]", "y"), [("*", "two\nlines"), ("[1]", "-0.5")]).latex()
    assert latex.splitlines()[0] == "% a b"
    assert read_tabular(latex) == ("ll", [["[x]", "y"], ["*", "two lines"], ["[1]", "-0.5"]])
    assert not re.search(r"\\\\\s*[\[*]|rule\s*\[", latex)


@pytest.fixture(scope="module")
def evaluator():
    return ra.Evaluator(DATA.y, CONVENTIONS, qid=DATA.qid)


def footnote_signatures(latex):
    [footnote] = re.findall(r"\{\\footnotesize\\raggedright (.*)\\par\}", latex, re.DOTALL)
    lines = [read_latex(line) for line in footnote.split(" \\\\\n")]
    return dict(line.split(": ", 1) for line in lines)


def test_scores_are_rows_above_a_footnote_of_their_signatures(evaluator):
    scores = evaluator.evaluate(DATA.X[:, 0])
    alignments, (head, *rows) = read_tabular(scores.to_latex())
    assert (alignments, head) == ("lrrrrr", ["name", "value", "queries", "scored", "empty", "short"])
    assert rows == [[convention.name, *score.cells()] for convention, score in scores.items()]
    assert footnote_signatures(scores.to_latex()) == {convention.name: str(convention) for convention in CONVENTIONS}


def test_a_score_is_one_row(evaluator):
    score = evaluator.evaluate(DATA.X[:, 0])[CONVENTIONS[1]]
    _, [_, row] = read_tabular(score.to_latex())
    assert row == [score.convention.name, f"{score:.4f}", "30", "30", str(score.n_empty), str(score.n_short)]
    assert ra.parse(footnote_signatures(score.to_latex())[score.convention.name]) == score.convention


def test_models_are_named_in_a_column():
    scores = ra.evaluate(DATA.y, {"a_1": DATA.X[:, 0], "b&c": DATA.X[:, 1]}, CONVENTIONS[:1], qid=DATA.qid)
    _, (head, *rows) = read_tabular(scores.to_latex())
    assert head[:2] == ["name", "model"]
    assert [row[1] for row in rows] == ["a_1", "b&c"]


def test_models_under_one_convention_are_shown_as_under_a_sequence_of_one():
    models = {"a_1": DATA.X[:, 0], "b&c": DATA.X[:, 1]}
    by_model, scores = (ra.evaluate(DATA.y, models, c, qid=DATA.qid) for c in (CONVENTIONS[0], CONVENTIONS[:1]))
    assert by_model == scores[CONVENTIONS[0]] == dict(by_model)
    assert by_model.to_latex() == scores.to_latex()
    assert by_model.to_markdown() == scores.to_markdown()
    assert by_model._repr_html_() == scores._repr_html_()
    assert "b&c" in by_model._repr_markdown_()
    by_segment = ra.evaluate(DATA.y, models, CONVENTIONS[0], qid=DATA.qid, by=DATA.qid)
    assert by_segment.all.to_latex() == by_model.to_latex()


def test_measurements_have_a_column_of_standard_errors(evaluator):
    measured = evaluator.measure(DATA.X[:, 0])
    _, (head, *rows) = read_tabular(measured.to_latex())
    assert head[:3] == ["name", "value", "standard error"]
    errors = measured.under(CONVENTIONS[:2]).standard_errors
    assert [row[2] for row in rows] == [*(f"{error:.4f}" for error in errors.values()), "-"]  # none over all rows


def test_results_have_a_row_per_method_and_a_column_per_data_set():
    scores = {method: ra.evaluate(DATA.y, DATA.X[:, i], CONVENTIONS[0], qid=DATA.qid) for i, method in enumerate("ab")}
    rows = [(method, name, score) for name in ("D_1", "D2") for method, score in scores.items()]
    results = ra.compare.Results(rows[:-1])
    assert results.to_latex().startswith("% ndcg@5\n")
    a, b = (f"{score:.4f}" for score in scores.values())
    assert read_tabular(results.to_latex())[1] == [["method", "D_1", "D2"], ["a", a, a], ["b", b, "-"]]
    assert footnote_signatures(results.to_latex()) == {"ndcg@5": str(CONVENTIONS[0])}


def test_printed_results_keep_their_decimals_and_need_no_signature():
    cells = {("a", "D1", "MAP"): "0.40", ("a", "D1", "P"): "0.123456", ("b", "D1", "MAP"): 0.5}
    results = ra.compare.Results(cells, higher_is_better=True)
    expected = [["method", "D1, MAP", "D1, P"], ["a", "0.40", "0.123456"], ["b", "0.5000", "-"]]
    assert read_tabular(results.to_latex())[1] == expected
    assert "footnotesize" not in results.to_latex()


def documents():
    evaluator = ra.Evaluator(DATA.y, CONVENTIONS, qid=DATA.qid)
    scores = evaluator.evaluate(DATA.X[:, 0])
    results = ra.compare.Results([(m, d, scores[CONVENTIONS[0]]) for m in ("a|b", "c_d") for d in ("D1", "<D2>")])
    yield from (scores, scores[CONVENTIONS[0]], evaluator.measure(DATA.X[:, 0]), results)
    numbers = ra.compare.winning_numbers(results)
    yield from (numbers, ra.compare.front(numbers), ra.compare.leave_one_out(results))


@pytest.mark.parametrize("document", [*documents()], ids=lambda document: type(document).__name__)
def test_markdown_renders_to_the_same_cells(document):
    html5lib = pytest.importorskip("html5lib")
    renderer = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    page = html5lib.parse(renderer.render(document.to_markdown()), namespaceHTMLElements=False)
    tables = [block for block in document.blocks() if isinstance(block, Table)]
    rendered = [
        [["".join(cell.itertext()) for cell in row if cell.tag in {"th", "td"}] for row in table.iter("tr")]
        for table in page.iter("table")
    ]
    assert rendered == [[list(line) for line in (table.head, *table.lines)] for table in tables]


@pytest.mark.parametrize("document", [*documents()], ids=lambda document: type(document).__name__)
def test_latex_braces_and_tabulars_are_balanced(document):
    latex = re.sub(r"\\[{}]|^%.*$", "", document.to_latex(), flags=re.MULTILINE)
    depth = np.cumsum([{"{": 1, "}": -1}.get(letter, 0) for letter in latex])
    assert depth.min() >= 0
    assert depth[-1] == 0
    tables = sum(isinstance(block, Table) for block in document.blocks())
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == latex.count(r"\midrule") == tables
