"""The generated data set that resembles MQ2008, and grouping the rows of a data set by query."""

from __future__ import annotations

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.datasets import Grouped, RankingData, mq2008_like


def test_the_data_of_a_seed_never_change_and_queries_have_at_most_120_rows():
    for data, grades, longest, total in zip(
        mq2008_like(random_state=2, n_train_queries=4000, n_test_queries=50),
        ([51727, 7228, 3621], [708, 102, 40]), (120, 68), (1434738.25, 19366.5), strict=True,
    ):  # fmt: skip
        assert np.bincount(data.labels.astype(int)).tolist() == grades
        assert (np.bincount(data.qid).max(), data.X.sum()) == (longest, pytest.approx(total, rel=1e-9))


@pytest.mark.parametrize("make_generator", [np.random.default_rng, np.random.RandomState])
def test_a_random_generator_draws_the_seed(make_generator):
    generator = make_generator(5)
    drawn, drawn_again, drawn_next = (
        mq2008_like(random_state=random_state, n_train_queries=5)[0].X.tobytes()
        for random_state in (generator, make_generator(5), generator)
    )
    assert drawn == drawn_again != drawn_next


def test_train_and_test_share_no_query_and_may_have_one_query_each():
    for n_train, n_test in ((7, 5), (1, 1)):
        train, test = mq2008_like(n_train_queries=n_train, n_test_queries=n_test)
        assert np.unique(train.qid).tolist() == list(range(1, n_train + 1))
        assert np.unique(test.qid).tolist() == list(range(n_train + 1, n_train + n_test + 1))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            {"random_state": "a"},
            "random_state='a'; allowed are whole numbers from 0 on, a numpy Generator or a RandomState",
        ),
        ({"random_state": -1}, "random_state=-1; allowed"),
        ({"random_state": None}, "random_state=None; allowed"),
        ({"n_train_queries": 0}, "n_train_queries=0; allowed are whole numbers from 1 to 1000000"),
        ({"n_test_queries": 2.5}, "n_test_queries=2.5; allowed"),
    ],
)
def test_bad_arguments_are_refused(arguments, problem):
    with pytest.raises(ra.InputError, match=f"{problem}.*\nHint: {next(iter(arguments))}="):
        mq2008_like(**arguments)


def test_grouping_joins_the_rows_of_a_query_and_keeps_their_order():
    data = RankingData(X=np.arange(10.0).reshape(5, 2), labels=np.arange(5.0), qid=np.array([2**40, 7, 2**40, 7, 9]))
    grouped = Grouped.of(data)
    assert grouped.labels.tolist() == [0, 2, 1, 3, 4]
    assert grouped.X[:, 0].tolist() == [0, 4, 2, 6, 8]
    assert grouped.sizes.tolist() == [2, 2, 1]
    assert grouped.qid.tolist() == [0, 0, 1, 1, 2]
    assert grouped.qid.dtype == np.int32


@pytest.mark.parametrize("value", [None, [[1.0]], "a"])
def test_values_that_are_no_arrays_or_differ_in_length_are_refused(value):
    with pytest.raises(ra.InputError, match="X has shape None"):
        RankingData(X=value, labels=np.zeros(1), qid=np.zeros(1))
    with pytest.raises(ra.InputError, match="allowed are RankingData"):
        Grouped.of(value)
    table, column = (3, 2), (3, 1)
    shapes = [(table, n_labels, n_ids) for n_labels, n_ids in ((2, 3), (4, 3), (3, 2), (3, 4), (2, 2), (4, 4))]
    shapes += [(3, 3, 3), ((3, 2, 1), 3, 3), (table, column, column), (table, column, 3), (table, 3, column)]
    for shape in shapes:
        X, labels, qid = map(np.zeros, shape)
        with pytest.raises(ra.InputError) as caught:
            RankingData(X=X, labels=labels, qid=qid)
        assert str(caught.value).startswith(f"X has shape {X.shape}, labels {labels.shape}, qid {qid.shape}.\nHint")
