"""Gradients of objectives: equal to plain Python, properties that hold for all objectives, and refused input."""

import math
import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters import objectives
from rankadapters.evaluation import threads
from tests.helpers.oracle_rows import ragged_queries
from tests.helpers.parameters import examples
from tests.objectives.examples import (
    ALL,
    EXACT,
    NOISY,
    RANDOMIZED,
    STATELESS,
    TABULATED,
    VALUE_BY_CLASS,
    accepted_rows,
    labels_scores_sizes,
    objective_id,
    pairwise_objectives,
    queries_of,
    run_in_python,
)
from tests.objectives.gradients_by_hand import query_gradients
from tests.oracles.rows import Row


@pytest.fixture(params=["python", pytest.param("machine code", marks=pytest.mark.long)])
def kernels(request, monkeypatch):
    """Run kernels as Python, which takes no compiler, so that these tests are not long; and as machine code."""
    if request.param == "python":
        run_in_python(monkeypatch)
    with np.errstate(all="ignore"):  # as machine code does
        yield


IN_BOTH_FORMS = pytest.mark.usefixtures("kernels")
ADDING_UP_TO_0 = [value for value in [*STATELESS, *RANDOMIZED] if value.kind not in {"query-cross-entropy", "xendcg"}]
EACH_OBJECTIVE = pytest.mark.parametrize("value", ALL, ids=objective_id)


@IN_BOTH_FORMS
@given(queries=ragged_queries(), value=pairwise_objectives())
@settings(max_examples=examples(200))
def test_gradients_equal_the_formula(queries, value):
    queries = accepted_rows(queries, value)
    grad, hess = objectives.gradients(*queries_of(queries, value), value)
    pairs = [query_gradients(query, value) for query in queries]
    np.testing.assert_allclose(grad, [g for query, _ in pairs for g in query], rtol=3e-7, atol=1e-12)
    np.testing.assert_allclose(hess, [h for _, query in pairs for h in query], rtol=3e-7, atol=1e-12)


@IN_BOTH_FORMS
@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-8, 1e-7, 1e-6]))
@settings(max_examples=examples(40), deadline=None)
def test_scores_are_compared_in_the_declared_precision(seed, scale):
    """These scores differ only in the last bits of float32, or only in float64."""
    rng = np.random.default_rng(seed)
    labels, scores = rng.integers(0, 3, 12).astype(float), 1 + scale * rng.standard_normal(12)
    value = EXACT.replace(convention=ra.presets.textbook(5).replace(precision="float32"), normalization="lightgbm")
    rows = [Row(label, score) for label, score in zip(labels, scores, strict=True)]
    expected = query_gradients(rows, value)
    for typed_scores in (scores, scores.astype(np.float32)):
        derivatives = objectives.gradients(labels, typed_scores, value, group_sizes=[12])
        np.testing.assert_allclose(derivatives, expected, rtol=3e-7, atol=1e-12)


@IN_BOTH_FORMS
@pytest.mark.parametrize(("truncation", "seed"), list(product([None, 1, 3], range(4))))
def test_lambdamap_weighs_a_pair_by_the_change_of_average_precision(truncation, seed):
    rng = np.random.default_rng(seed)
    labels, scores = rng.permutation([0.0, 0, 0, 1, 1, 0, 1]), rng.standard_normal(7).astype(np.float32)
    value = objectives.xgboost.map().replace(truncation=truncation, normalization="none")
    derivatives = objectives.gradients(labels, scores, value, group_sizes=[7])
    trading = EXACT.replace(convention=ra.presets.catboost.map(None), truncation=truncation, normalization="none",
                            hessian="doubled", sigma=1.0)  # fmt: skip
    rows = [Row(float(label), float(score)) for label, score in zip(labels, scores, strict=True)]
    np.testing.assert_allclose(derivatives, query_gradients(rows, trading), rtol=2e-5, atol=1e-6)


TOOLKIT_SIGMOIDS = [
    objectives.xgboost.ndcg(),
    objectives.xgboost.ndcg(lambdarank_normalization=False).replace(sigma=2.0, truncation=3),
    objectives.xgboost.ndcg(lambdarank_score_normalization=False).replace(sigma=0.5, hessian="plain"),
    objectives.xgboost.pairwise(),
    objectives.xgboost.pairwise(lambdarank_normalization=False, lambdarank_score_normalization=False).replace(sigma=2),
    TABULATED.replace(sigma=2.0),
    TABULATED.replace(sigma=0.5, normalization="none", truncation=3),
    TABULATED.replace(truncation=1),
    TABULATED.replace(normalization="none"),
]


