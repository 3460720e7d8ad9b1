"""Results as printed tables, frames, Markdown, LaTeX and figures: read back, each has the original texts and values."""

from __future__ import annotations

import functools
import re
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.evaluation.score import cells
from rankadapters.evaluation.table import Table, as_latex

CONVENTIONS = [ra.parse("letor4@5"), ra.parse("yahoo@10+gain=table_0_1_3"), ra.parse("sklearn.roc_auc_score")]
COMMANDS = {
    "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textasciigrave": "`", "textless": "<",
    "textgreater": ">", "textbar": "|", "allowbreak": "",
}  # fmt: skip
BOLD = re.compile(r"\\textbf\{(.*?)\}(?=$| &| \\\\)")
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
    cells = [[read_latex(BOLD.sub(r"\1", cell.strip(" "))) for cell in re.split(r"(?<!\\)&", row)] for row in rows]
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
    assert read_tabular(latex) == ("ll", [["[x]", "y"], ["*", r"two\nlines"], ["[1]", "-0.5"]])
    assert not re.search(r"\\\\\s*[\[*]|rule\s*\[", latex)


LABELS, SIZES = [2, 1, 0, 1, 2, 0], [3, 3]
MODELS = {"a_1": [4, 5, 1, 2, 0, 3], "b&c": [3, 0, 4, 1, 2, 5], "d|e": [4, 5, 1, 2, 0, 3]}  # the first and last tie
ONE, TWO = "sklearn@2", ["sklearn@2", "catboost.query_rmse"]  # lower is better for the second
NAMES = [ra.parse(text).name for text in TWO]


def evaluate(scores, conventions, **arguments):
    return ra.evaluate(LABELS, scores, conventions, group_sizes=SIZES, **arguments)


def results():
    scores = [(model, data, evaluate(MODELS[model], ONE)) for model in MODELS for data in ("D1", "<D2>")]
    return ra.compare.Results(scores[:-1])


def parity_report():
    numbers = {"values": [0.5, 0.75], "our_values": [0.5, 1], "contributions": [0.25, -0.125]}
    columns = {name: np.array(column) for name, column in {"query_ids": ["q_7", "q_9"], **numbers}.items()}
    differences = ra.parity.QueryDifferences(**columns)
    row = ra.parity.ParityRow.compare(
        "a log", "1.0", ra.parse(ONE), value=0.625, our_value=0.75, tolerance=1e-9, per_query=differences
    )
    return ra.parity.ParityReport((row,))


def last_hit(labels, scores):
    return float(labels[np.argsort(-scores, kind="stable")[:2]].any())


