"""The installed toolkits on generated cases: every difference within tolerance, or explained by name."""

from __future__ import annotations

import re

import pytest

import rankadapters as ra
from tests.parity.cases import N_CASES, case, declared

pytestmark = pytest.mark.filterwarnings("ignore::rankadapters.LabelsWarning")  # whatever labels a tool takes

# What a toolkit, or our own convention, refuses; each must say why.
REFUSALS = {
    "sklearn": r"every query has one document, which sklearn's functions refuse",
    "lightgbm": r"labels\[\d+\] is \d\.\d+, but lightgbm takes whole labels from 0 to (30|[24])",
    "xgboost": r"labels\[\d+\] is \d\.\d+, but xgboost takes whole labels|Invalid output score, might be caused by",
    "catboost": r"(?!)",
}
OURS = r"outside the gain table of table_0_1_3|every query was skipped|the convention says empty='error'"
MATTERS = r"cannot express .*, which matters here\.[\s\S]*\nThe nearest it can: (ndcg|dcg)@"


def check(toolkit, seed, convention):
    """The report, or the refusal of the data."""
    queries = case(seed).queries(weighted=convention.average != "uniform")
    try:
        return getattr(ra, toolkit).check_parity(queries, case(seed).scores, convention)
    except ra.InputError as error:
        return error


@pytest.mark.parametrize("toolkit", ["sklearn", "lightgbm", "xgboost", "catboost"])
def test_no_difference_on_generated_cases_is_unexplained(toolkit):
    pytest.importorskip(toolkit)
    verdicts, refused = [], 0
    for seed in range(N_CASES):
        for convention in declared(seed, toolkit):
            report = check(toolkit, seed, convention)
            if isinstance(report, ra.InputError):
                assert re.search(f"{REFUSALS[toolkit]}|{OURS}", str(report)), f"case {seed}: {report}"
                refused += 1
                continue
            assert report.ok, f"case {seed}: {report}"
            assert report.rows[0].verdict == "equal"
            for row in report.rows[1:]:
                assert row.verdict in {"equal-on-this-data", "not-comparable"}
                assert row.verdict == "equal-on-this-data" or re.search(MATTERS, row.reason)
            verdicts += [row.verdict for row in report.rows]
    assert refused < 0.5 * N_CASES
    assert verdicts.count("equal") >= 1.4 * N_CASES
    assert verdicts.count("equal-on-this-data") >= 0.05 * N_CASES
    assert verdicts.count("not-comparable") >= 0.05 * N_CASES


@pytest.mark.parametrize("toolkit", ["sklearn", "lightgbm", "xgboost", "catboost"])
@pytest.mark.parametrize("seed", [3, 9, 27])
def test_what_is_not_comparable_differs_indeed(toolkit, seed):
    pytest.importorskip(toolkit)
    convention = ra.presets.letor4(3)
    graded = case(seed)
    queries = ra.Queries(graded.labels.clip(0, 2), group_sizes=graded.sizes)
    report = getattr(ra, toolkit).check_parity(queries, graded.scores, convention)
    row = report.rows[-1]
    assert row.verdict == "not-comparable"
    assert row.per_query.largest()
    inert = ra.inert(queries, graded.scores, convention, report.rows[0].convention)
    assert not any(f"{name}=" in row.reason.partition(" which matters")[0] for name in inert)
