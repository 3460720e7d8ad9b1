"""Objectives as values: declared whole, compared by meaning, written and read back."""

from __future__ import annotations

import pickle
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import rankadapters as ra
from rankadapters import objectives
from tests.helpers.objective_values import ALL
from tests.tables import for_each, short


@for_each("value", ALL, ids=short)
def test_a_signature_reads_back_as_the_same_value(value):
    assert objectives.parse(str(value)) == value
    assert hash(objectives.parse(str(value))) == hash(value)
    assert set(str(value)) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@=._/+-")


@for_each("value", ALL, ids=short)
def test_values_are_frozen_and_pickle(value):
    assert pickle.loads(pickle.dumps(value)) == value
    with pytest.raises(AttributeError):
        value.sigma = 2


def test_signatures_are_all_different():
    assert len({str(value) for value in ALL}) == len(ALL)


def test_a_signature_shows_every_choice():
    assert str(objectives.lightgbm.lambdarank()) == (
        "lambdarank/truncation=30/samples=all/sigma=1/normalization=lightgbm/hessian=plain/sigmoid=table/beyond_k=keep"
        f"/v1/{ra.presets.lightgbm(30)}"
    )


@for_each(
    "signature",
    [
        "",
        "lambdarank",
        "nosuch/v1",
        "xendcg/seed=5/seed=6/v1",
        "xendcg/seed=0_5/v1",
        "listnet/v1/x",
        "xendcg/seed=5/v1 ",
        "query-rmse/v2",
        "ranknet/truncation/v1",
        str(ALL[0])[:-20],
        "query-rmse/a=1/v1",
    ],
)
def test_a_broken_signature_is_refused(signature):
    with pytest.raises(ra.ConventionError):
        objectives.parse(signature)


def test_another_version_of_a_signature_is_named():
    with pytest.raises(ra.ConventionError, match=r"has version 'v10'; this rankadapters knows 'v1'\.\nHint: upgrade"):
        objectives.parse("xendcg/seed=5/v10")


def test_fields_by_position_are_refused():
    with pytest.raises(ra.ConventionError, match="LambdaRank takes its fields as keywords: 'truncation'"):
        objectives.LambdaRank(ra.presets.letor4(10))


def test_what_is_left_out_is_named_with_its_choices():
    with pytest.raises(ra.ConventionError, match=r"(?s)RankNet needs every field.*normalization: 'none', 'lightgbm'"):
        objectives.RankNet(truncation=3, samples=None, sigma=1.0, hessian="plain", sigmoid="exact")


def test_an_unknown_field_is_refused():
    with pytest.raises(ra.ConventionError, match="RankNet has no field 'norm'; its fields are"):
        objectives.catboost.pair_logit().replace(norm=True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"truncation": 0}, r"truncation=0; allowed are whole numbers from 1 on, or None for all ranks"),
        ({"truncation": 2.5}, r"truncation=2\.5; allowed are whole"),
        ({"sigma": 0}, r"sigma=0; allowed are finite numbers above 0"),
        ({"sigma": -1.0}, r"sigma=-1\.0"),
        ({"sigma": float("nan")}, "sigma=nan"),
        ({"normalization": "norm"}, "normalization='norm' is not a choice; allowed are 'none', 'lightgbm'"),
        ({"hessian": "gauss"}, "hessian='gauss' is not a choice"),
        ({"sigmoid": "fast"}, "sigmoid='fast' is not a choice; allowed are 'exact', 'table', 'float32'"),
        ({"beyond_k": "drop"}, "beyond_k='drop' is not a choice; allowed are 'keep', 'cut'"),
        ({"samples": 3}, "truncation=30 chooses pairs by rank and samples=3 draws them"),
        ({"samples": 3, "truncation": None}, "sigmoid='table' replays LightGBM"),
        ({"samples": 3, "truncation": None, "sigmoid": "exact"}, "sigmoid='exact' takes every pair, but samples"),
        ({"hessian": "doubled"}, "sigmoid='table' replays LightGBM"),
        ({"convention": ra.presets.trec_eval_9(10)}, None),
        ({"convention": "catboost.dcg@10"}, "needs a convention of NDCG, AP, RR or ERR, not dcg@10/gain=linear"),
    ],
)
def test_values_outside_their_choices_are_refused(changes, message):
    base = objectives.lightgbm.lambdarank()
    if message is None:
        assert base.replace(**changes).convention == changes["convention"]
        return
    with pytest.raises(ra.ConventionError, match=message):
        base.replace(**changes)