@pytest.mark.long
@pytest.mark.parametrize(("value", "tied", "seed"), list(product(TOOLKIT_SIGMOIDS, [False, True], [0, 1])), ids=str)
def test_toolkit_sigmoids_equal_the_exact_one_up_to_rounding(value, tied, seed):
    """The width of the bins limits LightGBM's table; tied queries have no score distance to divide by."""
    labels, scores, sizes = labels_scores_sizes(value, seed)
    scores = np.where(tied & (np.arange(scores.size) < 50), 0.5, scores).astype(np.float32)
    approximate = objectives.gradients(labels, scores, value, group_sizes=sizes)
    exact = objectives.gradients(labels, scores, value.replace(sigmoid="exact"), group_sizes=sizes)
    tolerance = 2e-6 if value.sigmoid == "float32" else 50 / 2**20
    for part, exact_part in zip(approximate, exact, strict=True):
        np.testing.assert_allclose(part, exact_part, rtol=tolerance, atol=tolerance * np.abs(exact_part).max())


@IN_BOTH_FORMS
@pytest.mark.parametrize("value", ADDING_UP_TO_0, ids=objective_id)
def test_gradients_of_a_query_add_up_to_0(value):
    labels, scores, sizes = labels_scores_sizes(value, sizes=(1, 2, 7, 30))
    grad, _ = objectives.gradients(labels, scores, value, group_sizes=sizes)
    starts = np.cumsum([0, *sizes[:-1]])
    np.testing.assert_allclose(np.add.reduceat(grad.astype(float), starts), 0, atol=2e-6 * np.abs(grad).max())


@pytest.mark.long
@EACH_OBJECTIVE
def test_any_number_of_threads_draws_the_same_and_a_saved_state_continues_the_draws(value, monkeypatch):
    monkeypatch.setattr(threads, "ROWS_PER_THREAD", 500)
    sizes = tuple(np.random.default_rng(1).integers(1, 40, 200).tolist())
    labels, scores, _ = labels_scores_sizes(value, 3, sizes)
    assert scores.size > 1500  # one chunk for each of three threads
    queries = ra.Queries(labels, group_sizes=sizes)
    bindings = [value.bind(queries, n_threads=n_threads) for n_threads in (1, 2, 3)]
    single_threaded, *multi_threaded = ([binding.gradients(scores) for _ in range(2)] for binding in bindings)
    for gradients in multi_threaded:
        np.testing.assert_array_equal(single_threaded, gradients)
    first_call = value.bind(queries)
    first_call.gradients(scores)
    if first_call.state.size:
        resumed = value.bind(queries, state=first_call.state.copy())
        np.testing.assert_array_equal(resumed.gradients(scores), single_threaded[1])


@pytest.mark.long
@pytest.mark.parametrize("value", [*RANDOMIZED, *NOISY], ids=objective_id)
def test_each_call_draws_anew(value):
    labels, scores, sizes = labels_scores_sizes(value, 3, (8, 5, 7))
    binding = value.bind(ra.Queries(labels, group_sizes=sizes))
    gradients = [binding.gradients(scores)[0].tobytes() for _ in range(3)]
    assert len(set(gradients)) == 3


@pytest.mark.long
@pytest.mark.parametrize("value", [*STATELESS, *NOISY], ids=objective_id)
def test_rows_of_queries_may_be_interleaved(value):
    """A query draws for its rows in their order. Here all first rows come first, then all second rows, and so on."""
    labels, scores, sizes = labels_scores_sizes(value, 7)
    qid, index_in_query = np.repeat(np.arange(len(sizes)), sizes), np.concatenate([np.arange(n) for n in sizes])
    order = np.lexsort((qid, index_in_query))
    grouped = objectives.gradients(labels, scores, value, qid=qid)
    interleaved = objectives.gradients(labels[order], scores[order], value, qid=qid[order])
    np.testing.assert_array_equal(interleaved, [part[order] for part in grouped])
    assert grouped[0].any()


@pytest.mark.long
@EACH_OBJECTIVE
@pytest.mark.parametrize("scale", [1e6, 1e100, 1e-300])
def test_scores_of_any_size_have_finite_gradients(value, scale):
    labels, scores, sizes = labels_scores_sizes(value)
    if value.kind == "query-rmse" or "float32" in str(value):
        scale = min(scale, 1e6)  # float32 ends at 3.4e38; QueryRMSE's gradients are as large as the scores
    for shape in (np.sign(scores), scores, np.where(np.arange(scores.size) % 7, scores, -scores * 3)):
        grad, hess = objectives.gradients(labels, shape * scale, value, group_sizes=sizes)
        assert np.isfinite(grad).all()
        assert np.isfinite(hess).all()
        assert (hess >= 0).all()


