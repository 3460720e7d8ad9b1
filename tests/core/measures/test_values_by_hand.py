"""AP, AUC, correlations, unjudged rows and ideal lists: values by hand, and the fields that conventions refuse."""

from __future__ import annotations

import math
from fractions import Fraction
from math import exp, log, log2, sqrt

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.core.ranking.compiled import NEVER, NOW, kernels
from tests.oracles.correlations import _cosine

AP = ra.AP(
    k=None, relevant="from_1", divisor="relevant", ties="input", precision="float64", retrieve="all", short="pad",
    empty=0, missing="error", unjudged="error", pool="queries", average="uniform",
)  # fmt: skip
AUC = ra.AUC(
    pairs="label", ties="average", precision="float64", empty="skip", missing="error",
    unjudged="error", pool="queries", average="uniform",
)  # fmt: skip
POOLED = AUC.replace(pool="pairs", empty=0.5)
CORRELATIONS = ["scipy.spearmanr", "scipy.kendalltau", "scipy.kendalltau+variant=c", "scipy.pearsonr"]
ES = ra.presets.elasticsearch
LINEAR = ra.presets.trec_eval_9(2).replace(ties="input", precision="float64", gain="linear")
ONES = ra.presets.textbook(None).replace(ideal="ones", gain="linear")
SECOND = 1 / log2(3)
BPREF, TREC_AP = (
    preset().replace(ties="input") for preset in (ra.presets.trec_eval_9.bpref, ra.presets.trec_eval_9.map)
)
each_correlation = pytest.mark.parametrize("text", CORRELATIONS)


def data(labels, scores=None, sizes=None, **columns):
    """Return the arguments of `evaluate`: by default one query whose rows are ranked in input order."""
    scores = -np.arange(float(len(labels))) if scores is None else scores
    return {"labels": labels, "scores": scores, "group_sizes": sizes or [len(labels)], **columns}


def value(labels, scores, convention, **columns):
    return ra.evaluate(convention=convention, **data(labels, scores, **columns)).value


