"""`assert_same_ndcg` compares numbers of every measure."""

from __future__ import annotations

from rankadapters.core.measures import MEASURES

pytest_plugins = ["pytester"]


def test_equal_numbers_of_every_measure_pass_and_different_ones_fail(run):
    result = run("""
import re
from tests.helpers.every_measure import DATA, DOCIDS, LABELS, SCORES, every_measure

COLUMNS = {"qid": DATA.qid, "docid": DOCIDS}

@every_measure
def test_same(assert_same_ndcg, convention):
    ours = ra.evaluate(LABELS, SCORES, convention, **COLUMNS)
    assert_same_ndcg(ours.value, ours, labels=LABELS, scores=SCORES, **COLUMNS)

@every_measure
def test_different(assert_same_ndcg, convention):
    ours = ra.evaluate(LABELS, SCORES, convention, **COLUMNS)
    with pytest.raises(ra.parity.ParityError, match=re.escape(str(convention))):
        assert_same_ndcg(ours.value + 0.01, ours, labels=LABELS, scores=SCORES, **COLUMNS)
""")
    result.assert_outcomes(passed=2 * len(MEASURES))
