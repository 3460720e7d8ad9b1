"""Each form of the kernels, and everything that an evaluator computes."""

from __future__ import annotations

from unittest.mock import patch

import rankadapters as ra
from rankadapters.core.ranking import ranks
from rankadapters.core.ranking.compiled import NEVER, NOW, kernels


def switch_forms():
    """Yield once with compiled kernels, once with numpy, and once with numpy and plain Python for few rows."""
    for choice, few in ((NOW, ranks.FEW_ROWS), (NEVER, 0), (NEVER, 1000)):
        with kernels(choice), patch.object(ranks, "FEW_ROWS", few):
            yield choice


def all_results(convention, row_columns, scores):
    """Return the digest, the value, the tally and the values of the queries, or the error as text."""
    try:
        evaluator = ra.Evaluator(ra.Queries(**row_columns), convention)
        results = [evaluator.queries.digest, evaluator.evaluate(scores).value]
        if convention.over != "rows":
            results += [evaluator.tally(scores).to_dict(), evaluator.per_query(scores).tobytes()]
    except ra.RankAdaptersError as error:
        return repr(error)
    return results