FIVE = data([0, 1, 0, 2, 1], [0.5, 0.4, 0.3, 0.2, 0.1])
WEIGHTED = data([0, 1, 0, 1], row_weight=[0.5, 2, 3, 1])
TWO_QUERIES = data([1, 0, 0, 1], [4, 2, 3, 1], [2, 2])
PAIRS = data([2, 0, 1, 1, 0], [0.3, 0.3, 0.5, 0.1, 0.2], [3, 2])
GIVEN = {**PAIRS, "pairs": ([2, 0, 3], [1, 2, 4], [2.0, 1.0, 0.5])}  # right, wrong, wrong
TIED = data([-1, 0, 0, 1], [2, 1, 4, 4])
# Values from Elasticsearch's own tests: DiscountedCumulativeGainTests and ExpectedReciprocalRankTests.
HITS = data([3, 2, 3, 9, 1, 9], judged=np.array([1, 1, 1, 0, 1, 0], bool))
FOUR = data([3, 9, 0, 1], judged=np.array([1, 0, 1, 1], bool))
HITS_IDEAL = 7 + 7 * SECOND + 3 / 2 + 1 / log2(5)
# Two rows with equal scores: label 1 (gain 1), and an unjudged row of label 2 (gain 3).
UNJUDGED_TIE = data([1, 9], [1, 1], judged=[True, False])
MISSED = data([0, 1, 0, 3, 2], retrieved=[True, True, True, False, True])  # ranked gains: 0, 1, 0, 2
UNJUDGED_TOP = data([9, 0, 2], judged=[False, True, True])
VALUES = [
    *((AP.replace(**changes), FIVE, expected) for changes, expected in [
        ({}, (1 / 2 + 2 / 4 + 3 / 5) / 3), ({"k": 4}, (1 / 2 + 2 / 4) / 3),
        ({"k": 2, "divisor": "cutoff"}, (1 / 2) / 2), ({"k": 4, "divisor": "found"}, (1 / 2 + 2 / 4) / 2),
        ({"k": 1, "divisor": "found"}, 0), ({"retrieve": "above_0.35"}, (1 / 2) / 3),
        ({"retrieve": "from_0.2"}, (1 / 2 + 2 / 4) / 3), ({"relevant": "above_1"}, (1 / 4) / 1),
    ]),
    # With ties='together', all rows of a tie have its last rank.
    (AP.replace(ties="together"), data([0, 1, 1, 0], [2, 1, 1, 0]), 2 * (2 / 3) / 2),
    (AP.replace(ties="together"), data([1, 1, 0], [1, 1, 1]), 2 / 3),
    (AP.replace(ties="together", k=2), data([1, 1, 0], [1, 1, 1]), 0),
    (AP.replace(average="row"), WEIGHTED, (2 * 2 / 2.5 + 1 * 3 / 6.5) / 3),
    # All rows are one query, and each row has the weight of its query.
    (AP.replace(pool="rows", average="query"), {**TWO_QUERIES, "query_weight": [2, 1]}, (2 * 1 + 1 * 3 / 6) / 3),
    (AP.replace(pool="rows", average="query"), {**TWO_QUERIES, "group_sizes": [1, 3], "query_weight": [2, 1]},
     (2 * 1 + 1 * 3 / 5) / 3),
    (AP.replace(average="geometric_0.001"), data([1, 0, 0, 1, 0], [3, 2, 3, 1, 2], [2, 2, 1]),
     exp((log(1) + log(0.5) + log(0.001)) / 3)),
    # In float32, 0.1 is 0.100000001, which is above 0.1. A threshold rounded to float32 would leave the row out.
    *((ra.parse("catboost.map@3").replace(retrieve="above_0.1", precision="float32", ties=ties, empty=0),
       data([1, 0], [0.1, 0.05]), 1) for ties in ("input", "average")),
    *((AUC.replace(**changes), PAIRS, expected) for changes, expected in [
        ({}, ((0.5 + 0 + 1) / 3 + 0) / 2),  # pairs of the first query: 2 over 0 tied, 2 over 1 wrong, 1 over 0 right
        ({"ties": "worst"}, (1 / 3 + 0) / 2), ({"ties": "best"}, (2 / 3 + 0) / 2),
        ({"pairs": "from_1"}, ((0.5 + 1) / 2 + 0) / 2),
        ({"pairs": "above_1"}, 0.5 / 2),  # 2 over 0 tied, 2 over 1 wrong; no row of the second query is relevant
        ({"pool": "pairs"}, 1.5 / 4), ({"pool": "rows"}, (0.5 + 0 + 1 + 1 + 1 + 1 + 0 + 0) / 8),
    ]),
    (AUC.replace(pairs="given", pool="pairs", average="pair", ties="worst", empty=0), GIVEN, 2 / 3.5),
    (AUC.replace(pairs="given", pool="pairs", ties="worst", empty=0), {**GIVEN, "pairs": GIVEN["pairs"][:2]}, 1 / 3),
    # Data without pairs, without retrieved rows, and without judged rows.
    (POOLED, data([1, 1], sizes=[1, 1]), 0.5),
    *((AUC.replace(pairs=pairs, missing="zero", empty=0.25), data([0, 1], retrieved=[False] * 2), 0)
      for pairs in ("label", "from_1")),
    *((AUC.replace(pairs=pairs, unjudged="drop", empty=0.25), data([0, 0], judged=[False] * 2), 0.25)
      for pairs in ("label", "from_1")),
    *((ra.parse(text), TIED, expected) for text, expected in [
        # Ranks by label are 1, 2.5, 2.5, 4 and by score 2, 1, 3.5, 3.5; their mean is 2.5.
        ("scipy.spearmanr", (1.5 * 0.5 + 1.5 * 1) / 4.5),
        ("scipy.spearmanr+ties=input", (1.5 * 0.5 + 1.5 * 0.5) / sqrt(4.5 * 5)),  # scores rank 2, 1, 4, 3
        ("scipy.spearmanr+ties=reverse", (1.5 * 0.5 + 1.5 * 1.5) / sqrt(4.5 * 5)),  # scores rank 2, 1, 3, 4
        # One of 6 pairs ties by label and another by score; 3 of the remaining 4 are concordant.
        ("scipy.kendalltau", (3 - 1) / 5),
        ("scipy.kendalltau+variant=c", (3 - 1) / (4 * 4 * (3 - 1) / (2 * 3))),  # 3 labels, 3 scores
        ("scipy.pearsonr", (1 * 0.75 + 0 + 0 + 1 * 1.25) / sqrt(2 * (0.75**2 + 1.75**2 + 2 * 1.25**2))),
    ]),
    # Scores that are equal in float32 tie.
    (ra.parse("scipy.kendalltau"), data([2, 1, 3], [1, 1 + 1e-12, 2]), 1 / 3),
    (ra.parse("scipy.kendalltau+precision=float32"), data([2, 1, 3], [1, 1 + 1e-12, 2]), 2 / sqrt(3 * 2)),
    (ra.parse("pandas.spearman"), data([-0.02, -0.01, 0.03]), -1),
    (ES.dcg(10), HITS, 12.779642067948913), (ES(10), HITS, 12.779642067948913 / 13.347184833073591),
    (ES.dcg(10, unknown_doc_rating=2), HITS, 12.779642067948913 + 3 / log2(5) + 3 / log2(7)),
    (ES(10, unknown_doc_rating=2), HITS, (12.779642067948913 + 3 / log2(5) + 3 / log2(7)) / HITS_IDEAL),
    (ES(4, unknown_doc_rating=5), HITS, (12.392789260714371 + 31 / log2(5)) / HITS_IDEAL),
    (ES.err(4, maximum_relevance=3), FOUR, 0.875 + 0.00390625),
    (ES.err(4, maximum_relevance=3, unknown_doc_rating=2), FOUR, 0.8984375 + 0.00244140625),
    (ES.err(3, maximum_relevance=3, unknown_doc_rating=2), FOUR, 0.8984375),
    (ES.precision(3), FOUR, 1 / 3), (ES.precision(3, relevant_rating_threshold=0), FOUR, 2 / 3),
    (ES.recall(3), FOUR, 1 / 2), (ES.mrr(4, relevant_rating_threshold=4), FOUR, 0),
    *((ES.dcg(None, unknown_doc_rating=2).replace(ties=ties), UNJUDGED_TIE, expected) for ties, expected in [
        ("worst", 1 + 3 * SECOND), ("average", 2 + 2 * SECOND), ("best", 3 + SECOND)]),
    (ONES.at(3), data([0, 1, 0, 1]), SECOND / (1 + SECOND + 1 / 2)),
    (ONES.at(10), data([1, 1]), (1 + SECOND) / sum(1 / log2(rank + 1) for rank in range(1, 11))),
    (ONES, data([1, 0]), 1 / (1 + SECOND)),
    (ONES.at(2), data([3, 0]), 3 / (1 + SECOND)),  # a gain above 1 can lift the value above 1
    (ra.presets.rectools(3), data([0, 0, 1, 0], sizes=[2, 2]), 1 / (1 + SECOND + 1 / 2)),  # the first query is empty
    *((LINEAR.replace(ideal=ideal, k=k), MISSED, expected) for ideal, k, expected in [
        ("cutoff", 2, SECOND / (3 + 2 * SECOND)),
        ("retrieved-only", 2, SECOND / (2 + 1 * SECOND)),  # the retrieved rows hold gains 2, 1, 0, 0
        ("top-only", 2, SECOND / 1),  # ranks 1 and 2 hold gains 0 and 1
        ("retrieved-only", None, (SECOND + 2 / log2(5)) / (2 + SECOND)),
        ("top-only", None, (SECOND + 2 / log2(5)) / (2 + SECOND)),
        ("top-only", 1, 0.0),  # rank 1 holds a gain of 0, so its ideal DCG is 0
    ]),
    # A query is empty if no retrieved row has a gain. If only its top rows have none, its value is 0.
    (LINEAR.replace(ideal="retrieved-only", empty=0.5), data([0, 0, 3, 1, 0], sizes=[3, 2],
                                                             retrieved=[True, True, False, True, True]), (0.5 + 1) / 2),
    (LINEAR.replace(ideal="top-only", empty=1, k=1), data([0, 3, 0, 0, 1], sizes=[2, 2, 1]), (0 + 1 + 1) / 3),
    # Ranked gains: 1 (declared for the unjudged row), 0 and 2. The last two ideal lists include the 1.
    *((LINEAR.replace(unjudged=1, ideal=ideal), UNJUDGED_TOP, expected) for ideal, expected in [
        ("cutoff", 1 / 2), ("retrieved-only", 1 / (2 + SECOND)), ("top-only", 1.0)]),
    # Rows without judgment, and queries without judgment or result.
    (BPREF, data([-1, 1, 0]), 1.0),  # the first row is unjudged
    (BPREF, data([0, 1, -1]), 0.0),
    (TREC_AP, data([-1, 1, 0]), 1 / 2),
    (TREC_AP.replace(unjudged="drop"), data([-1, 1, 0]), 1 / 2),
    (TREC_AP.replace(unjudged="drop-negative"), data([-1, 1, 0]), 1.0),
    # Two queries, of which the second has AP 1. Nothing judged is retrieved for the first one, but something is.
    (TREC_AP.replace(unjudged="drop"), data([0, 1, 1], sizes=[2, 1], judged=[False, True, True],
     retrieved=[True, False, True]), 1 / 2),
    (TREC_AP.replace(unjudged="zero"), data([0, 1, 1], sizes=[2, 1], judged=[True] * 3,
     retrieved=[False, False, True]), 1.0),
    # The first query has nothing to find, and nothing of it is retrieved.
    (TREC_AP.replace(missing="zero", empty="skip"), data([0, 1], sizes=[1, 1], retrieved=[False, True]), 1.0),
    (TREC_AP.replace(missing="zero", empty=1), data([0, 1], sizes=[1, 1], retrieved=[False, True]), 1 / 2),
    (TREC_AP.replace(missing="error", empty="skip"), data([0, 1], sizes=[1, 1], retrieved=[False, True]), 1.0),
]  # fmt: skip


