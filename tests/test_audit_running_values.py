"""Values at many cutoffs from one pass are, to the last bit, what the kernels give at each cutoff."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.audit.evaluation import evaluated, passes
from rankadapters.audit.identify.rank_tables import Plans, rank
from rankadapters.audit.identify.running_values import DEEP, FORMS
from rankadapters.core.binding.lowering import Bound
from rankadapters.core.kernels.ap import weighted_average_precision
from tests.audit_data import small

CUTOFFS = (*range(1, 41), 100, DEEP, DEEP + 1, None)
YAHOO = ra.presets.yahoo(10)
AP, RR = ra.presets.lightgbm.map(10), ra.presets.trec_eval_9.recip_rank()


def deep(seed, n_queries=25, **columns):
    """Queries of up to 160 rows, one of them without anything relevant."""
    rng = np.random.default_rng(seed)
    sizes = np.append(rng.integers(1, 30, n_queries - 1), 160)
    n = int(sizes.sum())
    labels = rng.choice(5, n, p=[0.5, 0.2, 0.1, 0.1, 0.1]) * np.repeat(np.arange(n_queries) != 3, sizes)
    given = {"row_weight": rng.uniform(0.5, 2, n)} if columns.pop("row_weights", False) else {}
    return ra.Queries(labels, group_sizes=sizes, **given, **columns), rng.normal(size=n)


CONVENTIONS = {
    "ndcg": YAHOO,
    "ndcg, ideal of all ranks": YAHOO.replace(ideal="all", discount="jk2"),
    "ndcg of means": YAHOO.replace(ties="average"),
    "dcg": ra.parse("dcg@10/gain=exp2/discount=log2/ties=input/precision=float64/short=pad/missing=error/"
                    "unjudged=error/average=uniform/v1"),
    "ap": AP,
    "ap by found": AP.replace(divisor="found", ties="input", average="uniform"),
    "ap by cutoff": AP.replace(divisor="cutoff", ties="input", average="uniform"),
    "rr": RR.replace(ties="input"),
}  # fmt: skip


def plans_of(convention, bound):
    return Plans.of([convention.replace(k=k).lower(bound) for k in CUTOFFS])


@pytest.mark.parametrize("name", CONVENTIONS)
@pytest.mark.parametrize("tied", [False, True])
def test_every_cutoff_has_the_bits_of_its_kernel(name, tied):
    queries, scores = deep(0)
    scores = scores.round(1) if tied else scores
    convention = CONVENTIONS[name]
    found, apart = Bound(queries, None, upto=DEEP), Bound(queries, None)
    plans = plans_of(convention, found)
    table = rank(plans.first, scores, {}).table(plans)
    assert len(plans.running) == len(CUTOFFS) - 2  # the deepest two are the kernel's
    for column, k in zip(table.T, CUTOFFS, strict=True):
        one = Plans.of([convention.replace(k=k).lower(apart)])
        assert one.first.kernel in FORMS
        one.running.clear()
        assert column.tobytes() == rank(one.first, scores, {}).table(one).ravel().tobytes()


def test_weighted_rows_too():
    queries, scores = deep(1, row_weights=True)
    convention = AP.replace(divisor="relevant", average="row", ties="input")
    plans = plans_of(convention, Bound(queries, None))
    assert plans.first.kernel is weighted_average_precision
    several = rank(plans.first, scores, {}).table(plans)
    for column, k in zip(several.T, CUTOFFS, strict=True):
        expected = ra.Evaluator(queries, convention.replace(k=k, empty=0)).per_query(scores)
        assert column.tobytes() == expected.tobytes()


def test_conventions_without_a_value_are_left_out_of_one_pass(monkeypatch):
    queries, scores = small()
    labels = np.where(np.arange(queries.n_docs) == 0, 4, queries.labels)  # beyond LETOR's gain table
    graded = ra.Queries(labels, group_sizes=np.diff(queries.indptr))
    several = [ra.parse(f"{tool}@{k}") for k in range(1, 9) for tool in ("letor4", "yahoo", "lightgbm")]
    [found] = passes(graded, scores, several)
    usable = [convention for convention in several if convention.gain != "table_0_1_3"]
    assert list(found.scores) == usable
    assert evaluated(graded, scores, several) == {c: ra.evaluate(graded, scores, c) for c in usable}
