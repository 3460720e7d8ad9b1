"""Objectives and position biases as values: their fields, equality, signatures, presets, errors and examples."""

import pickle
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import objectives
from rankadapters.objectives.pair_gradients import PairDraws, twister_word
from tests.helpers.objective_rankings import graded_ranking
from tests.helpers.parameters import short
from tests.objectives.examples import BIASES, OBJECTIVES, simple_stochastic_rank, simple_yetirank

READERS = [
    *((objectives.parse, value) for value in OBJECTIVES),
    *((objectives.parse_position_bias, bias) for bias in BIASES),
]


@pytest.mark.parametrize(("read", "value"), READERS)
def test_a_signature_reads_back_as_the_same_value(read, value):
    for copy in (read(str(value)), pickle.loads(pickle.dumps(value))):
        assert copy == value
        assert hash(copy) == hash(value)
    assert set(str(value)) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@=._/+-")
    with pytest.raises(AttributeError):
        value.sigma = 2


def test_signatures_are_all_different():
    assert len({str(value) for _, value in READERS}) == len(READERS)


def test_a_signature_shows_every_field():
    assert str(objectives.lightgbm.lambdarank()) == (
        "lambdarank/truncation=30/samples=all/sigma=1/normalization=lightgbm/hessian=plain/sigmoid=table/beyond_k=keep"
        f"/v1/{ra.presets.lightgbm(30)}"
    )
    assert str(BIASES[0]) == "additive-bias/positions=given/regularization=0/learning_rate=0.1/v1"
    assert str(BIASES[3]) == "bias-ratios/limit=32/norm=1/cost=mirrored/v1"
    assert str(BIASES[5]) == "bias-ratios/limit=all/norm=0.5/cost=true/v1"


def test_beyond_k_is_ignored_without_a_cutoff():
    value = objectives.lightgbm.lambdarank().replace(convention=ra.presets.lightgbm(None))
    assert value.replace(beyond_k="cut") == value


TEXTS = {
    "lightgbm.lambdarank": objectives.lightgbm.lambdarank(),
    "xgboost.map": objectives.xgboost.map(),
    "catboost.query_soft_max": objectives.catboost.query_soft_max(),
    str(objectives.ListNet()): objectives.ListNet(),
}


@pytest.mark.parametrize(("text", "value"), TEXTS.items())
def test_a_text_is_accepted_instead_of_an_objective(text, value):
    assert objectives.parse(text) == value
    assert value.diff(text) == value.diff(str(value)) == {}
    if text == "catboost.query_soft_max":
        derivatives, expected = (
            objectives.gradients([1, 0, 1], [0.3, 0.2, 0.1], objective, group_sizes=[3]) for objective in (text, value)
        )
        assert [part.tolist() for part in derivatives] == [part.tolist() for part in expected]


def test_lambdarank_needs_no_toolkit():
    value = objectives.lambdarank("textbook@10", truncation=30)
    assert (value.normalization, value.hessian, value.sigmoid) == ("lightgbm", "plain", "exact")
    with pytest.raises(ra.InputError, match="required keyword-only argument: 'truncation'"):
        objectives.lambdarank("textbook@10")


@pytest.mark.long
def test_the_example_trains_under_each_convention(capsys, monkeypatch):
    pytest.importorskip("lightgbm")
    monkeypatch.setattr(sys, "argv", ["train_under_conventions.py", "--rounds", "5"])
    runpy.run_path(str(Path(__file__).parent.parent.parent / "examples" / "train_under_conventions.py"))
    lines = capsys.readouterr().out.splitlines()
    rows = {name: [float(value) for value in values] for name, *values in map(str.split, lines[1:])}
    assert list(rows) == ["letor4", "yahoo", "textbook"]
    assert rows["yahoo"] == rows["textbook"]  # they differ in ties and empty queries, which gradients do not use
    assert rows["letor4"] != rows["yahoo"]


