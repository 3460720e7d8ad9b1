"""Objectives as values: declared whole, compared by meaning, written and read back."""

from __future__ import annotations

import pickle
import runpy
import sys
from pathlib import Path

import pytest

import rankadapters as ra
from rankadapters import objectives

ALL = [
    objectives.lightgbm_lambdarank(),
    objectives.lightgbm_lambdarank(lambdarank_norm=False, label_gain=[0, 1, 3.5], sigmoid=0.5),
    objectives.lightgbm_xendcg(objective_seed=11),
    objectives.xgboost_ndcg(ndcg_exp_gain=False),
    objectives.xgboost_ndcg(lambdarank_pair_method="mean", lambdarank_num_pair_per_sample=4),
    objectives.xgboost_pairwise(lambdarank_normalization=False),
    objectives.xgboost_map(lambdarank_score_normalization=False),
    objectives.pair_logit(),
    objectives.ListNet(),
    objectives.query_softmax(beta=0.5, lambda_=0),
    objectives.QueryRMSE(),
    objectives.query_cross_entropy(),
]


@pytest.mark.parametrize("value", ALL, ids=str)
def test_a_signature_reads_back_as_the_same_value(value):
    assert objectives.parse(str(value)) == value
    assert hash(objectives.parse(str(value))) == hash(value)
    assert set(str(value)) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@=._/+-")


@pytest.mark.parametrize("value", ALL, ids=str)
def test_values_are_frozen_and_pickle(value):
    assert pickle.loads(pickle.dumps(value)) == value
    with pytest.raises(AttributeError):
        value.sigma = 2


def test_signatures_are_all_different():
    assert len({str(value) for value in ALL}) == len(ALL)


def test_a_signature_shows_every_choice():
    assert str(objectives.lightgbm_lambdarank()) == (
        "lambdarank/truncation=30/samples=all/sigma=1/normalization=lightgbm/hessian=plain/sigmoid=table/beyond_k=keep"
        f"/v1/{ra.presets.lightgbm(30)}"
    )


@pytest.mark.parametrize(
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
        objectives.pair_logit().replace(norm=True)


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
        ({"convention": "catboost.dcg@10"}, "LambdaRank needs an NDCG convention, not dcg@10/gain=linear"),
    ],
)
def test_values_outside_their_choices_are_refused(changes, message):
    base = objectives.lightgbm_lambdarank()
    if message is None:
        assert base.replace(**changes).convention == changes["convention"]
        return
    with pytest.raises(ra.ConventionError, match=message):
        base.replace(**changes)


def test_no_draws_at_all_are_refused():
    with pytest.raises(ra.ConventionError, match="lambdarank_num_pair_per_sample=0; allowed are whole"):
        objectives.xgboost_ndcg(lambdarank_pair_method="mean", lambdarank_num_pair_per_sample=0)


def test_without_a_cutoff_nothing_lies_beyond_it():
    value = objectives.lightgbm_lambdarank().replace(convention=ra.presets.lightgbm(None))
    assert value.replace(beyond_k="cut") == value


@pytest.mark.parametrize(("value", "sigmoid"), [(ALL[7], "table"), (ALL[6], "exact")], ids=str)
def test_a_sigmoid_that_an_objective_lacks_is_refused(value, sigmoid):
    with pytest.raises(ra.ConventionError, match=f"has no sigmoid='{sigmoid}'\\.\nHint: sigmoid='float32'"):
        value.replace(sigmoid=sigmoid)


def test_a_dcg_convention_is_refused():
    dcg = ra.DCG(k=10, gain="exp2", discount="log2", ties="input", precision="float64", short="pad", missing="error",
                 unjudged="error", average="uniform")  # fmt: skip
    with pytest.raises(ra.ConventionError, match=r"LambdaRank needs an NDCG convention, not dcg@10/.*\nHint: "):
        objectives.lightgbm_lambdarank().replace(convention=dcg)


@pytest.mark.parametrize("seed", [-1, 2**31, 1.0, True])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(ra.ConventionError, match="seed="):
        objectives.lightgbm_xendcg(objective_seed=seed)


def test_an_unknown_pair_method_is_refused():
    with pytest.raises(ra.ConventionError, match="lambdarank_pair_method='top' is not a choice"):
        objectives.xgboost_ndcg(lambdarank_pair_method="top")


def test_a_convention_is_no_objective():
    with pytest.raises(ra.ConventionError, match=r"is no objective\.\nHint: lambdarank\(convention, truncation=30\)"):
        objectives.gradients([0, 1], [0, 1], ra.presets.textbook(10), group_sizes=[2])


def test_the_example_trains_under_each_convention(capsys, monkeypatch):
    pytest.importorskip("lightgbm")
    monkeypatch.setattr(sys, "argv", ["train_under_conventions.py", "--rounds", "5"])
    runpy.run_path(str(Path(__file__).parent.parent / "examples" / "train_under_conventions.py"))
    lines = capsys.readouterr().out.splitlines()
    rows = {name: [float(value) for value in values] for name, *values in map(str.split, lines[1:])}
    assert list(rows) == ["letor4", "yahoo", "textbook"]
    assert rows["yahoo"] == rows["textbook"]  # they differ in ties and empty queries, which no gradient sees
    assert rows["letor4"] != rows["yahoo"]
