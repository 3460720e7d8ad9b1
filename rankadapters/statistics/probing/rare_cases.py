"""Make the data that programs with a rare fault compute wrongly: special scores, runs of ties, long and many queries.

Each case has its first relevant row where the fault moves it, so that measures of the first hit show it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement, groupby, product

import numpy as np

from rankadapters.core.arrays import Floats
from rankadapters.statistics.probing import cases as kinds
from rankadapters.statistics.probing.case_maker import STEP, TIED_SCORES, USUAL_ROWS, CaseMaker
from rankadapters.statistics.probing.cases import Case

SCORES, DEEP, MANY, ALIKE = "special scores", "long list", "many queries", "equal labels"  # purposes of these cases

SPECIAL_SCORES: tuple[Sequence[float], ...] = (  # by rank
    (0.0, -0.25, -0.5, -1.0, -2.0, -4.0),
    (0.5, 0.25, 0.0, -0.25, -0.5, -1.0),
    (0.4, 0.3, 0.2, 0.1, 0.05, 0.0),
    (-1.5, -2.0, -3.0, -4.0, -5.0, -6.0),
    (-800.0, -850.0, -900.0, -950.0, -1000.0, -1050.0),  # exponentials underflow
    (-1001.0, -2000.0, -20000.0, -1e5, -1.1e6, -2e9),
    (1000.0, 900.0, 800.0, 750.0, 720.0, 710.0),  # exponentials overflow
    (60.0, 56.5, 53.0, 48.0, 42.0, 37.0),  # sigmoids are 1
    (36.0, 31.0, 27.0, 24.0, 21.0, 17.5),  # in float32 too, as is tanh
    (1e30, 1e20, 70000.0, 66000.0, -1e5, -1e30),
    tuple(2.0**24 + step for step in range(6, 0, -1)),  # float32 has no such digits
    tuple(2.0**53 - step for step in range(6)),
    *(tuple(0.5 - gap * step for step in range(6)) for gap in (4e-3, 3e-4, 3e-7, 1e-10, 1e-13)),
)
RUNS, FURTHER_RUNS = (2, 3, 5), (4, 6, 7, 8)  # rows with the same score; the further ones only at the top
RUN_SCORES = (0.0, 0.25, -0.75, 3.0)  # of a run, in turn
LONG_TIED = (9, 12, 15, 17, 20, 33, 65, 101, 150, 1100)  # rows of queries with many ties
N_LEVELS = 7  # of their scores
FINE_STEP = 1e-4  # of the scores of some long lists; float16 has no such digits
DEEP_RANKS = ((12, 13), (20, 24), (33, 33), (65, 70), (101, 150), (150, 150), (1100, 1100))  # a rank and the rows
QUERY_SIZES = (  # rows of the queries of a case
    (4, 7, 2, 12, 5), (3, 9, 1, 6, 2, 8), (5, 2, 11, 4, 6, 3, 1), (1, 8, 3, 12, 2, 5, 7, 4),
    (6, 2, 9, 3, 10, 4, 12, 5, 7), (2, 3, 4, 5, 6, 7, 8, 9, 1), (7, 3, 5, 2, 6, 8, 4, 9, 3, 5, 2, 6),
)  # fmt: skip
EMPTY_AMONG = ((6, 0), (5, 3), (13, 0), (4, 2), (2, 0), (9, 4), (1, 0), (3, 1))  # rows and relevant rows of queries
ALL_OF_A_KIND = (  # rows and relevant rows of queries that are all empty, or all of one row
    ((4, 0), (1, 0), (6, 0)), ((12, 0), (13, 0), (2, 0), (5, 0), (3, 0), (7, 0)), ((1, 1), (1, 0), (1, 1), (1, 1)),
)  # fmt: skip
N_BATCHED = 131  # queries that no usual size of a batch divides
EMPTY_ROWS = (1, 2, 3, 6, 13, 30)  # of queries with nothing relevant


def rare_cases(maker: CaseMaker, *, several: bool) -> list[Case]:
    """Return the cases of one query, and with `several` those of more queries."""
    cases = [*_labels(maker), *_long_lists(maker)]
    if not maker.distinct:
        cases += [*_special_scores(maker), *_zeros(maker), *_runs(maker), *_long_ties(maker)]
    if several:
        cases += _many_queries(maker)
    return maker.unique(cases)


def _by_rank(
    labels: Floats, scores: Sequence[float] | np.ndarray, rows: Sequence[int] | np.ndarray, purpose: str
) -> Case:
    """Make a query from labels and scores by rank; `rows` are the ranks, from 0, of its rows."""
    return Case.of(labels[rows], np.asarray(scores)[rows], purpose)


def _labels(maker: CaseMaker) -> Iterator[Case]:
    """Yield queries with nothing relevant, with equal labels, with only a low grade, and with few rows."""
    low, high, least = maker.grades[0], maker.grades[-1], next(grade for grade in maker.grades if grade > 0)
    generator = np.random.default_rng([maker.seed, 1])

    def query(labels: Sequence[float] | Floats, purpose: str = ALIKE) -> Case:
        return Case.of(labels, generator.permutation(len(labels)) * STEP + STEP, purpose)

    yield from (query([low] * n_rows, kinds.EMPTY) for n_rows in EMPTY_ROWS)
    yield from (query([grade] * n_rows) for grade, n_rows in product({least, high}, (2, 3, 6, 13)))
    yield from (query([grade]) for grade in {least, high})
    yield from (query(generator.permutation([least, low, low, least, low, low][:n])) for n in (4, 5, 6))
    for n_rows in (2, 3, 4):
        scores = np.arange(n_rows, 0, -1) * STEP
        for rank in range(n_rows):
            yield _by_rank(maker.top(n_rows, rank), scores, range(n_rows)[::-1], kinds.RANK)
    for n_rows in (2, 4, 5):  # the last row is the only relevant one, and the worst
        yield _by_rank(maker.top(n_rows, n_rows - 1), np.arange(n_rows, 0, -1) * STEP, range(n_rows), kinds.RANK)


def _long_lists(maker: CaseMaker) -> Iterator[Case]:
    """Yield queries whose only relevant row is deep, and those whose best row is the first or last."""
    for rank, n_rows in DEEP_RANKS:
        rows = np.random.default_rng([maker.seed, 2, rank]).permutation(n_rows)
        yield _by_rank(maker.top(n_rows, rank - 1), np.arange(n_rows, 0, -1) / 8, rows, DEEP)
    for n_rows, last in product((13, 65, 150, 1100), (True, False)):
        generator = np.random.default_rng([maker.seed, 3, n_rows])
        labels = generator.choice(np.asarray(maker.grades), n_rows)
        labels[0], labels[1 : n_rows // 2] = maker.grades[-1], maker.grades[0]
        ranks = [0, *generator.permutation(np.arange(1, n_rows)).tolist()]
        yield _by_rank(labels, 0.5 + np.arange(n_rows, 0, -1) * FINE_STEP, ranks[::-1] if last else ranks, DEEP)
    yield _by_rank(maker.top(150, *range(148), 149), np.arange(150, 0, -1) / 8, range(150)[::-1], DEEP)


def _special_scores(maker: CaseMaker) -> Iterator[Case]:
    """Yield queries with special scores, in ascending and in descending order."""
    low, high, middle = maker.grades[0], maker.grades[-1], maker.grades[len(maker.grades) // 2]
    for scores in SPECIAL_SCORES:
        rows = range(len(scores))
        yield _by_rank(np.array([high, low, middle, low, middle, low]), scores, rows[::-1], SCORES)
        yield _by_rank(np.array([low, high, low, middle, low, middle]), scores, rows, SCORES)
        yield _by_rank(np.array([low, low, high, low, low, middle]), scores, rows[::-1], SCORES)


def _zeros(maker: CaseMaker) -> Iterator[Case]:
    """Yield queries with scores of -0.0, which is equal to 0.0, and queries of equal scores."""
    low, high = maker.grades[0], maker.grades[-1]
    # Cases that differ only in the sign of 0 are equal, so they have other rows too.
    yield from (Case.of([low, high], [-0.0, 0.0], SCORES), Case.of([high, low], [0.0, -0.0], SCORES))
    for scores in ([-1.0, -0.0, 0.0, -0.5], [-0.5, 0.0, -0.0, -1.0], [-0.25, -0.0, 0.0, -0.75]):
        yield from (Case.of([low, *labels, low], scores, SCORES) for labels in ([low, high], [high, low]))
    for score, n_rows in product((0.0, 0.75, -3.0), (4, 13)):
        yield Case.of(maker.top(n_rows, 1), [score] * n_rows, kinds.TIED)


def _runs(maker: CaseMaker) -> Iterator[Case]:
    """Yield queries with a run of tied rows at the top, across the cutoff, at the bottom and alone, and with more runs.

    The first or the last row of the run is relevant, and its rows are next to each other or not.
    """
    k = USUAL_ROWS if maker.k is None else maker.k
    places = [(length, 1, length + 4) for length in (*RUNS, *FURTHER_RUNS)]  # rows, first rank, all rows
    places += [place for length in RUNS for place in ((length, 2, length + 1), (length, 1, length))]
    across = [(length, max(k - length // 2, 1), k + length + 1) for length in RUNS]
    below = [(2, max(n_rows - 2, 1), n_rows) for n_rows in (k - 1, k, k + 1) if n_rows > 1]
    # Cases of runs around a large cutoff are long, so they have one variant each; a run of 2 across it has both.
    variants = [*product(places, (0, -1)), *zip([across[0], *across, *below], (0, -1, 0, -1, 0, -1, 0), strict=False)]
    for turn, ((length, first, n_rows), row) in enumerate(variants):
        ranks = [first - 1 + row % length]
        yield _with_runs(maker, [1] * (first - 1) + [length], n_rows, ranks, turn, apart=row == 0)
    for turn, sizes in enumerate(([3, 2, 5, 2], [2, 2, 2, 3], [1, 5, 3, 2], [2, 1, 3, 1], [9, 2], [4, 4, 4])):
        ends = np.cumsum(sizes)
        rows = (ends - 1 if turn % 2 else ends - sizes).tolist()
        yield _with_runs(maker, sizes, int(ends[-1]) + 1, rows, turn, apart=turn % 2 == 0)


def _with_runs(
    maker: CaseMaker, sizes: Sequence[int], n_rows: int, relevant: Sequence[int], turn: int, *, apart: bool
) -> Case:
    """Make a query whose ranks form runs of these sizes, then runs of 1; some ranks, counted from 0, are relevant."""
    sizes = [*sizes, *[1] * (n_rows - sum(sizes))]
    level = np.repeat(np.arange(len(sizes)), sizes)
    longest = sizes.index(max(sizes))
    scores = RUN_SCORES[turn % len(RUN_SCORES)] - 0.5 * (level - longest)
    generator = np.random.default_rng([maker.seed, 4, turn, n_rows])
    if apart:
        rows = generator.permutation(n_rows)
    else:
        rows = np.concatenate([np.flatnonzero(level == run) for run in generator.permutation(len(sizes))])
    for run in range(len(sizes)):  # tied rows keep their order
        rows[level[rows] == run] = np.flatnonzero(level == run)
    cut = 0 if maker.k is None else maker.k
    purpose = kinds.BOUNDARY if 0 < cut < n_rows and scores[cut - 1] == scores[cut] else kinds.TIED
    return _by_rank(maker.top(n_rows, *relevant), scores, rows, purpose)


def _long_ties(maker: CaseMaker) -> Iterator[Case]:
    """Yield queries of many rows and few scores; among the best rows, the second or the last but one is relevant."""
    for turn, (n_rows, second) in enumerate(product(LONG_TIED, (True, False))):
        generator = np.random.default_rng([maker.seed, 5, turn])
        scores = np.resize(np.arange(N_LEVELS), n_rows) / 4 + 1 / 4 - second * (turn % 3) / 2
        generator.shuffle(scores)
        labels = generator.choice(np.asarray(maker.grades), n_rows) * (generator.random(n_rows) < 1 / 3)
        best = np.flatnonzero(scores == scores.max())
        labels[best] = maker.grades[0]
        labels[best[min(1, best.size - 1) if second else max(best.size - 2, 0)]] = maker.grades[-1]
        yield Case.of(labels, scores, kinds.LONG)


def _many_queries(maker: CaseMaker) -> Iterator[Case]:
    """Yield cases of 5 to 12 queries, of many, and of queries with equal labels, scores or sums of labels."""
    generator = np.random.default_rng([maker.seed, 6])

    def query(n_rows: int, n_relevant: int | None = None) -> Case:
        n_relevant = int(generator.integers(1, n_rows + 1)) if n_relevant is None else n_relevant
        labels = np.full(n_rows, maker.grades[0])
        relevant = [grade for grade in maker.grades if grade > 0]
        labels[generator.permutation(n_rows)[:n_relevant]] = generator.choice(relevant, n_relevant)
        return Case.of(labels, _scores(n_rows, generator), MANY)

    def join(queries: Sequence[Case]) -> Case:
        return Case.join(queries, MANY)

    yield from (join([query(n_rows) for n_rows in sizes]) for sizes in QUERY_SIZES)
    yield from (join([query(*size) for size in sizes]) for sizes in (EMPTY_AMONG, EMPTY_AMONG[:5]))
    yield join([query(n_rows, int(generator.random() < 3 / 4)) for n_rows in np.resize((2, 3, 4), N_BATCHED).tolist()])
    plain = query(5, 2)
    yield join([plain.with_columns(scores=np.roll(plain.scores, turn)) for turn in range(5)])
    yield join([plain.with_columns(labels=np.roll(plain.labels, turn)) for turn in range(5)])
    for key in (sum, max, lambda labels: sum(label > 0 for label in labels)):
        alike = _labels_alike(maker.grades, key)
        queries = [Case.of(generator.permutation(labels), _scores(len(labels), generator), MANY) for labels in alike]
        yield from (join(queries), join(queries[::-1]))
    yield from (join([query(*size) for size in sizes]) for sizes in ALL_OF_A_KIND)


def _scores(n_rows: int, generator: np.random.Generator) -> Floats:
    """Return distinct scores, or in every fourth query some tied ones."""
    if generator.random() < 1 / 4:
        return generator.choice(np.asarray(TIED_SCORES), n_rows)
    return np.asarray(generator.permutation(n_rows) * STEP + STEP)


def _labels_alike(grades: Sequence[float], key: Callable[[Sequence[float]], float]) -> list[tuple[float, ...]]:
    """Return 6 different lists of 4 grades with an equal key, or as many as there are."""
    lists = sorted((labels for labels in combinations_with_replacement(grades, 4) if max(labels) > 0), key=key)
    alike = max(([*group] for _, group in groupby(lists, key)), key=len)
    return [alike[i] for i in np.linspace(0, len(alike) - 1, 6).round().astype(int)]