@pytest.mark.parametrize(
    ("by_sum", "by_distance", "normalization"),
    [(True, True, "xgboost"), (True, False, "xgboost-sum"), (False, True, "xgboost-distance"), (False, False, "none")],
)
@pytest.mark.parametrize("make", [objectives.xgboost.ndcg, objectives.xgboost.pairwise, objectives.xgboost.map])
def test_xgboosts_two_normalizations_become_one_field(make, by_sum, by_distance, normalization):
    value = make(lambdarank_normalization=by_sum, lambdarank_score_normalization=by_distance)
    assert value.normalization == normalization


def test_presets_have_these_signatures():
    """The defaults are those of LightGBM 4.7.0, XGBoost 3.2.0 and CatBoost 1.2.10."""
    tail = "sigma=1/normalization={}/hessian={}/sigmoid={}"
    xgboost = tail.format("xgboost", "doubled", "float32")
    assert [str(value).partition("/v1")[0] for value in (
        objectives.lightgbm.lambdarank(lambdarank_truncation_level=7, lambdarank_norm=False, sigmoid=2),
        objectives.lightgbm.xendcg(), objectives.xgboost.ndcg(),
        objectives.xgboost.ndcg(lambdarank_pair_method="mean"),
        objectives.xgboost.pairwise(lambdarank_num_pair_per_sample=8), objectives.xgboost.map(),
        objectives.catboost.pair_logit(),
        objectives.catboost.query_soft_max(),
        objectives.catboost.query_cross_entropy(),
    )] == [
        "lambdarank/truncation=7/samples=all/sigma=2/normalization=none/hessian=plain/sigmoid=table/beyond_k=keep",
        "xendcg/seed=5", f"lambdarank/truncation=32/samples=all/{xgboost}/beyond_k=keep",
        f"lambdarank/truncation=all/samples=1/{xgboost}/beyond_k=keep",
        f"ranknet/truncation=8/samples=all/{xgboost}", f"lambdamap/truncation=32/samples=all/{xgboost}",
        "ranknet/truncation=all/samples=all/" + tail.format("none", "plain", "exact"),
        "query-soft-max/beta=1/ridge=0.01", "query-cross-entropy/alpha=0.95",
    ]  # fmt: skip
    assert objectives.xgboost.ndcg().convention == ra.presets.xgboost(32)
    assert objectives.xgboost.ndcg(ndcg_exp_gain=False).convention == ra.presets.xgboost(32, ndcg_exp_gain=False)
    # `topk` learns one bias per top rank, `mean` learns 32.
    assert objectives.xgboost.unbiased(lambdarank_num_pair_per_sample=7).limit == 7
    drawn = objectives.xgboost.unbiased(lambdarank_pair_method="mean", lambdarank_num_pair_per_sample=7)
    assert drawn == objectives.xgboost.unbiased()
    assert objectives.unbiased_lambdamart() == objectives.xgboost.unbiased().replace(cost="true")
    assert objectives.lightgbm.lambdarank(label_gain=[0, 2]).convention == ra.presets.lightgbm(30, label_gain=[0, 2])


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.* encountered in")
def test_derivatives_beyond_float32_are_refused_with_their_row():
    steep = objectives.lightgbm.lambdarank().replace(sigma=1e300)
    with pytest.raises(
        ra.InputError, match=r"gives row 0 a gradient of -inf, in float32\.\nHint: a smaller sigma"
    ) as error:
        objectives.gradients([1, 0], [0.0, 0.0], steep, group_sizes=[2])
    assert error.value.row == 0
    flat = objectives.ApproxNDCG(convention="textbook@3", temperature=1, hessian=1e300)
    with pytest.raises(ra.InputError, match="gives row 0 a hessian of inf"):
        objectives.gradients([1, 0], [0.0, 0.0], flat, group_sizes=[2])


# Seeds of the pairs that objectives draw: the round, or a word of a seeded Mersenne Twister