BINARY = {"labels": [1, 0, 0, 1], "group_sizes": [2, 2]}
EFFECTS = ["k", "ideal", "gain", "discount", "ties", "precision", "short", "empty", "average"]
FIELDS = list(ra.parse("ranx.hit_rate@2").fields())
# The maker of each result, all names that its figure has, and a column of its frame with the values in it.
RESULTS = {
    "one score": (lambda: evaluate(MODELS["a_1"], ONE), NAMES[:1], "name", NAMES[:1]),
    "scores": (lambda: evaluate(MODELS["a_1"], TWO), NAMES, "name", NAMES),
    "models": (lambda: evaluate(MODELS, ONE), [*MODELS, NAMES[0]], "model", [*MODELS]),
    "models and conventions": (lambda: evaluate(MODELS, TWO), [*MODELS, *NAMES], "model", [*MODELS, *MODELS]),
    "measured": (lambda: ra.Evaluator(LABELS, TWO, group_sizes=SIZES).measure(MODELS["a_1"]), NAMES, "name", NAMES),
    "segments": (lambda: evaluate(MODELS["a_1"], ONE, by={0: "no", 1: "se"}), ["no", "se"], "n_queries", [1, 1, 2]),
    "segments of models": (
        lambda: evaluate(MODELS, TWO, by={0: "no", 1: "se"}), [f"no, d|e, {NAMES[1]}", f"se, a_1, {NAMES[0]}"],
        "model", [*MODELS] * 6,
    ),
    "order": (
        lambda: ra.audit.order(LABELS, MODELS, TWO, group_sizes=SIZES, n_resamples=9), [*MODELS, *NAMES],
        "first", ["a_1", "a_1", "a_1", "a_1", "b&c", "b&c"],
    ),
    "explain": (
        lambda: ra.audit.explain(LABELS, MODELS["a_1"], ONE, "yahoo@2", group_sizes=SIZES),
        [NAMES[0], "ndcg@2/yahoo", "gain"], "field", ["gain", "ties", "empty", "average"],
    ),
    "identify": (
        lambda: ra.audit.identify(**BINARY, scores=[2, 1, 2, 1], value="0.5", measure="success", k=1),
        ["sklearn.top_k_accuracy_score@1"], "value", [0.5, 0.5],
    ),
    "profile": (
        lambda: ra.audit.profile(LABELS, k=2, scores=MODELS["a_1"], group_sizes=SIZES), EFFECTS, "field", EFFECTS,
    ),
    "probe": (
        lambda: ra.audit.probe(last_hit, takes="query", k=2, measures=["success"], labels=[0, 1]),
        ["k", "relevant", "ties", "empty"], "field", FIELDS,
    ),
    "parity": (parity_report, ["q_7", "q_9", "a log 1.0 less ours"], "value", [0.625]),
    "results": (results, [*MODELS, "D1", "<D2>"], "method", ["a_1", "a_1", "b&c", "b&c", "d|e"]),
    "winning numbers": (
        lambda: ra.compare.winning_numbers(results()), [*MODELS], "data sets", [2, 1, 2],
    ),
    "one left out": (lambda: ra.compare.leave_one_out(results()), [*MODELS], "method", [*MODELS]),
    "front": (lambda: ra.compare.front(ra.compare.winning_numbers(results())), [*MODELS], "rank", [1, 2, 2]),
    "conformance": (
        lambda: ra.conformance.check(last_hit, "letor4.p@2", takes="query", labels=[0, 1]), ["cutoff", "one document"],
        "expected", ["0.5"] * 15,
    ),
}  # fmt: skip
make = functools.cache(lambda name: RESULTS[name][0]())


def footnote_signatures(latex):
    [footnote] = re.findall(r"\{\\footnotesize\\raggedright (.*)\\par\}", latex, re.DOTALL)
    lines = [read_latex(line) for line in footnote.split(" \\\\\n")]
    return dict(line.split(": ", 1) for line in lines)


def test_scores_are_rows_above_a_footnote_of_their_signatures():
    scores = evaluate(MODELS["a_1"], CONVENTIONS)
    alignments, (head, *rows) = read_tabular(scores.to_latex())
    assert (alignments, head) == ("lrrrrr", ["name", "value", "queries", "scored", "empty", "short"])
    assert rows == [[convention.name, *cells(score, 4)] for convention, score in scores.items()]
    assert footnote_signatures(scores.to_latex()) == {convention.name: str(convention) for convention in CONVENTIONS}


def test_a_score_is_one_row():
    score = evaluate(MODELS["a_1"], CONVENTIONS[1])
    _, [_, row] = read_tabular(score.to_latex())
    assert row == [score.convention.name, f"{score:.4f}", "2", "2", "0", "2"]
    assert ra.parse(footnote_signatures(score.to_latex())[score.convention.name]) == score.convention


def test_models_are_rows_and_conventions_are_columns():
    scores = make("models and conventions")
    rows = [[model, *(f"{of_models[model]:.4f}" for of_models in scores.values())] for model in MODELS]
    assert read_tabular(scores.to_latex())[1] == [["model", *NAMES], *rows]


