"""`query_scorer` in scikit-learn's learning and validation curves, and permutation importance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.helpers.sklearn_folds import DATA, TEXTBOOK, WEIGHTED, values_by_fold

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.inspection import permutation_importance  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import learning_curve, validation_curve  # noqa: E402

from rankadapters.sklearn import QueryKFold, query_scorer  # noqa: E402

FOLDS = list(QueryKFold(3).split(DATA.X, DATA.y, DATA.qid))


def test_curves_have_the_declared_values():
    scorer = query_scorer(TEXTBOOK)
    with sklearn.config_context(enable_metadata_routing=True):
        _, _, scores = learning_curve(
            Ridge(), DATA.X, DATA.y, scoring=scorer, cv=FOLDS, train_sizes=[1.0], params={"qid": DATA.qid}
        )
        _, alpha_scores = validation_curve(
            Ridge(), DATA.X, DATA.y, param_name="alpha", param_range=[1.0, 100.0], scoring=scorer, cv=FOLDS,
            params={"qid": DATA.qid},
        )  # fmt: skip
    # A learning curve trains every fold on as many rows as the smallest fold has.
    smallest = min(train.size for train, _ in FOLDS)
    cut_folds = [(train[:smallest], test) for train, test in FOLDS]
    assert scores[0].tolist() == values_by_fold(TEXTBOOK, cv=cut_folds)
    assert alpha_scores.tolist() == [values_by_fold(TEXTBOOK, Ridge(alpha=alpha), cv=FOLDS) for alpha in (1.0, 100.0)]


@pytest.mark.parametrize("in_list", [False, True])
def test_permutation_importance_takes_ids_from_the_index_or_from_whole(in_list):
    frame = pd.DataFrame(DATA.X, index=pd.Index(DATA.qid, name="qid"))
    conventions = [TEXTBOOK, WEIGHTED] if in_list else TEXTBOOK
    importances = []
    for X, whole in ((frame, None), (DATA.X, DATA.qid)):
        model = clone(Ridge()).fit(X, DATA.y)
        scoring = query_scorer(conventions, whole=whole)
        result = permutation_importance(model, X, DATA.y, scoring=scoring, n_repeats=2, random_state=0)
        importances.append(result[TEXTBOOK.name]["importances"] if in_list else result["importances"])
    assert np.array_equal(*importances)
    assert importances[0].any()