@pytest.mark.parametrize(("convention", "rows", "expected"), VALUES, ids=str)
def test_values_by_hand(convention, rows, expected):
    for choice in (NOW, NEVER):
        with kernels(choice):
            score = ra.evaluate(convention=convention, **rows)
        assert score.value == pytest.approx(expected, rel=1e-14, abs=1e-15), choice


def test_equal_meanings_have_one_spelling():
    assert AP.replace(divisor="cutoff").divisor == "relevant"
    assert AP.replace(relevant="above_0.50").relevant == "above_0.5"
    assert AP.replace(pool="rows", empty="skip").empty == "error"
    assert [ra.presets.rectools.f1_beta(5, beta=beta).beta_squared for beta in (-3, 0, 1e154)] == [9, 0, 1e154 * 1e154]
    assert AUC.replace(pool="rows").empty == "error"
    assert str(AUC).startswith("auc/pairs=label/ties=average/")
    assert LINEAR.replace(ideal="top-only", k=None) == LINEAR.replace(ideal="retrieved-only", k=None)
    for gain, label, spelled in (("exp2", 0, "zero"), ("exp2-floor", 0.9, "zero"), ("exp2", 0.9, 0.9),
                                 ("table_0_0_1", 1, "zero"), ("table_1_2", 0, 0.0)):  # fmt: skip
        assert ES(5).replace(gain=gain, unjudged=label).unjudged == spelled  # a label without gain is zero
    for ties in ("input", "reverse", "worst", "best"):
        plain = ra.presets.textbook(4).replace(ties=ties)
        assert plain.replace(ideal="retrieved-only").all_retrieved() == plain


