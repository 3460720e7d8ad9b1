"""MQ2008's five folds, and what RankLib 2.10.1 scored their test rows."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from tests.helpers.shared_data import SHARED, mq2008_files


class Part(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray


@cache
def _part(number: int) -> Part:
    from sklearn.datasets import load_svmlight_file

    [file] = mq2008_files(number)
    X, y, qid = load_svmlight_file(str(file), n_features=46, query_id=True)
    return Part(X.toarray(), y, qid)


def fold(number: int) -> tuple[Part, Part, Part]:
    """Parts to train on, S_i to S_{i+2}, to validate on, and to test on, cyclically."""
    places = [(number - 1 + step) % 5 + 1 for step in range(5)]
    parts = [_part(place) for place in places]
    train = Part(*(np.concatenate(columns) for columns in zip(*parts[:3], strict=True)))
    return train, parts[3], parts[4]


def ranklib_scores(learner: str, number: int) -> np.ndarray:
    """Scores of the test rows of a fold by RankLib 2.10.1 (facts: learners_reference.json); skips without the files."""
    file = SHARED / "golden" / "learners" / f"{learner}_fold{number}.scores"
    if not file.is_file():
        pytest.skip("RankLib's scores of MQ2008 are not there")
    return np.loadtxt(file)
