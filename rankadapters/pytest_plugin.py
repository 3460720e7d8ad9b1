"""The pytest plugin: parity as a fixture, a marker and a report. Loading it imports nothing but pytest.

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
DECLARES = ("convention", "toolkits", "require")
FORMS = ("json", "md", "html", "txt")
FOUND = pytest.StashKey[list["ParityReport"]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the two options."""
    group = parser.getgroup("rankadapters", "ranking parity (rankadapters)")
    group.addoption(
        "--rank-convention", metavar="SPEC",
        help="convention of the tests that declare none: preset@k, such as letor4@10, or a signature",
    )  # fmt: skip
    group.addoption(
        "--rank-parity-report", metavar="FILE",
        help=f"always write what was compared to FILE; its suffix is the format: {', '.join(FORMS)}; folders that are "
        "missing are made",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and check the options before any test runs."""
    says = "what the fixture ranking_parity takes where the test tells it none"
    config.addinivalue_line("markers", f"{MARKER}(convention, toolkits, require): {says}")
    spec, file = config.getoption("rank_convention"), config.getoption("rank_parity_report")
    if spec is not None:
        _resolved(spec, "--rank-convention")
    if file is not None and not hasattr(config, "workerinput"):  # a worker of pytest-xdist hands its reports on
        config.pluginmanager.register(_Writer(_writable(file)), "rankadapters-parity-report")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse a marker on a test that never asks for what it declares."""
    own = [mark for mark in item.own_markers if mark.name == MARKER]
    if own and not {"ranking_parity", "assert_same_ndcg", "request"} & set(getattr(item, "fixturenames", ())):
        pytest.fail(
            f"the test is marked {MARKER} but uses no fixture that compares something.\n"
            "Hint: def test_...(ranking_parity): ranking_parity(labels, scores, qid=qid).",
            pytrace=False,
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Hand on what the test compared: as plain data, which pytest-xdist carries from its workers."""
    report = yield
    found = item.stash.get(FOUND, [])
    if found:
        report.rank_parity = [each.to_dict() for each in found]  # type: ignore[attr-defined]
        item.stash[FOUND] = []
    return report


@pytest.fixture
def assert_same_ndcg(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Assert that two numbers are the same: `assert_same_ndcg(a, b, *, tolerance=0)`, Scores or floats.

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
        convention = _declared(request)["convention"]
        report = compare_numbers(a, b, tolerance=tolerance, convention=convention, queries=queries, scores=scores)
        _judge(request, report)

    return assert_same


@pytest.fixture
def assert_conforms() -> Callable[..., None]:
    """Assert that a function computes a convention: `assert_conforms(function, convention, takes="query")`.

    It takes what `conformance.check` takes. A failure says by field what is wrong.
    """

    def assert_conforms(function: Callable[..., Any], convention: Any, *, takes: str, **options: Any) -> None:
        __tracebackhide__ = True
        from rankadapters.conformance import check

        check(function, _resolved(convention, "convention"), takes=takes, **options).raise_if_failed()

    return assert_conforms


@pytest.fixture
def ranking_parity(request: pytest.FixtureRequest) -> Callable[..., ParityReport]:
    """Assert that the installed toolkits agree: `ranking_parity(labels, scores, convention, qid=qid)`.

    It takes what `parity.crosscheck` takes, and returns its report. `convention`, `toolkits` and `require` are those of
    the marker `rank_parity` where they are left out, and the convention then that of `--rank-convention`.
    """

    def compare(labels: object, scores: object, convention: Any = None, **given: Any) -> ParityReport:
        __tracebackhide__ = True
        from rankadapters.parity import crosscheck

        told = _declared(request)
        wanted = told["convention"] if convention is None else _resolved(convention, "convention")
        if wanted is None:
            pytest.fail(
                "no convention is declared, and parity means nothing without one.\n"
                f"Hint: @pytest.mark.{MARKER}(convention='letor4@10'), or --rank-convention letor4@10.",
                pytrace=False,
            )
        options = {name: told[name] for name in ("toolkits", "require") if name in told}
        report = crosscheck(labels, scores, wanted, **(options | given))
        _judge(request, report)
        return report

    return compare


def _declared(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the marker says, and the option where it does not."""
    told: dict[str, Any] = {}
    marks = list(request.node.iter_markers(MARKER))
    for mark in reversed(marks):  # the closest decides
        told |= mark.kwargs
    given = [*(repr(arg) for mark in marks for arg in mark.args), *sorted(set(told) - set(DECLARES))]
    if given:
        _refuse(f"the marker {MARKER} was given {given[0]}; it takes the keywords {', '.join(DECLARES)}.")
    spec = told.get("convention", request.config.getoption("rank_convention"))
    return {**told, "convention": None if spec is None else _resolved(spec, f"the convention of {MARKER}")}


def _resolved(spec: Any, where: str) -> Convention:
    from rankadapters.core.errors import ConventionError
    from rankadapters.core.presets.texts import as_convention

    try:
        return as_convention(spec)
    except ConventionError as error:
        _refuse(f"{where}: {error}")


def _refuse(message: str) -> NoReturn:
    raise pytest.UsageError(message)


def _judge(request: pytest.FixtureRequest, report: ParityReport) -> None:
    __tracebackhide__ = True
    request.node.stash.setdefault(FOUND, []).append(report)
    report.raise_if_failed()


def _writable(file: str) -> Path:
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
    """Collects what the tests compared, and writes it when the session ends, however it ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: list[tuple[str, dict[str, Any]]] = []
        self.outcome = f"written to {path}"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.found += [(report.nodeid, data) for data in getattr(report, "rank_parity", ())]

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        from rankadapters.core.errors import InputError
        from rankadapters.io.writing import write_text
        from rankadapters.parity import ParityReport
        from rankadapters.parity.report import rendered

        reports = [(name, ParityReport.from_dict(data)) for name, data in self.found]
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
        """One line of outcome."""
        fail = sum(not data["ok"] for _, data in self.found)
        return f"{len(self.found)} compared, {fail} fail" if self.found else "nothing was compared"
