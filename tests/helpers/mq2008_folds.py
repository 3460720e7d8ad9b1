"""The five folds of MQ2008, and the scores of their test rows by RankLib 2.10.1."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from tests.helpers.shared_data import SHARED, mq2008_files


class Part(NamedTuple):
    """The rows of some files of MQ2008."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray


@cache
def _read_part(number: int) -> Part:
    from sklearn.datasets import load_svmlight_file

    [file] = mq2008_files(number)
    X, y, qid = load_svmlight_file(str(file), n_features=46, query_id=True)
    return Part(X.toarray(), y, qid)


def fold(number: int) -> tuple[Part, Part, Part]:
    """Return the parts for training, S_i to S_{i+2}, for validation and for testing, cyclically."""
    parts = [_read_part((number - 1 + step) % 5 + 1) for step in range(5)]
    train = Part(*(np.concatenate(columns) for columns in zip(*parts[:3], strict=True)))
    return train, parts[3], parts[4]


def ranklib_scores(learner: str, number: int) -> np.ndarray:
    """Return RankLib 2.10.1's scores of the test rows of a fold (learners_reference.json); skip without the files."""
    file = SHARED / "golden" / "learners" / f"{learner}_fold{number}.scores"
    if not file.is_file():
        pytest.skip("RankLib's scores of MQ2008 are missing")
    return np.loadtxt(file)