def test_pairs_can_be_pooled_over_all_queries():
    """A query without pairs has the value NaN. If no query has a pair, the value is that of `empty`."""
    assert ra.Evaluator([1, 1], [POOLED], group_sizes=[1, 1]).measure([1, 2]).shares[POOLED].tolist() == [0.25, 0.25]
    tallies = [ra.Evaluator([1, 0], POOLED, qid=[q, q]).tally([1.0, 2.0]) for q in "ab"]
    assert sum(tallies).score().value == 0
    assert ra.Evaluator([1, 1], POOLED, qid=["c", "c"]).tally([1, 2]).score().value == 0.5
    strict = POOLED.replace(empty="error")
    per_query = ra.Evaluator([1, 0, 1, 1, 0], strict, group_sizes=[2, 1, 2]).per_query([1, 2, 3, 2, 1])
    np.testing.assert_array_equal(per_query, [0, np.nan, 1])
    with pytest.raises(ra.InputError, match="nothing is left to average"):
        ra.evaluate([1, 1], [1, 2], strict, group_sizes=[1, 1])
    with pytest.raises(ra.InputError, match="pairs='given' needs pairs=, but none were given"):
        ra.evaluate([1, 0], [1, 2], AUC.replace(pairs="given"), group_sizes=[2])


def test_auc_of_many_rows_equals_the_mann_whitney_statistic():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 2, 3000), rng.integers(0, 500, 3000).astype(float)
    convention = AUC.replace(pairs="from_1", pool="rows", empty="error")
    statistic = stats.mannwhitneyu(scores[labels == 1], scores[labels == 0]).statistic
    expected = pytest.approx(statistic / (labels.sum() * (labels == 0).sum()), rel=1e-14)
    assert ra.evaluate(labels, scores, convention, qid=rng.integers(0, 30, 3000)).value == expected


