"""Long work shows a progress bar on a terminal, and nothing elsewhere."""

import sys
from contextlib import nullcontext

import pytest

import rankadapters as ra
from rankadapters import progress
from rankadapters.progress import advance, shown, step_of_file
from tests.helpers.command import Terminal

LABELS, SCORES, SIZES = [2, 0, 1, 0], [0.1, 0.4, 0.3, 0.2], [2, 2]
COLUMNS = {"group_sizes": SIZES}


def use_terminal(monkeypatch):
    # This is no fixture: pytest replaces stderr again between a fixture and its test.
    pytest.importorskip("tqdm")
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "SOON", 0)
    monkeypatch.setattr(progress, "INTERVAL", 0)
    return sys.stderr


def identify(**options):
    return ra.audit.identify(LABELS, SCORES, value="0.5", k=2, group_sizes=SIZES, **options)


AUDITS = {
    "profiling": lambda: ra.audit.profile(LABELS, k=2, group_sizes=SIZES),
    "searching": identify,
    "comparing": lambda: ra.audit.order(
        LABELS, {"a": SCORES, "b": SCORES[::-1]}, ["yahoo@2"], n_resamples=9, group_sizes=SIZES
    ),
    "making the page": lambda: ra.audit.page(LABELS, {"a": SCORES}, ["yahoo@2"], n_resamples=9, group_sizes=SIZES),
    "training the toolkits' models": lambda: ra.parity.crosscheck_models(
        *ra.datasets.mq2008_like(random_state=0, n_train_queries=5, n_test_queries=5), toolkits=["sklearn"]
    ),
}
NEEDED_PACKAGES = {
    "comparing": ["scipy"],
    "making the page": ["scipy", "matplotlib"],
    "training the toolkits' models": ["sklearn"],
}


@pytest.mark.parametrize(
    "title", [pytest.param(title, marks=[] if title == "comparing" else pytest.mark.long) for title in AUDITS]
)
def test_long_work_shows_a_bar_only_on_a_terminal_with_tqdm(capsys, monkeypatch, title):
    for package in NEEDED_PACKAGES.get(title, []):
        pytest.importorskip(package)
    AUDITS[title]()
    assert "".join(capsys.readouterr()).strip() == ""  # seen once in a random order: a line end of unknown source
    terminal = use_terminal(monkeypatch)
    AUDITS[title]()
    assert title in terminal.getvalue()
    assert "100%" in terminal.getvalue()
    terminal = use_terminal(monkeypatch)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    AUDITS[title]()
    assert terminal.getvalue() == ""


def test_quick_work_shows_no_bar(monkeypatch):
    use_terminal(monkeypatch)
    monkeypatch.setattr(progress, "SOON", 60)
    ra.audit.profile(LABELS, k=2, group_sizes=SIZES)
    assert sys.stderr.getvalue() == ""


def test_work_inside_other_work_moves_the_outer_bar(monkeypatch):
    terminal = use_terminal(monkeypatch)
    with shown("outside", after=0):
        with shown("inside"):
            advance(1, 4)
        assert "25%" in terminal.getvalue()
    assert "inside" not in terminal.getvalue()


def test_a_bar_names_the_current_step_and_leaves_printing_alone(monkeypatch):
    terminal, printed = use_terminal(monkeypatch), Terminal()
    monkeypatch.setattr(sys, "stdout", printed)
    with shown("training", after=0):
        advance(1, 2, "the second model")
        assert "the second model" in terminal.getvalue()
        assert sys.stdout is printed
        print("of the caller's")  # noqa: T201
    assert printed.getvalue() == "of the caller's\n"
    assert "of the caller's" not in terminal.getvalue()


def test_a_progress_function_is_called_instead_of_drawing_a_bar(monkeypatch):
    terminal, calls = use_terminal(monkeypatch), []
    identify(progress=lambda *step: calls.append(step))
    assert calls[-1][0] == calls[-1][1] == len(calls)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("drawn", [True, False])
def test_progress_true_draws_a_bar_and_false_draws_none(monkeypatch, drawn):
    terminal = use_terminal(monkeypatch)
    identify(progress=drawn)
    assert bool(terminal.getvalue()) is drawn


@pytest.mark.parametrize("value", [None, 1, "yes"])
def test_an_invalid_progress_is_refused(value):
    message = rf"progress={value!r}; allowed are True, False and functions of \(done, total\)\.\nHint: progress=print\."
    with pytest.raises(ra.InputError, match=message):
        identify(progress=value)


def test_a_bar_is_closed_when_the_work_fails(monkeypatch):
    terminal = use_terminal(monkeypatch)
    with pytest.raises(ra.InputError, match="labels"):
        ra.audit.profile([None], k=2, group_sizes=[1])
    assert not terminal.getvalue().split("\r")[-1].strip()  # the line is empty again
    with shown("the next", after=0):
        assert "the next" in terminal.getvalue()


def test_a_bar_that_the_caller_draws_with_rich_is_left_alone(monkeypatch):
    use_terminal(monkeypatch)
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)):
        assert ra.audit.profile(LABELS, k=2, group_sizes=SIZES).n_queries == 2


def test_advance_without_a_bar_does_nothing(capsys):
    advance(1, 2)
    assert capsys.readouterr() == ("", "")


def test_a_bar_appears_after_a_second_and_is_drawn_ten_times_a_second(monkeypatch):
    tqdm, bars = pytest.importorskip("tqdm"), []
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(tqdm, "tqdm", lambda **options: bars.append(options) or nullcontext())
    with shown("a"):
        pass
    with shown("b", after=0):
        pass
    common = {"leave": False, "mininterval": 0.1, "miniters": 0, "file": sys.stderr}
    assert bars == [{"desc": "a", "delay": 1.0, **common}, {"desc": "b", "delay": 0, **common}]


def test_each_file_moves_the_bar_by_a_thousand_steps(monkeypatch):
    moves = []
    monkeypatch.setattr(progress, "advance", lambda *move: moves.append(move))
    for number, n_files, done, total in ((0, 2, 0, 0), (0, 1, 1, 1), (1, 4, 5, 9), (0, 0, 1, 2)):
        step_of_file(number, n_files)(done, total)
    assert moves == [(0, 2000), (1000, 1000), (1555, 4000)]  # nothing is shown if the number of files is unknown


@pytest.mark.parametrize(
    ("title", "work"),
    [
        ("explaining", lambda: ra.audit.explain(LABELS, SCORES, "sklearn@2", "letor4@2", **COLUMNS)),
        (
            "asking the toolkits",
            lambda: ra.parity.crosscheck(LABELS, SCORES, "sklearn@2", toolkits=["sklearn"], **COLUMNS),
        ),
    ],
)
def test_work_of_few_steps_has_a_title(title, work, monkeypatch):
    titles = []
    monkeypatch.setattr(progress, "shown", lambda name, **_: titles.append(name) or nullcontext())
    work()
    assert titles[0] == title
