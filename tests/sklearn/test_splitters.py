from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from tests.helpers.depth import examples
from tests.helpers.rankings import ranking
from tests.helpers.tables import for_each

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    cross_val_score,
    cross_validate,
)

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
each = pytest.mark.parametrize("splitter", SPLITTERS, ids=IDS)


def shuffled(seed=0):
    rows = np.random.default_rng(seed).permutation(DATA.y.size)
    return DATA.X[rows], DATA.y[rows], DATA.qid[rows]


def lists(folds):
    return [(train.tolist(), test.tolist()) for train, test in folds]


@each
def test_no_query_is_cut_and_rows_ascend(splitter):
    X, y, qid = shuffled()
    folds = list(splitter.split(X, y, qid))
    assert len(folds) == splitter.get_n_splits() == splitter.get_n_splits(X, y, qid) == 4
    for train, test in folds:
        assert not set(qid[train]) & set(qid[test])
        assert sorted([*train, *test]) == list(range(y.size))  # so that both parts hold whole queries
        assert train.size
        assert test.size
        assert (np.diff(train) > 0).all()
        assert (np.diff(test) > 0).all()
    if splitter in KFOLDS:
        assert sorted(np.concatenate([test for _, test in folds])) == list(range(y.size))


NAMES = {
    "strings": [f"query {i}" for i in range(60)],
    "tuples": [(i, "a") for i in range(60)],
    "mixed": [i if i % 2 else f"q{i}" for i in range(60)],
    "descending": list(range(60, 0, -1)),
    "beyond 2^53": [2**60 + i for i in range(60)],
}


@each
def test_neither_what_the_ids_are_matters_nor_their_column_nor_a_copy_of_the_splitter(splitter):
    X, y, qid = shuffled()
    _, numbers = np.unique(qid, return_inverse=True)
    expected = lists(splitter.split(X, y, qid))
    for kind, names in NAMES.items():
        assert lists(splitter.split(X, y, [names[number] for number in numbers])) == expected, kind
    for column in (list, pd.Series, pl.Series, pa.array):
        assert lists(splitter.split(pl.DataFrame(X), column(y), column(qid))) == expected, column
    for other in (clone(splitter), pickle.loads(pickle.dumps(splitter)), type(splitter)(**splitter.get_params())):
        assert repr(other) == repr(splitter)
        assert lists(other.split(X, y, qid)) == expected


@pytest.mark.parametrize("kind", [QueryKFold, StratifiedQueryKFold])
def test_another_seed_gives_other_folds(kind):
    X, y, qid = shuffled()
    first, second = (kind(4, shuffle=True, random_state=seed).split(X, y, qid) for seed in (0, 1))
    assert lists(first) != lists(second)


def test_a_splitter_shows_and_takes_its_parameters():
    assert repr(QueryKFold(3)) == "QueryKFold(n_splits=3, random_state=None, shuffle=False)"
    assert QueryShuffleSplit().get_params() == {
        "n_splits": 5, "random_state": None, "test_size": None, "train_size": None,
    }  # fmt: skip
    search = GridSearchCV(Ridge(), {}, cv=QueryKFold(3)).set_params(cv__n_splits=4)
    assert len(list(search.cv.split(DATA.X, DATA.y, DATA.qid))) == 4


def test_folds_of_ids_in_order_of_appearance_are_scikit_learns():
    for ours, theirs, options in (
        (QueryKFold, GroupKFold, {"n_splits": 4}),
        (QueryKFold, GroupKFold, {"n_splits": 4, "shuffle": True, "random_state": 3}),
        (QueryShuffleSplit, GroupShuffleSplit, {"n_splits": 3, "test_size": 7, "train_size": 0.5, "random_state": 3}),
    ):
        found, expected = (make(**options).split(DATA.X, DATA.y, DATA.qid) for make in (ours, theirs))
        assert lists(found) == lists(expected)


queries = st.lists(st.tuples(st.sampled_from([0, 1, 2, 4]), st.integers(1, 12)), min_size=2, max_size=40)