@each_correlation
def test_correlations_of_empty_constant_and_weighted_queries_and_of_all_rows(text):
    """A query with equal labels or one row is empty. A query with equal scores counts the value of `constant`."""
    rows = {"labels": [2, 2, 2, -1, 0, 1], "scores": [1, 2, 3, 4, 5, 6], "group_sizes": [3, 1, 2]}
    score = ra.evaluate(convention=text, **rows)
    assert (score.value, score.n_scored, score.n_empty) == (1, 1, 2)
    assert ra.evaluate(convention=f"{text}+empty=-0.5", **rows).value == 0
    for change, labels, sizes in (("empty=error", rows["labels"], [3, 1, 2]), ("pool=rows", [1, 1], [2])):
        with pytest.raises(ra.InputError, match="query 0 has nothing to find, and the convention says empty='error'"):
            ra.evaluate(labels, range(len(labels)), f"{text}+{change}", group_sizes=sizes)
    for constant in (-1, 0, 0.25):
        for scores in ([1, 2, 7, 7], [1, 2, 0.1, 0.1], [1, 2, 0, -0.0]):
            score = ra.evaluate([0, 1, 0, 1], scores, f"{text}+constant={constant}", group_sizes=[2, 2])
            assert (score.value, score.n_scored) == ((1 + constant) / 2, 2)
    weighted = value([0, 1, 0, 1], [0, 1, 1, 0], f"{text}+average=query", sizes=[2, 2], query_weight=[3, 1])
    assert weighted == 0.5
    labels, scores = [0, 1, 5, 7], [0, 1, -2, 3]
    assert value(labels, scores, f"{text}+pool=rows", sizes=[2, 2]) == value(labels, scores, text)


@each_correlation
def test_correlations_are_exactly_1_if_perfect_and_do_not_depend_on_the_row_order(text):
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(-9, 9, 300) / 7, rng.normal(0, 1, 300).round(1)
    orders = [rng.permutation(300) for _ in range(9)]
    for choice in (NOW, NEVER):
        with kernels(choice):
            for n in (2, 3, 10, 999):
                perfect = rng.normal(0, 0.01, n)
                assert value(perfect, 3 * perfect, text) == 1
                assert value(perfect, -perfect / 8, text) == -1
            assert len({value(labels[order], scores[order], text) for order in orders}) == 1