MEAN = {"lambdarank_pair_method": "mean"}
BY_ROUND = objectives.xgboost.ndcg(**MEAN)
SEEDED = objectives.xgboost.ndcg(**MEAN, seed=0)


@pytest.mark.parametrize("preset", [objectives.xgboost.ndcg, objectives.xgboost.pairwise, objectives.xgboost.map])
def test_the_signature_shows_the_seed_unless_the_round_is_the_seed(preset):
    by_round, seeded = preset(**MEAN), preset(**MEAN, seed=7)
    assert by_round.seed == "round"
    assert "seed" not in str(by_round)
    assert "/seed=7/" in str(seeded)
    for value in (by_round, seeded):
        assert objectives.parse(str(value)) == value
    assert by_round == by_round.replace(seed="round")
    assert len({seeded, by_round, preset(**MEAN, seed=0)}) == 3
    assert seeded.diff(by_round) == {"seed": (7, "round")}
    assert preset(seed=7) == preset()  # no pairs are drawn
    assert seeded.replace(samples=None, truncation=10).seed == "round"


@pytest.mark.parametrize(
    ("seed", "words"),
    [
        (5489, {0: 3499211612, 9999: 4123659995}),  # the generator's default; [rand.predef] in the C++ standard
        (0, {0: 2357136044, 1: 2546248239, 2: 3071714933}),  # g++ 12, std::mt19937(0)
    ],
)
def test_words_equal_those_of_the_cpp_library(seed, words):
    assert {index: twister_word(seed, index) for index in words} == words


def test_queries_are_seeded_by_the_round_or_by_a_word_of_the_generator():
    rounds = np.array([2], np.int64)
    assert PairDraws(1, rounds, None).seed_of(4, 10) == 3 * 10 + 4
    assert PairDraws(1, rounds, 0).seed_of(4, 10) == 3071714933 + 4


@pytest.mark.long
def test_seeds_draw_different_pairs_under_a_position_bias_too():
    data = graded_ranking(1, 60, 20)
    queries, scores = ra.Queries(data.y, group_sizes=data.sizes), np.linspace(0, 1, data.y.size)
    bias = objectives.xgboost.unbiased(**MEAN)
    gradients = [bias.bind(value, queries).gradients(scores)[0] for value in (BY_ROUND, SEEDED, SEEDED.replace(seed=1))]
    assert all(not np.array_equal(gradients[i], gradients[j]) for i, j in ((0, 1), (0, 2), (1, 2)))
    np.testing.assert_array_equal(gradients[1], SEEDED.bind(queries).gradients(scores)[0])  # ratios start from 1


EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "train_losses.py"


@pytest.mark.long
def test_the_example_trains_every_objective_in_every_toolkit(capsys, monkeypatch, tmp_path):
    for package in ("lightgbm", "xgboost", "catboost", "matplotlib"):
        pytest.importorskip(package)
    picture = tmp_path / "losses.svg"
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), "--rounds", "1", "--picture", str(picture)])
    module = runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()[1:]
    toolkits = (module["LightGBM"], module["XGBoost"], module["CatBoost"])
    assert len(lines) == 3 * len(module["OBJECTIVES"]) + sum(len(toolkit.built_in) for toolkit in toolkits)
    for line in lines:
        assert all(0 < float(value) <= 1 for value in line.split()[-3:])
    assert "YetiRank (built in)" in picture.read_text(encoding="utf-8")


@pytest.mark.parametrize("delta", ["exact", "catboost"])
def test_catboosts_pair_weights_are_exact_for_dcg_ndcg_and_pfound(delta):
    for text in ("catboost@5", "catboost.dcg@5", "catboost.pfound@5"):
        assert simple_yetirank(text, delta=delta).delta == "exact"
    for text in ("catboost.mrr@5", "catboost.map@5", "catboost.err@5"):
        assert simple_yetirank(text, delta=delta).delta == delta