@settings(max_examples=examples(100))
@given(queries, st.integers(2, 5), st.sampled_from([None, 0, 1]))
def test_stratified_folds_differ_by_no_more_than_is_promised(drawn, n_splits, seed):
    n_splits = min(n_splits, len(drawn))
    best, sizes = np.array(drawn).T
    qid = np.repeat(np.arange(sizes.size), sizes)
    y = np.where(np.diff(qid, prepend=-1) > 0, best[qid], np.minimum(best[qid], 0.5))
    splitter = StratifiedQueryKFold(n_splits, shuffle=seed is not None, random_state=seed)
    folds = [test for _, test in splitter.split(qid, y, qid)]
    tested = [np.unique(qid[test]) for test in folds]
    for grade in np.unique(best):
        assert np.ptp([np.sum(best[part] == grade) for part in tested]) <= 1
        assert np.ptp([np.sum(best[part] >= grade) for part in tested]) <= 1
    assert np.ptp([test.size for test in folds]) <= sum(sizes[best == grade].max() for grade in np.unique(best))


@settings(max_examples=examples(100))
@given(queries, st.integers(2, 5))
def test_folds_differ_by_the_largest_query_at_most(drawn, n_splits):
    sizes = np.array([size for _, size in drawn])
    qid = np.repeat(np.arange(sizes.size), sizes)
    splitter = QueryKFold(min(n_splits, len(drawn)))
    assert np.ptp([test.size for _, test in splitter.split(qid, groups=qid)]) <= sizes.max()


def test_hands_of_equal_grade_go_largest_to_lightest():
    sizes, best = [5, 3, 2, 9, 1], [1, 1, 1, 0, 0]
    qid = np.repeat(list("abcde"), sizes)
    y = np.repeat(best, sizes)
    # Grade 1: the hand (a, b) goes to folds 0 and 1 of no rows; c, left over, to fold 1 of 3 rows rather than 0 of 5.
    # Grade 0: of the hand (d, e), the large d goes to a fold of 5 rows (both are; the one of fewer queries, 0), e to 1.
    found = [sorted(set(qid[test])) for _, test in StratifiedQueryKFold(2).split(y, y, qid)]
    assert found == [["a", "d"], ["b", "c", "e"]]


def test_stratified_folds_hold_like_shares_where_plain_ones_do_not():
    y = np.repeat([2, 0] * 10, [4, 1] * 10)
    qid = np.repeat(np.arange(20), [4, 1] * 10)
    order = np.argsort(-y, kind="stable")  # all that is relevant first
    y, qid = y[order], qid[order]
    folds = [test for _, test in StratifiedQueryKFold(5).split(y, y, qid)]
    assert [(int((y[test] == 2).sum()), test.size) for test in folds] == [(8, 10)] * 5