def test_models_under_one_convention_are_shown_as_under_a_sequence_of_one():
    by_model, scores = make("models"), evaluate(MODELS, [ONE])
    assert by_model == scores[ONE] == dict(by_model)
    assert by_model.to_latex() == scores.to_latex()
    assert by_model.to_markdown() == scores.to_markdown()
    assert by_model._repr_html_() == scores._repr_html_()
    assert "b&c" in by_model._repr_markdown_()
    assert evaluate(MODELS, ONE, by={0: "no", 1: "se"}).all.to_latex() == by_model.to_latex()


def test_measurements_have_a_column_of_standard_errors():
    measured = ra.Evaluator(LABELS, CONVENTIONS, group_sizes=SIZES).measure(MODELS["a_1"])
    _, (head, *rows) = read_tabular(measured.to_latex())
    assert head[:3] == ["name", "value", "standard error"]
    errors = measured.under(CONVENTIONS[:2]).standard_errors
    assert [row[2] for row in rows] == [*(f"{error:.4f}" for error in errors.values()), "-"]  # none over all rows


def test_results_have_a_row_per_method_and_a_column_per_data_set():
    latex, (a, b, _) = make("results").to_latex(), (f"{score:.4f}" for score in make("models").values())
    assert latex.startswith("% ndcg@2\n")
    assert read_tabular(latex)[1] == [["method", "D1", "<D2>"], ["a_1", a, a], ["b&c", b, b], ["d|e", a, "-"]]
    assert footnote_signatures(latex) == {"ndcg@2": str(ra.parse(ONE))}


def test_printed_results_keep_their_decimals_and_need_no_signature():
    cells = {("a", "D1", "MAP"): "0.40", ("a", "D1", "P"): "0.123456", ("b", "D1", "MAP"): 0.5}
    results = ra.compare.Results(cells, higher_is_better=True)
    expected = [["method", "D1, MAP", "D1, P"], ["a", "0.40", "0.123456"], ["b", "0.5000", "-"]]
    assert read_tabular(results.to_latex())[1] == expected
    assert "footnotesize" not in results.to_latex()


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_prints_and_is_a_frame_and_a_figure(name):
    pytest.importorskip("pandas")
    pytest.importorskip("adjustText")  # of fronts
    text = pytest.importorskip("matplotlib.text")
    result, (_, names, column, values) = make(name), RESULTS[name]
    if name not in {"one score", "results"}:  # a score prints as one line, results as their first cells
        assert all(cell in str(result) for line in result.table().lines for cell in line)
    frame = result.to_frame()
    assert len(frame) == len(values)
    assert frame[column].tolist() == values
    figure = result.plot()
    figure.draw_without_rendering()  # warns where the axes collapse, which fails a test
    corners = [corner for label in figure.texts for corner in label.get_window_extent().corners()]
    assert all(figure.bbox.contains(*corner) for corner in corners)
    texts = "\n".join(label.get_text() for label in figure.findobj(text.Text))
    assert [name for name in names if name not in texts] == []


LOWER = {("a", "D", "m"): 0.471, ("b", "D", "m"): 0.474, ("c", "D", "m"): 0.4, ("c", "E", "m"): 0.5}


@pytest.mark.parametrize(
    ("result", "decimals", "bold"),
    [
        (lambda: make("models"), None, ["0.5498"] * 2),  # a tie
        (lambda: make("models and conventions"), 2, ["0.55", "1.70"] * 2),
        (lambda: make("order"), 1, ["0.5 (1)", "1.7 (1)"] * 2),
        (lambda: make("segments of models"), 2, [
            *["0.86"] * 2, *["1.25"] * 2, "0.48", *["2.05"] * 2, *["0.55"] * 2, *["1.70"] * 2,
        ]),
        (lambda: ra.compare.Results(LOWER, higher_is_better=True), None, ["0.4740"]),
        (lambda: ra.compare.Results(LOWER, higher_is_better=True), 2, ["0.47", "0.47"]),  # they print alike
        (lambda: ra.compare.Results(LOWER, higher_is_better=False), 0, ["0"] * 3),
        (lambda: ra.compare.Results(LOWER, higher_is_better=False), 6, ["0.400000"]),
        *((lambda name=name: make(name), None, []) for name in ("scores", "segments", "explain", "parity")),
    ],
)  # fmt: skip
def test_the_best_model_under_each_convention_is_bold(result, decimals, bold):
    assert BOLD.findall(result().to_latex(decimals=decimals)) == bold
    assert re.findall(r"\*\*(.*?)\*\*", result().to_markdown(decimals=decimals)) == bold