def test_no_draws_at_all_are_refused():
    with pytest.raises(ra.ConventionError, match="lambdarank_num_pair_per_sample=0; allowed are whole"):
        objectives.xgboost.ndcg(lambdarank_pair_method="mean", lambdarank_num_pair_per_sample=0)


def test_without_a_cutoff_nothing_lies_beyond_it():
    value = objectives.lightgbm.lambdarank().replace(convention=ra.presets.lightgbm(None))
    assert value.replace(beyond_k="cut") == value


@pytest.mark.parametrize(("value", "sigmoid"), [(ALL[7], "table"), (ALL[6], "exact")], ids=short)
def test_a_sigmoid_that_an_objective_lacks_is_refused(value, sigmoid):
    with pytest.raises(ra.ConventionError, match=f"has no sigmoid='{sigmoid}'\\.\nHint: sigmoid='float32'"):
        value.replace(sigmoid=sigmoid)


def test_a_dcg_convention_is_refused():
    dcg = ra.DCG(k=10, gain="exp2", discount="log2", ties="input", precision="float64", short="pad", missing="error",
                 unjudged="error", average="uniform")  # fmt: skip
    with pytest.raises(ra.ConventionError, match=r"needs a convention of NDCG, AP, RR or ERR, not dcg@10/.*\nHint: "):
        objectives.lightgbm.lambdarank().replace(convention=dcg)


@pytest.mark.parametrize("seed", [-1, 2**31, 1.0, True])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(ra.ConventionError, match="seed="):
        objectives.lightgbm.xendcg(objective_seed=seed)


def test_an_unknown_pair_method_is_refused():
    with pytest.raises(ra.ConventionError, match="lambdarank_pair_method='top'; allowed are 'topk', 'mean'"):
        objectives.xgboost.ndcg(lambdarank_pair_method="top")


@pytest.mark.parametrize(
    ("given", "way"),
    [
        (ra.presets.textbook(10), r"ra\.objectives\.lambdarank\(convention, truncation=30\) is one"),
        ("textbook@10", r"ra\.objectives\.lambdarank\(convention, truncation=30\) is one"),
        (objectives.ListNet, r"ListNet\(\.\.\.\) with every field"),
        (SimpleNamespace(objective=objectives.ListNet()), r"its \.objective is one"),
        ("lambdarank", r"'lightgbm\.lambdarank', or ra\.objectives\.lightgbm\.lambdarank\(\)"),
    ],
)
def test_what_is_not_an_objective_leads_to_one(given, way):
    with pytest.raises(ra.ConventionError, match=rf"is not an objective\.\nHint: {way}"):
        objectives.gradients([0, 1], [0, 1], given, group_sizes=[2])


TEXTS = {
    "lightgbm.lambdarank": objectives.lightgbm.lambdarank(),
    "xgboost.map": objectives.xgboost.map(),
    "catboost.query_soft_max": objectives.catboost.query_soft_max(),
    str(objectives.ListNet()): objectives.ListNet(),
}


@pytest.mark.parametrize(("text", "value"), TEXTS.items())
def test_the_text_of_an_objective_is_as_good_as_the_objective(text, value):
    assert objectives.parse(text) == value
    assert value.diff(text) == {}
    ours, theirs = (objectives.gradients([1, 0, 1], [0.3, 0.2, 0.1], it, group_sizes=[3]) for it in (text, value))
    assert all((one == other).all() for one, other in zip(ours, theirs, strict=True))


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("lightgbm.ndcg", "lightgbm, which has 'lambdarank', 'xendcg'"),
        ("xgboost.unbiased", "xgboost, which has 'ndcg', 'pairwise', 'map'"),
        ("catboost.stochastic_rank", "catboost, which has 'pair_logit'"),
        ("xgboost.native_objective", "xgboost, which has"),
    ],
)
def test_a_text_of_no_objective_names_those_of_the_toolkit(text, known):
    with pytest.raises(ra.ConventionError, match=rf"'{text}' is not an objective of {known}"):
        objectives.parse(text)


def test_lambdarank_needs_no_toolkit():
    value = objectives.lambdarank("textbook@10", truncation=30)
    assert (value.normalization, value.hessian, value.sigmoid) == ("lightgbm", "plain", "exact")
    with pytest.raises(ra.InputError, match=r"lambdarank needs truncation(.|\n)*truncation=None for all pairs"):
        objectives.lambdarank("textbook@10")


def test_what_an_adapter_makes_of_a_convention_has_an_objective():
    pytest.importorskip("lightgbm")
    grad, _ = objectives.gradients(
        [0, 1], [0, 1], ra.lightgbm.lambdarank("textbook@10", truncation=30).objective, group_sizes=[2]
    )
    assert grad[0] > 0 > grad[1]


