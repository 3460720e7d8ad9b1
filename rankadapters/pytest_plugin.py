"""The pytest plugin: fixtures and a marker for parity. Loading it imports only pytest.

References
----------
pytest 8.2 and 9.2, "Writing plugins".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from rankadapters.core.declaration.convention import Convention
    from rankadapters.parity import ParityReport

MARKER = "rank_parity"
MARKER_KEYWORDS = ("convention", "toolkits", "require")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the plugin's option."""
    group = parser.getgroup("rankadapters", "ranking parity (rankadapters)")
    group.addoption(
        "--rank-convention", metavar="SPEC",
        help="convention of the tests that declare none: preset@k, such as lightgbm@10, or a signature",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and check the option before any test runs."""
    description = "default arguments of the fixture ranking_parity"
    config.addinivalue_line("markers", f"{MARKER}(convention, toolkits, require): {description}")
    spec = config.getoption("rank_convention")
    if spec is not None:
        _resolve(spec, "--rank-convention")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test that has the marker, but no fixture that uses it."""
    marks = [mark for mark in item.own_markers if mark.name == MARKER]
    if marks and not {"ranking_parity", "assert_same_ndcg", "request"} & set(getattr(item, "fixturenames", ())):
        _fail(
            f"the test is marked {MARKER} but uses no fixture that compares numbers.",
            hint="def test_...(ranking_parity): ranking_parity(labels, scores, qid=qid)",
        )


@pytest.fixture
def assert_same_ndcg(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Assert that two numbers, Scores or floats, are the same: `assert_same_ndcg(a, b, *, tolerance=0)`.

    Two Scores must be of one convention over the same queries. With `labels=`, `scores=` and the keywords of `Queries`,
    a failure names its cause and the queries that contribute most.
    """

    def assert_same(a: object, b: object, **keywords: Any) -> None:
        __tracebackhide__ = True
        from rankadapters.parity.checks import compare_numbers

        compare_numbers(a, b, **{"convention": _marker_options(request)["convention"], **keywords}).raise_if_failed()

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
            _fail(
                "no convention is declared, and parity means nothing without one.",
                hint=f"@pytest.mark.{MARKER}(convention='lightgbm@10'), or --rank-convention lightgbm@10",
            )
        defaults = {name: options[name] for name in ("toolkits", "require") if name in options}
        report = crosscheck(labels, scores, declared, **(defaults | keywords))
        report.raise_if_failed()
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
        allowed = ", ".join(MARKER_KEYWORDS)
        raise pytest.UsageError(f"the marker {MARKER} was given {unknown[0]}; it takes the keywords {allowed}.")
    spec = keywords.get("convention", request.config.getoption("rank_convention"))
    return {**keywords, "convention": None if spec is None else _resolve(spec, f"the convention of {MARKER}")}


def _fail(message: str, hint: str) -> NoReturn:
    from rankadapters.core.errors import InputError

    pytest.fail(str(InputError(message, hint=hint)), pytrace=False)


def _resolve(spec: Any, where: str) -> Convention:
    from rankadapters.core.errors import ConventionError
    from rankadapters.presets.texts import as_convention

    try:
        return as_convention(spec)
    except ConventionError as error:
        raise pytest.UsageError(f"{where}: {error}") from None