@pytest.mark.long
def test_rows_far_below_the_maximum_still_have_a_gradient():
    """exp(s - maximum) underflows for the last two rows, but their scores differ by 1 only."""
    value = objectives.catboost.pair_logit()
    grad, hess = objectives.gradients([0, 1, 0], [0.0, -9000.0, -9001.0], value, group_sizes=[3])
    p = 1 / (1 + math.e)
    np.testing.assert_allclose(grad, [1, -1 - p, p], rtol=1e-6)
    np.testing.assert_allclose(hess, [0, p * (1 - p), p * (1 - p)], rtol=1e-6)


NO_SHORT_QUERIES = [EXACT.replace(convention=ra.presets.letor4(5).replace(short=short)) for short in ("zero", "skip")]
NINE_ROWS = {"scores": np.arange(9.0), "group_sizes": [4, 5]}


@IN_BOTH_FORMS
@pytest.mark.parametrize(
    ("value", "columns"),
    [
        *((value.replace(sigmoid=sigmoid), {"labels": [1, 0, 0, 1, 0, 2, 1, 0, 0]})  # four rows, cutoff 5
          for value in NO_SHORT_QUERIES for sigmoid in ("exact", "table")),
        *((value, {"labels": [1, 1, 1, 1, 0, 1, 1, 0, 0]})  # one grade
          for value in STATELESS if value.kind in {"lambdarank", "ranknet", "lambdamap"}),
        *((value, {"labels": [1, 0, 0, 1, 0, 2, 1, 0, 0], "retrieved": [False] * 4 + [True] * 5})
          for value in (EXACT, TABULATED, objectives.xgboost.ndcg())),
        (objectives.catboost.query_soft_max(), {"labels": [0, 0, 0, 0, 0, 1, 1, 0, 0]}),  # no positive label
    ],
    ids=str,
)  # fmt: skip
def test_a_query_without_pairs_or_relevant_rows_has_no_gradient(value, columns):
    """The comments on the rows above describe the first query; the second has a gradient."""
    derivatives = objectives.gradients(**NINE_ROWS, **columns, objective=value)
    for part in derivatives:
        assert not part[:4].any()
        assert part[4:].any()


@pytest.mark.long
@pytest.mark.parametrize("value", STATELESS, ids=objective_id)
@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 1.0, 4.0, 0.0]])
def test_gradients_of_a_range_of_queries_equal_those_of_all(value, weights):
    labels, scores, sizes = labels_scores_sizes(value)
    if "convention" in value.fields():
        value = value.replace(convention=value.convention.replace(average="query"))
    queries = ra.Queries(labels, group_sizes=sizes, query_weight=weights)
    whole, _ = objectives.gradients(queries, scores, value)
    ends = np.cumsum(sizes)
    part = value.bind(queries).of_queries(np.asarray(scores, np.float64), 1, 4)
    np.testing.assert_array_equal(part, whole[ends[0] : ends[3]])


OVERFLOW_FREE = (
    objectives.ListNet, objectives.ListMLE, objectives.QuerySoftMax, objectives.QueryCrossEntropy, objectives.XENDCG,
    objectives.StochasticFilter, objectives.YetiRank,
)  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize(
    "value",
    [value for value in ALL if not isinstance(value, OVERFLOW_FREE) and getattr(value, "sigmoid", "") != "table"],
    ids=objective_id,
)
def test_the_lowest_score_too_far_from_its_query_is_named_in_the_callers_order(value):
    labels, scores = [1, 0, 0, 1, 1, 1, 0], [0.0, -1.5e308, 1.0, 0.5, 1.5e308, 0.0, 2.0]
    problem = (
        "beyond float32"
        if re.search("(precision|sigmoid)=float32", str(value))
        else "too far from the others of its query"
    )
    with pytest.raises(ra.InputError, match=rf"scores\[1\] is -1\.5e\+308, {problem}"):
        objectives.gradients(labels, scores, value, qid=["a", "b", "a", "b", "b", "c", "c"])


@pytest.mark.long
@EACH_OBJECTIVE
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_scores_that_are_not_finite_are_refused(value, bad):
    labels, scores, sizes = labels_scores_sizes(value)
    scores[11] = bad
    binding = value.bind(ra.Queries(labels, group_sizes=sizes))
    state = binding.state.copy()
    with pytest.raises(ra.InputError, match=r"scores\[11\] is"):
        binding.gradients(scores)
    np.testing.assert_array_equal(binding.state, state)