def test_the_example_trains_under_each_convention(capsys, monkeypatch):
    pytest.importorskip("lightgbm")
    monkeypatch.setattr(sys, "argv", ["train_under_conventions.py", "--rounds", "5"])
    runpy.run_path(str(Path(__file__).parent.parent.parent / "examples" / "train_under_conventions.py"))
    lines = capsys.readouterr().out.splitlines()
    rows = {name: [float(value) for value in values] for name, *values in map(str.split, lines[1:])}
    assert list(rows) == ["letor4", "yahoo", "textbook"]
    assert rows["yahoo"] == rows["textbook"]  # they differ in ties and empty queries, which no gradient sees
    assert rows["letor4"] != rows["yahoo"]


@pytest.mark.parametrize(
    ("make", "fields"),
    [
        (
            lambda: objectives.lightgbm.lambdarank(lambdarank_truncation_level=0),
            "lambdarank_truncation_level=0; allowed",
        ),
        (
            lambda: objectives.lightgbm.lambdarank(lambdarank_truncation_level=None),
            "lambdarank_truncation_level=None; ",
        ),
        (lambda: objectives.lightgbm.lambdarank(sigmoid=-1), "sigma=-1; allowed"),
        (lambda: objectives.catboost.query_soft_max(lambda_=1.5), "lambda_=1.5; allowed are numbers from 0 to 1"),
        (lambda: objectives.catboost.query_soft_max(lambda_=-1), "lambda_=-1; allowed"),
        (lambda: objectives.catboost.query_soft_max(beta=0), "beta=0; allowed"),
        (lambda: objectives.catboost.query_cross_entropy(alpha=2), "alpha=2; allowed"),
        (lambda: objectives.xgboost.pairwise(lambdarank_pair_method="top"), "lambdarank_pair_method='top'; allowed"),
        (lambda: objectives.xgboost.map(lambdarank_num_pair_per_sample=0), "lambdarank_num_pair_per_sample=0; allowed"),
        (lambda: objectives.xgboost.map(lambdarank_num_pair_per_sample=-1), "lambdarank_num_pair_per_sample=-1; "),
    ],
)
def test_presets_refuse_in_the_toolkits_words(make, fields):
    with pytest.raises(ra.ConventionError, match=f"^{fields}"):
        make()


@pytest.mark.parametrize(
    ("by_sum", "by_distance", "normalization"),
    [(True, True, "xgboost"), (True, False, "xgboost-sum"), (False, True, "xgboost-distance"), (False, False, "none")],
)
@pytest.mark.parametrize("make", [objectives.xgboost.ndcg, objectives.xgboost.pairwise, objectives.xgboost.map])
def test_xgboosts_two_normalizations_are_one_field(make, by_sum, by_distance, normalization):
    value = make(lambdarank_normalization=by_sum, lambdarank_score_normalization=by_distance)
    assert value.normalization == normalization


def test_presets_are_these_values():
    """The toolkits' defaults: LightGBM 4.7.0, XGBoost 3.2.0, CatBoost 1.2.10."""
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
    assert objectives.lightgbm.lambdarank(label_gain=[0, 2]).convention == ra.presets.lightgbm(30, label_gain=[0, 2])


def test_diff_takes_a_signature_as_well_as_a_value():
    one, other = objectives.lightgbm.lambdarank(), objectives.lightgbm.lambdarank(sigmoid=2)
    assert one.diff(str(other)) == one.diff(other) == {"sigma": (1.0, 2.0)}
    with pytest.raises(ra.ConventionError, match=r"5 is not an objective\.\nHint: "):
        one.diff(5)


@pytest.mark.filterwarnings("ignore:.* encountered in")
def test_derivatives_beyond_float32_are_refused_with_their_row():
    steep = objectives.lightgbm.lambdarank().replace(sigma=1e300)
    with pytest.raises(
        ra.InputError, match=r"gives row 0 a gradient of -inf, in float32\.\nHint: a smaller sigma"
    ) as found:
        objectives.gradients([1, 0], [0.0, 0.0], steep, group_sizes=[2])
    assert found.value.row == 0
    flat = objectives.ApproxNDCG(convention="textbook@3", temperature=1, hessian=1e300)
    with pytest.raises(ra.InputError, match="gives row 0 a hessian of inf"):
        objectives.gradients([1, 0], [0.0, 0.0], flat, group_sizes=[2])