def test_pearson_is_exact_to_the_last_digits():
    rng = np.random.default_rng(2)
    labels, noise = rng.normal(0, 1, 120), rng.normal(0, 1, 120)
    cases = {
        "plain": labels + noise,
        "far from 0": 1e9 + labels + noise,
        "span overflows": np.clip(labels + noise, -3, 3) * 5.9e307,
        "subnormal": np.round((labels + noise) * 9) * 5e-324,
        "outlier": np.where(np.arange(120) == 7, 1e12, labels + noise),
        "uncorrelated": noise - labels * (noise @ labels) / (labels @ labels),
    }
    for case, scores in cases.items():
        expected = _cosine([Fraction(label) for label in labels], [Fraction(score) for score in scores])
        for choice in (NOW, NEVER):
            with kernels(choice):
                assert value(labels, scores, "scipy.pearsonr") == pytest.approx(expected, rel=4e-16, abs=2e-16), case
    # In this long query, plain sums without compensation lose three digits: 0.5843162426247164.
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 50, 200_000).astype(float)
    scores = labels + rng.normal(0, 20, labels.size).round(1)
    a, b = ((column - math.fsum(column) / column.size) for column in (labels, scores))
    expected = math.fsum(a * b) / sqrt(math.fsum(a * a) * math.fsum(b * b))
    with kernels(NOW):
        assert value(labels, scores, "scipy.pearsonr") == pytest.approx(expected, rel=4e-16)


def test_weighted_documents_can_be_given_as_labels_gain_times_weight():
    """TensorFlow Ranking, Keras-RS and Rax multiply gains by document weights, in the ideal list too."""
    gains, weights, scores = np.array([[3, 0, 1], [1, 7, 0]]), np.array([[0.5, 2, 4], [1, 0.25, 3]]), [3, 2, 1]
    discounts = 1 / np.log2([2, 3, 4])
    products = gains * weights
    per_list = (products * discounts).sum(1) / (-np.sort(-products) * discounts).sum(1)
    list_weights = products.sum(1) / gains.sum(1)
    linear = ra.presets.ranklib(None).replace(gain="linear", average="query")
    queries = ra.Queries(products.ravel(), group_sizes=[3, 3], query_weight=list_weights)
    assert ra.Evaluator(queries, linear).per_query(scores * 2) == pytest.approx(per_list)
    expected = (per_list * list_weights).sum() / list_weights.sum()
    assert ra.evaluate(queries, scores * 2, linear).value == pytest.approx(expected)
    assert "labels w x g with gain='linear'" in ra.presets.inexpressible()["document_weights"]


def test_the_ratio_of_sums_equals_the_mean_weighted_by_ideal_dcgs():
    """The DCGs are 3, 1/log2(3) and 0; the ideal DCGs are 3, 1 and 0."""
    labels, scores, sizes = [2, 0, 0, 1, 0, 0], [2, 1, 2, 1, 2, 1], [2, 2, 2]
    ideal = ra.Evaluator(labels, "ranklib.dcg@10", group_sizes=sizes).per_query(labels)
    convention = ra.presets.ranklib(10).replace(average="query")
    assert value(labels, scores, convention, sizes=sizes, query_weight=ideal) == pytest.approx((3 + SECOND) / (3 + 1))
    assert "query_weight=ideal DCGs" in ra.presets.inexpressible()["ratio_of_sums"]


def test_an_objective_divides_by_the_ideal_list_of_the_retrieved_rows():
    """The gradient is half of delta = (3 - 1) (1 - 1/log2(3)) / ideal, since the scores are equal."""
    convention = LINEAR.replace(ideal="retrieved-only", k=None, missing="zero")
    lambdarank = ra.objectives.lightgbm.lambdarank().replace(sigmoid="exact", normalization="none", sigma=1)
    columns = {"group_sizes": [3], "retrieved": [True, True, False]}
    grad, _ = ra.objectives.gradients([3, 1, 4], [0.0] * 3, lambdarank.replace(convention=convention), **columns)
    delta = 2 * (1 - SECOND) / (3 + SECOND)
    assert grad.tolist() == pytest.approx([-delta / 2, delta / 2, 0], rel=1e-6)
