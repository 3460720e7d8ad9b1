"""The recipe of docs/learners.md: LGBMRanker under our LambdaRank is LambdaMART."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra

pytest.importorskip("sklearn")
lightgbm = pytest.importorskip("lightgbm")

from tests.helpers.depth import THOROUGH  # noqa: E402
from tests.helpers.mq2008_folds import fold  # noqa: E402


def quality(number):
    """Return the test NDCG@10 of a fold of MQ2008."""
    train, valid, test = fold(number)
    inner = lightgbm.LGBMRanker(
        objective=ra.lightgbm.lambdarank("ranklib@10", truncation=10), n_estimators=300, learning_rate=0.05,
        num_leaves=7, early_stopping_rounds=100, verbosity=-1, n_jobs=1,
    )  # fmt: skip
    model = ra.sklearn.QueryRanker(inner, convention="ranklib@10", eval_metric="ranklib@10")
    model.fit(train.X, train.y, qid=train.qid, eval_set=[tuple(valid)])
    return model.score(test.X, test.y, qid=test.qid)


@pytest.mark.skipif(not THOROUGH, reason="takes long: RANKADAPTERS_TESTS=thorough")
def test_it_ranks_mq2008_as_well_as_ranklibs():
    """Mean test NDCG@10 of five folds; RankLib 2.10.1's LambdaMART .5050."""
    assert np.mean([quality(number) for number in range(1, 6)]) >= 0.500


def test_it_ranks_a_fold_of_mq2008_as_it_did_when_the_mean_of_five_was_ranklibs():
    assert quality(4) == pytest.approx(0.5539, abs=0.01)