@pytest.mark.parametrize(("delta", "convention", "decay"), [("classic", None, 0.5), ("exact", "catboost@5", 1.0)])
def test_a_field_of_yetirank_that_has_no_effect_has_one_value(delta, convention, decay):
    for noise, power in (("none", 1.0), ("logistic", 1.0), ("gauss", 2.0)):
        value = simple_yetirank(convention, delta=delta, noise=noise, noise_power=2.0, decay=0.5)
        assert (value.noise_power, value.decay) == (power, decay)


def test_catboosts_estimate_is_exact_if_sigma_is_1_and_no_reader_stops():
    assert simple_stochastic_rank("catboost@5", arithmetic="catboost").arithmetic == "exact"
    assert simple_stochastic_rank("catboost@5", arithmetic="catboost", sigma=2).arithmetic == "catboost"
    assert objectives.catboost.stochastic_rank("ERR").arithmetic == "catboost"


@pytest.mark.long
@pytest.mark.parametrize("policy", ["skip", "zero"])
def test_a_query_shorter_than_k_has_no_gradient_of_filtered_dcg(policy):
    value = objectives.catboost.stochastic_filter(num_estimations=4)
    columns = {"labels": [1, 0, 2, 1, 0, 1], "scores": [0.5, 0.2, 0.1, 0.3, 0.6, 0.9], "group_sizes": [4, 2]}
    padded, shortened = (
        objectives.gradients(**columns, objective=value.replace(convention=value.convention.replace(k=3, short=short)))
        for short in ("pad", policy)
    )
    assert shortened[0].tolist() == [*padded[0][:4].tolist(), 0, 0]
    assert padded[0].all()


# Position biases in the adapters


ADAPTERS = ["lightgbm", "xgboost"]


def objective_of(adapter):
    pytest.importorskip(adapter)
    return getattr(ra, adapter).objective


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("bias", BIASES[2:], ids=short)
@pytest.mark.parametrize("value", OBJECTIVES, ids=lambda value: value.kind)
def test_only_pair_objectives_accept_a_position_bias(adapter, bias, value):
    make_objective = objective_of(adapter)
    if isinstance(value, objectives.LambdaRank | objectives.RankNet | objectives.LambdaMAP | objectives.LambdaLoss):
        objective = make_objective(value, position_bias=bias)
        assert objective.position_bias == bias
        assert repr(objective) == f"objective({value}, position_bias={bias})"
        return
    message = rf"corrects pairs of rows, but {type(value).__name__} has none\.\nHint: one of .*'LambdaRank', 'RankNet'"
    with pytest.raises(ra.ConventionError, match=message):
        make_objective(value, position_bias=bias)


@pytest.mark.parametrize("count", ["all", "found"])
def test_reciprocal_ranks_of_several_rows_have_no_gradients(count):
    value = objectives.catboost.stochastic_rank("MRR")
    with pytest.raises(ra.ConventionError, match=f"of the first relevant row's rank only, .* says count='{count}'"):
        value.replace(convention=value.convention.replace(count=count))


def test_an_object_with_an_objective_is_refused_with_the_way_to_it():
    with pytest.raises(ra.ConventionError, match=r"is not an objective\.\nHint: its \.objective is one"):
        objectives.base.as_objective(type("Callback", (), {"objective": objectives.QueryRMSE()})())


@pytest.mark.parametrize(("number", "expected"), [(-1, None), (1, 1), (2, 2)])
def test_minus_1_means_all_in_catboosts_losses(number, expected):
    assert objectives.catboost.lambdamart(top=number).convention.k == expected
    assert objectives.catboost.yetirank(mode="NDCG", num_neighbors=number).neighbors == expected


@pytest.mark.parametrize("number", [0, -2, 1.5, "3"])
def test_other_numbers_than_catboosts_are_refused(number):
    with pytest.raises(ra.ConventionError, match=r"top=.*; allowed are whole numbers from 1 on, and -1 for all"):
        objectives.catboost.lambdamart(top=number)