@pytest.mark.long
@pytest.mark.parametrize("value", STATELESS, ids=objective_id)
@pytest.mark.parametrize("rows", [[4], [4, 9]])
def test_a_range_of_queries_names_its_first_query_with_a_score_that_is_not_finite(value, rows):
    labels, scores, _ = labels_scores_sizes(value)
    scores = np.array(scores, float)
    scores[rows] = math.nan
    binding = value.bind(ra.Queries(labels, group_sizes=[3, 3, scores.size - 6]))
    with pytest.raises(ra.InputError, match="scores of the query of row 4 are not finite") as error:
        binding.of_queries(scores, 1, 3)
    assert error.value.row == 4
    assert np.isfinite(binding.of_queries(scores, 0, 1)).all()


@pytest.mark.long
def test_a_range_of_queries_names_its_first_query_with_scores_too_far_apart():
    binding = VALUE_BY_CLASS[objectives.StochasticRank].bind(ra.Queries([1, 0, 1, 0], group_sizes=[2, 2]))
    with pytest.raises(ra.InputError, match=r"scores of the query of row 2 are .* too far apart") as error:
        binding.of_queries(np.array([0.0, 1.0, -1.5e308, 1.5e308]), 1, 2)
    assert error.value.row == 2


@pytest.mark.long
def test_weights_under_a_uniform_average_are_refused():
    value = EXACT.replace(convention=ra.presets.yahoo(5))
    with pytest.raises(ra.InputError, match="average='uniform', which would ignore it"):
        objectives.gradients([0, 1], [0.0, 1.0], value, group_sizes=[2], query_weight=[2.0])


@pytest.mark.long
@pytest.mark.parametrize("value", [v for v in ALL if "convention" not in v.fields()], ids=objective_id)
@pytest.mark.parametrize("column", ["retrieved", "judged"])
def test_unjudged_rows_need_a_convention(value, column):
    with pytest.raises(ra.InputError, match="mean something under a convention only"):
        objectives.gradients([0, 1], [0.0, 1.0], value, group_sizes=[2], **{column: [True, False]})


@pytest.mark.long
def test_an_error_names_the_first_row_of_several_kernel_calls(monkeypatch):
    monkeypatch.setattr(threads, "WORK_PER_CALL", 1)
    scores, queries = [1.0, 0.0, 1.5e308, -1.5e308, 1.6e308, -1.6e308], ra.Queries([1, 0] * 3, group_sizes=[2] * 3)
    for value in (EXACT, objectives.QueryRMSE()):
        with pytest.raises(ra.InputError, match=r"scores\[([23])\] is -?1\.5e\+308, too far") as error:
            objectives.gradients(queries, scores, value)
        assert f"scores[{error.value.row}] " in str(error.value)
    for convention in ("xgboost@2", "catboost.query_auc"):
        with pytest.raises(ra.InputError, match=r"scores\[2\] is 1\.5e\+308, beyond float32") as error:
            ra.evaluate(queries, scores, ra.parse(convention).replace(precision="float32"))
        assert error.value.row == 2


@pytest.mark.parametrize("columns", [{"row_weight": [1, 2, 3]}, {"pairs": ([0], [1])}], ids=["row_weight", "pairs"])
def test_columns_that_no_objective_uses_are_refused(columns):
    with pytest.raises(ra.InputError, match=f"{next(iter(columns))} was given, but this objective would ignore it"):
        objectives.gradients([2, 0, 1], [1, 2, 3], "catboost.query_rmse", group_sizes=[3], **columns)


def test_gains_of_a_dcg_above_1e30_are_refused_with_the_callers_row():
    value = objectives.catboost.stochastic_rank("DCG", type="Exp")
    scores, qid = [0.5, 0.25, 0.75, 1.0], ["a", "b", "a", "b"]
    assert np.isfinite(objectives.gradients([1, 0, 0, 99], scores, value, qid=qid)).all()
    with pytest.raises(ra.InputError, match=r"labels\[2\] is 100, whose gain 1\.26765e\+30 .* up to 1e\+30") as caught:
        objectives.gradients([1, 0, 100, 99], scores, value, qid=qid)
    assert caught.value.row == 2
    linear = value.replace(convention=value.convention.replace(gain="linear"))
    assert np.isfinite(objectives.gradients([1, 0, 1e30, 9], scores, linear, qid=qid)).all()
