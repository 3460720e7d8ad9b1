"""QueryKFold, QueryShuffleSplit and StratifiedQueryKFold: whole queries, balanced folds, routing, and refused input."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from tests.helpers.parameters import examples
from tests.helpers.rankings import ranking

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold, GroupShuffleSplit, cross_val_score  # noqa: E402

from rankadapters.sklearn import QueryKFold, QueryShuffleSplit, StratifiedQueryKFold, query_scorer  # noqa: E402

DATA, TEXTBOOK = ranking(1, 60), ra.presets.textbook(5)
SPLITTERS = [
    QueryKFold(4),
    QueryKFold(4, shuffle=True, random_state=0),
    QueryShuffleSplit(4, test_size=0.3, random_state=0),
    StratifiedQueryKFold(4),
    StratifiedQueryKFold(4, shuffle=True, random_state=0),
]
KFOLDS = [splitter for splitter in SPLITTERS if not isinstance(splitter, QueryShuffleSplit)]
IDS = ["k-fold", "k-fold-shuffled", "shuffle-split", "stratified", "stratified-shuffled"]
for_each_splitter = pytest.mark.parametrize("splitter", SPLITTERS, ids=IDS)


def shuffled_rows(seed=0):
    rows = np.random.default_rng(seed).permutation(DATA.y.size)
    return DATA.X[rows], DATA.y[rows], DATA.qid[rows]


def as_lists(folds):
    return [(train.tolist(), test.tolist()) for train, test in folds]


@for_each_splitter
def test_no_query_is_cut_and_row_indices_ascend(splitter):
    X, y, qid = shuffled_rows()
    folds = list(splitter.split(X, y, qid))
    assert len(folds) == splitter.get_n_splits() == splitter.get_n_splits(X, y, qid) == 4
    for train, test in folds:
        assert not set(qid[train]) & set(qid[test])
        assert sorted([*train, *test]) == list(range(y.size))  # so both parts have whole queries
        assert train.size
        assert test.size
        assert (np.diff(train) > 0).all()
        assert (np.diff(test) > 0).all()
    if splitter in KFOLDS:
        assert sorted(np.concatenate([test for _, test in folds])) == list(range(y.size))


IDS_BY_KIND = {
    "strings": [f"query {i}" for i in range(60)],
    "tuples": [(i, "a") for i in range(60)],
    "descending": list(range(60, 0, -1)),
    "beyond 2^53": [2**60 + i for i in range(60)],
}


@for_each_splitter
def test_folds_do_not_depend_on_the_kind_of_ids_the_column_type_or_copies(splitter):
    X, y, qid = shuffled_rows()
    _, query_numbers = np.unique(qid, return_inverse=True)
    expected = as_lists(splitter.split(X, y, qid))
    for kind, ids in IDS_BY_KIND.items():
        assert as_lists(splitter.split(X, y, [ids[number] for number in query_numbers])) == expected, kind
    for column in (list, pd.Series, pl.Series, pa.array):
        assert as_lists(splitter.split(pl.DataFrame(X), column(y), column(qid))) == expected, column
    for copied in (clone(splitter), pickle.loads(pickle.dumps(splitter)), type(splitter)(**splitter.get_params())):
        assert repr(copied) == repr(splitter)
        assert as_lists(copied.split(X, y, qid)) == expected


@pytest.mark.parametrize("kind", [QueryKFold, StratifiedQueryKFold])
def test_another_seed_gives_other_folds(kind):
    X, y, qid = shuffled_rows()
    first, second = (kind(4, shuffle=True, random_state=seed).split(X, y, qid) for seed in (0, 1))
    assert as_lists(first) != as_lists(second)


def test_a_splitter_prints_returns_and_sets_its_parameters():
    assert repr(QueryKFold(3)) == "QueryKFold(n_splits=3, random_state=None, shuffle=False)"
    assert QueryShuffleSplit().get_params() == {
        "n_splits": 5, "random_state": None, "test_size": None, "train_size": None,
    }  # fmt: skip
    search = GridSearchCV(Ridge(), {}, cv=QueryKFold(3)).set_params(cv__n_splits=4)
    assert len(list(search.cv.split(DATA.X, DATA.y, DATA.qid))) == 4


def test_folds_of_ids_in_order_of_appearance_equal_scikit_learns():
    for our_splitter, sklearn_splitter, options in (
        (QueryKFold, GroupKFold, {"n_splits": 4}),
        (QueryKFold, GroupKFold, {"n_splits": 4, "shuffle": True, "random_state": 3}),
        (QueryShuffleSplit, GroupShuffleSplit, {"n_splits": 3, "test_size": 7, "train_size": 0.5, "random_state": 3}),
    ):
        folds = our_splitter(**options).split(DATA.X, DATA.y, DATA.qid)
        expected = sklearn_splitter(**options).split(DATA.X, DATA.y, DATA.qid)
        assert as_lists(folds) == as_lists(expected)


queries = st.lists(st.tuples(st.sampled_from([0, 1, 2, 4]), st.integers(1, 12)), min_size=2, max_size=40)


@settings(max_examples=examples(100))
@given(queries, st.integers(2, 5), st.sampled_from([None, 0, 1]))
def test_stratified_folds_differ_by_at_most_one_query_per_grade(drawn, n_splits, seed):
    n_splits = min(n_splits, len(drawn))
    best, sizes = np.array(drawn).T
    qid = np.repeat(np.arange(sizes.size), sizes)
    y = np.where(np.diff(qid, prepend=-1) > 0, best[qid], np.minimum(best[qid], 0.5))
    splitter = StratifiedQueryKFold(n_splits, shuffle=seed is not None, random_state=seed)
    folds = [test for _, test in splitter.split(qid, y, qid)]
    tested = [np.unique(qid[test]) for test in folds]
    for grade in np.unique(best):
        assert np.ptp([np.sum(best[query_ids] == grade) for query_ids in tested]) <= 1
        assert np.ptp([np.sum(best[query_ids] >= grade) for query_ids in tested]) <= 1
    assert np.ptp([test.size for test in folds]) <= sum(sizes[best == grade].max() for grade in np.unique(best))


def test_the_largest_query_of_a_hand_goes_to_the_smallest_fold():
    sizes, best = [5, 3, 2, 9, 1], [1, 1, 1, 0, 0]
    qid = np.repeat(list("abcde"), sizes)
    y = np.repeat(best, sizes)
    # A hand has one query per fold. Grade 1: a and b go to the empty folds 0 and 1; c goes to fold 1, which has fewer
    # rows (3 and 5). Grade 0: both folds have 5 rows, so the large d goes to fold 0, which has fewer queries; e to 1.
    folds = [sorted(set(qid[test])) for _, test in StratifiedQueryKFold(2).split(y, y, qid)]
    assert folds == [["a", "d"], ["b", "c", "e"]]


def test_a_splitter_takes_ids_of_another_name(metadata_routing):
    splitter = QueryKFold(4)
    scores = [
        cross_val_score(
            Ridge(), DATA.X, DATA.y, cv=cv, params={name: DATA.qid}, scoring=query_scorer(TEXTBOOK, qid=name)
        )
        for cv, name in ((splitter, "qid"), (clone(splitter).set_split_request(groups="session"), "session"))
    ]
    np.testing.assert_array_equal(*scores)


def test_without_x_the_number_of_rows_is_that_of_the_ids():
    folds = [test.tolist() for _, test in QueryKFold(2).split(None, groups=["a", "a", "b"])]
    assert sorted(folds) == [[0, 1], [2]]


@pytest.mark.parametrize("make", [
    lambda state: QueryKFold(3, shuffle=True, random_state=state),
    lambda state: StratifiedQueryKFold(3, shuffle=True, random_state=state),
    lambda state: QueryShuffleSplit(3, random_state=state),
])  # fmt: skip
def test_random_state_may_be_a_numpy_generator(make):
    seed = int(np.random.default_rng(3).integers(2**32))
    folds, expected = (
        [test.tolist() for _, test in make(state).split(DATA.X, DATA.y, DATA.qid)]
        for state in (np.random.default_rng(3), seed)
    )
    assert folds == expected


@pytest.mark.parametrize(
    ("splitter", "ids", "message"),
    [
        (QueryKFold(2), "aa", r"for every fold, but there are 1\.\nHint: one query cannot be split; pass more"),
        (QueryKFold(4), "abca", r"for every fold, but there are 3\.\nHint: n_splits from 2 to 3"),
        (StratifiedQueryKFold(3), "ab", r"for every fold, but there are 2\.\nHint: n_splits from 2 to 2"),
        (QueryShuffleSplit(1), "aa", r"QueryShuffleSplit needs two queries or more, but there is 1\.\nHint: one query"),
        (QueryShuffleSplit(1, test_size=5), "aab", r"Hint: scikit-learn's samples are queries here; their number is 2"),
    ],
)
def test_too_few_queries_are_refused_with_the_numbers_that_are_possible(splitter, ids, message):
    rows = np.zeros(len(ids))
    with pytest.raises(ra.InputError, match=message):
        list(splitter.split(rows, rows, list(ids)))


def test_ids_of_another_number_of_rows_are_refused():
    with pytest.raises(ra.InputError, match="qid has 2 rows but X has 3"):
        QueryKFold(2).split(np.zeros(3), groups=["a", "b"])
