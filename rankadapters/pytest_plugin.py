"""The pytest plugin: fixtures and a marker for parity, and a report. Loading it imports only pytest.

References
----------
pytest 8.2 and 9.2, "Writing plugins".
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from rankadapters.core.declaration.convention import Convention
    from rankadapters.parity import ParityReport

MARKER = "rank_parity"
MARKER_KEYWORDS = ("convention", "toolkits", "require")
FORMS = ("json", "md", "html", "txt")
REPORTS = pytest.StashKey[list["ParityReport"]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the plugin's two options."""
    group = parser.getgroup("rankadapters", "ranking parity (rankadapters)")
    group.addoption(
        "--rank-convention", metavar="SPEC",
        help="convention of the tests that declare none: preset@k, such as letor4@10, or a signature",
    )  # fmt: skip
    group.addoption(
        "--rank-parity-report", metavar="FILE",
        help=f"always write the comparisons to FILE; its suffix is the format: {', '.join(FORMS)}; missing folders are "
        "made",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and check the options before any test runs."""
    description = "default arguments of the fixture ranking_parity"
    config.addinivalue_line("markers", f"{MARKER}(convention, toolkits, require): {description}")
    spec, file = config.getoption("rank_convention"), config.getoption("rank_parity_report")
    if spec is not None:
        _resolve(spec, "--rank-convention")
    if file is not None and not hasattr(config, "workerinput"):  # pytest-xdist's workers only send their reports
        config.pluginmanager.register(_Writer(_writable_path(file)), "rankadapters-parity-report")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test that has the marker, but no fixture that uses it."""
    marks = [mark for mark in item.own_markers if mark.name == MARKER]
    if marks and not {"ranking_parity", "assert_same_ndcg", "request"} & set(getattr(item, "fixturenames", ())):
        pytest.fail(
            f"the test is marked {MARKER} but uses no fixture that compares numbers.\n"
            "Hint: def test_...(ranking_parity): ranking_parity(labels, scores, qid=qid).",
            pytrace=False,
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the test's parity reports to pytest's report as plain data, which pytest-xdist's workers can send."""
    report = yield
    reports = item.stash.get(REPORTS, [])
    if reports:
        report.rank_parity = [parity_report.to_dict() for parity_report in reports]  # type: ignore[attr-defined]
        item.stash[REPORTS] = []
    return report


@pytest.fixture
def assert_same_ndcg(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Assert that two numbers, Scores or floats, are the same: `assert_same_ndcg(a, b, *, tolerance=0)`.

    Two Scores must be of one convention over the same queries. With `labels=`, `scores=` and the keywords of `Queries`,
    a failure names its cause and the queries that contribute most.
    """

    def assert_same(
        a: object, b: object, *, tolerance: float = 0, labels: object = None, scores: object = None, **columns: object
    ) -> None:
        __tracebackhide__ = True
        from rankadapters.core.data.queries import as_queries
        from rankadapters.parity.checks import compare_numbers

        queries = None if labels is None else as_queries(labels, **columns)
        if (labels is None) != (scores is None) or (labels is None and columns):
            _refuse("labels= and scores= go together, and the keywords of Queries with them.")
        convention = _marker_options(request)["convention"]
        report = compare_numbers(a, b, tolerance=tolerance, convention=convention, queries=queries, scores=scores)
        _record_and_check(request, report)

    return assert_same


@pytest.fixture
def assert_conforms() -> Callable[..., None]:
    """Assert that a function computes a convention: `assert_conforms(function, convention, takes="query")`.

    It takes the arguments of `conformance.check`. A failure names the convention's fields that are wrong.
    """

    def assert_conforms(function: Callable[..., Any], convention: Any, *, takes: str, **options: Any) -> None:
        __tracebackhide__ = True
        from rankadapters.conformance import check

        check(function, _resolve(convention, "convention"), takes=takes, **options).raise_if_failed()

    return assert_conforms


@pytest.fixture
def ranking_parity(request: pytest.FixtureRequest) -> Callable[..., ParityReport]:
    """Assert that the installed toolkits agree: `ranking_parity(labels, scores, convention, qid=qid)`.

    It takes the arguments of `parity.crosscheck`, and returns its report. The marker `rank_parity` gives the defaults
    of `convention`, `toolkits` and `require`, and `--rank-convention` that of a convention that the marker lacks.
    """

    def compare(labels: object, scores: object, convention: Any = None, **keywords: Any) -> ParityReport:
        __tracebackhide__ = True
        from rankadapters.parity import crosscheck

        options = _marker_options(request)
        declared = options["convention"] if convention is None else _resolve(convention, "convention")
        if declared is None:
            pytest.fail(
                "no convention is declared, and parity means nothing without one.\n"
                f"Hint: @pytest.mark.{MARKER}(convention='letor4@10'), or --rank-convention letor4@10.",
                pytrace=False,
            )
        defaults = {name: options[name] for name in ("toolkits", "require") if name in options}
        report = crosscheck(labels, scores, declared, **(defaults | keywords))
        _record_and_check(request, report)
        return report

    return compare


def _marker_options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return the marker's keywords, with the convention from the command line if the marker has none."""
    keywords: dict[str, Any] = {}
    marks = list(request.node.iter_markers(MARKER))
    for mark in reversed(marks):  # the closest marker wins
        keywords |= mark.kwargs
    unknown = [*(repr(arg) for mark in marks for arg in mark.args), *sorted(set(keywords) - set(MARKER_KEYWORDS))]
    if unknown:
        _refuse(f"the marker {MARKER} was given {unknown[0]}; it takes the keywords {', '.join(MARKER_KEYWORDS)}.")
    spec = keywords.get("convention", request.config.getoption("rank_convention"))
    return {**keywords, "convention": None if spec is None else _resolve(spec, f"the convention of {MARKER}")}


def _resolve(spec: Any, where: str) -> Convention:
    from rankadapters.core.errors import ConventionError
    from rankadapters.core.presets.texts import as_convention

    try:
        return as_convention(spec)
    except ConventionError as error:
        _refuse(f"{where}: {error}")


def _refuse(message: str) -> NoReturn:
    raise pytest.UsageError(message)


def _record_and_check(request: pytest.FixtureRequest, report: ParityReport) -> None:
    __tracebackhide__ = True
    request.node.stash.setdefault(REPORTS, []).append(report)
    report.raise_if_failed()


def _writable_path(file: str) -> Path:
    path = Path(file)
    if path.suffix[1:].lower() not in FORMS:
        _refuse(
            f"--rank-parity-report {file}: the suffix is the format; allowed are {', '.join(f'.{f}' for f in FORMS)}."
        )
    from rankadapters.core.errors import InputError
    from rankadapters.io.writing import require_writable

    try:
        require_writable(path)
    except InputError as error:
        _refuse(f"--rank-parity-report {error}")
    return path.absolute()


class _Writer:
    """Collects the tests' parity reports, and writes them when the session ends, even after failures."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reports: list[tuple[str, dict[str, Any]]] = []
        self.outcome = f"written to {path}"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.reports += [(report.nodeid, data) for data in getattr(report, "rank_parity", ())]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        from rankadapters.core.errors import InputError
        from rankadapters.io.writing import write_text
        from rankadapters.parity import ParityReport
        from rankadapters.parity.report import rendered

        reports = [(name, ParityReport.from_dict(data)) for name, data in self.reports]
        text = rendered(self.summary, reports, self.path.suffix[1:].lower())
        try:
            write_text(self.path, text)
        except InputError as error:
            self.outcome = str(error)
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.write_line(f"ranking parity: {self.summary}; {self.outcome}")

    @property
    def summary(self) -> str:
        """The outcome in one line."""
        n_failed = sum(not data["ok"] for _, data in self.reports)
        return f"{len(self.reports)} compared, {n_failed} fail" if self.reports else "nothing was compared"