def test_labels_that_all_differ_are_dealt_from_the_highest_on():
    y = np.random.default_rng(0).permutation(12).astype(float)
    folds = [test for _, test in StratifiedQueryKFold(3).split(y, y, np.arange(12))]
    assert [sorted(y[test] // 3) for test in folds] == [[0, 1, 2, 3]] * 3


def test_a_growing_train_size_keeps_the_test_queries_and_adds_to_the_others():
    small, large = (
        list(QueryShuffleSplit(3, train_size=share, test_size=0.2, random_state=0).split(DATA.X, groups=DATA.qid))
        for share in (0.2, 0.6)
    )
    for (few, test), (more, same) in zip(small, large, strict=True):
        assert test.tolist() == same.tolist()
        assert set(few) < set(more)
        assert np.unique(DATA.qid[few]).size == 12


@each
def test_qid_reaches_a_splitter_with_no_request_call(splitter):
    expected = [
        ra.evaluate(DATA.y[test], Ridge().fit(DATA.X[train], DATA.y[train]).predict(DATA.X[test]), TEXTBOOK,
                    qid=DATA.qid[test]).value
        for train, test in splitter.split(DATA.X, DATA.y, DATA.qid)
    ]  # fmt: skip
    indexed = pd.DataFrame(DATA.X, index=pd.Index(DATA.qid, name="qid"))
    with sklearn.config_context(enable_metadata_routing=True):
        renamed = clone(splitter).set_split_request(groups="session")
    for X, cv, name, passed in (
        (DATA.X, splitter, "qid", {"params": {"qid": DATA.qid}}),
        (DATA.X, renamed, "session", {"params": {"session": DATA.qid}}),
        (indexed, splitter, "qid", {"groups": DATA.qid}),
    ):
        with sklearn.config_context(enable_metadata_routing="params" in passed):
            scorer = query_scorer(TEXTBOOK, qid=name)
            assert cross_val_score(Ridge(), X, DATA.y, cv=cv, scoring=scorer, **passed).tolist() == expected


def with_value(row, value):
    return [value if i == row else item for i, item in enumerate(DATA.qid.tolist())]


ONE, SIX = np.zeros(DATA.y.size, int), np.repeat([1, 2, 3], 2)
TOO_FEW = r"\(n_splits=4\) needs .*, but there are 3\.\nHint: n_splits from 2 to 3\."
BAD = [
    (SPLITTERS, None, r"got no qid, so it cannot keep queries whole\.\nHint: sklearn\.set_config.*groups=qid; by hand"),
    (SPLITTERS, DATA.qid[1:], rf"qid has {DATA.y.size - 1} rows but X has {DATA.y.size}\.\nHint: one query id per row"),
    (SPLITTERS, with_value(3, None), r"qid\[3\] is None, but every row belongs to a query\.\nHint: "),
    (SPLITTERS, DATA.qid.astype(float), r"qid has floats such as 0\.0.*\nHint: qid\.astype\('int64'\)"),
    (SPLITTERS, with_value(3, 0.5), r"qid has floats such as 0\.0"),
    (SPLITTERS, with_value(3, {}), r"qid holds a value that is not hashable"),
    (SPLITTERS, np.zeros((DATA.y.size, 2), int), r"qid has shape .* but one dimension is needed"),
    (SPLITTERS, ONE, r"(needs a query for every fold|needs two queries).*there (are|is) 1\.\nH"),
    (KFOLDS, ONE, r"there are 1\.\nHint: one query cannot be split; pass more\."),
    (KFOLDS, SIX, TOO_FEW),
    ([QueryShuffleSplit(test_size=0.9)], SIX, r"\nHint: scikit-learn's samples are queries here; their number is 3\."),
]


@for_each(("splitters", "qid", "message"), BAD)
def test_bad_query_ids_are_refused_at_once(splitters, qid, message):
    rows = np.zeros(SIX.size if qid is SIX else DATA.y.size)
    for splitter in splitters:
        with pytest.raises(ra.InputError, match=message):
            splitter.split(rows, rows, qid)


def test_stratification_needs_grades():
    with pytest.raises(ra.InputError, match=r"got no y, so it does not know the best grades\.\nHint: "):
        StratifiedQueryKFold(2).split(DATA.X, groups=DATA.qid)
    with pytest.raises(ra.InputError, match=r"labels\[0\] is nan, which is not a finite number"):
        StratifiedQueryKFold(2).split(DATA.X, np.full(DATA.y.size, np.nan), DATA.qid)


@each
def test_series_must_agree_in_their_index(splitter):
    index = np.arange(DATA.y.size)[::-1]
    with pytest.raises(ra.InputError, match="qid has a different pandas index"):
        splitter.split(DATA.X, pd.Series(DATA.y, index=index), pd.Series(DATA.qid))


@pytest.mark.parametrize("kind", [QueryKFold, StratifiedQueryKFold])
def test_parameters_are_checked_when_made_and_when_changed(kind):
    with pytest.raises(ra.InputError, match=r"n_splits=1; allowed are whole numbers from 2 on\.\nHint: "):
        kind(1)
    with pytest.raises(ra.InputError, match=r"random_state has no effect if shuffle=False\.\nHint: "):
        kind(3, random_state=0)
    with pytest.raises(ra.InputError, match=r"n_splits=1; allowed are whole numbers from 2 on\.\nHint: "):
        kind(3).set_params(n_splits=1).split(DATA.X, DATA.y, DATA.qid)


def test_a_search_without_qid_fails_before_it_trains():
    with sklearn.config_context(enable_metadata_routing=True), pytest.raises(ra.InputError, match="got no qid"):
        cross_validate(Ridge(), DATA.X, DATA.y, cv=QueryKFold(3), params={})


def test_without_x_the_ids_tell_the_number_of_rows():
    folds = [test.tolist() for _, test in QueryKFold(2).split(None, groups=["a", "a", "b"])]
    assert sorted(folds) == [[0, 1], [2]]


@pytest.mark.parametrize("make", [
    lambda state: QueryKFold(3, shuffle=True, random_state=state),
    lambda state: StratifiedQueryKFold(3, shuffle=True, random_state=state),
    lambda state: QueryShuffleSplit(3, random_state=state),
])  # fmt: skip
def test_a_generator_of_numpy_draws_the_seed_and_other_states_are_refused(make):
    seed = int(np.random.default_rng(3).integers(2**32))
    folds, expected = (
        [test.tolist() for _, test in make(state).split(DATA.X, DATA.y, DATA.qid)]
        for state in (np.random.default_rng(3), seed)
    )
    assert folds == expected
    with pytest.raises(ra.InputError, match=r"random_state='a'; allowed are .*\nHint: random_state=0"):
        make("a").split(DATA.X, DATA.y, DATA.qid)