def test_a_frame_has_exact_numbers():
    pytest.importorskip("pandas")
    for name in ("scores", "models", "models and conventions"):
        scores = make(name) if name != "models" else {ONE: make(name)}
        values = [float(s) for of in scores.values() for s in (of.values() if isinstance(of, dict) else [of])]
        assert make(name).to_frame()["value"].tolist() == values
    assert make("winning numbers").to_frame()["NWN"].tolist() == [2 / 3, 1 / 2, 0]
    differences = [comparison.difference for comparison in make("order").comparisons]
    assert make("order").to_frame()["difference"].tolist() == differences


def test_values_that_differ_are_printed_with_decimals_that_show_it():
    models = {"a": [0, 0], "b": [2e-5, -2e-5], "c": [0, 0]}
    scores = ra.evaluate([1, 0], models, "catboost.query_rmse", group_sizes=[2])
    assert [line[1] for line in scores.table().lines] == ["0.50000", "0.49998", "0.50000"]
    assert BOLD.findall(scores.to_latex()) == ["0.49998"]


def test_a_dict_of_models_that_holds_other_values_prints_as_a_dict():
    scores = evaluate(MODELS, ONE)
    scores["best"] = 1.0
    assert str(scores) == repr(scores) == repr(dict(scores))
    scores.clear()
    assert str(scores) == "{}"


@pytest.mark.parametrize("decimals", [-1, 1.5, "2", True, 99])
def test_decimals_are_a_whole_number(decimals):
    for write in (make("models").to_latex, make("models").to_markdown):
        with pytest.raises(ra.InputError, match=r"^decimals=.*; allowed are whole numbers from 0 to 17"):
            write(decimals=decimals)


def test_only_a_frame_needs_pandas_and_only_a_figure_matplotlib(monkeypatch):
    scores = evaluate(MODELS, TWO)
    for module in ("pandas", "matplotlib", "rankadapters.plotting.figures"):
        monkeypatch.setitem(sys.modules, module, None)
    assert str(scores)
    assert scores.to_markdown()
    assert scores.to_latex(decimals=3)
    with pytest.raises(ra.MissingToolkitError, match=r"^pandas is not installed\.\n.*\[frame\]"):
        scores.to_frame()
    with pytest.raises(ra.MissingToolkitError, match=r"^matplotlib is not installed\.\n.*\[plot\]"):
        scores.plot()


@pytest.mark.parametrize("name", RESULTS)
def test_markdown_renders_to_the_same_cells(name):
    html5lib = pytest.importorskip("html5lib")
    renderer = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    document = make(name)
    page = html5lib.parse(renderer.render(document.to_markdown()), namespaceHTMLElements=False)
    tables = [block for block in document.blocks() if isinstance(block, Table)]
    rendered = [
        [["".join(cell.itertext()) for cell in row if cell.tag in {"th", "td"}] for row in table.iter("tr")]
        for table in page.iter("table")
    ]
    assert rendered == [[list(line) for line in (table.head, *table.lines)] for table in tables]


@pytest.mark.parametrize("name", RESULTS)
def test_latex_braces_and_tabulars_are_balanced(name):
    document = make(name)
    latex = re.sub(r"\\[{}]|^%.*$", "", document.to_latex(), flags=re.MULTILINE)
    depth = np.cumsum([{"{": 1, "}": -1}.get(letter, 0) for letter in latex])
    assert depth.min() >= 0
    assert depth[-1] == 0
    tables = sum(isinstance(block, Table) for block in document.blocks())
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == latex.count(r"\midrule") == tables
