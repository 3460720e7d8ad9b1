"""CatBoost's metric strings: conventions as strings and back, and in a training."""

import pytest

import rankadapters as ra
from tests.catboost.records import BASE, as_dcg, expressible_conventions, weighted_columns
from tests.helpers.parameters import short

cb = pytest.importorskip("catboost")


# The metric string.


@pytest.mark.parametrize("convention", expressible_conventions(), ids=short)
def test_catboost_computes_the_convention_of_the_metric_string(convention):
    labels, scores, qid, weights = weighted_columns(lowest=0.0 if convention.gain == "exp2" else -9.0)
    metric = ra.catboost.native_metric(convention)
    [value] = cb.utils.eval_metric(labels, scores, metric, group_id=qid, group_weight=weights[qid])
    used = weights if convention.average == "query" else None
    assert value == pytest.approx(ra.evaluate(labels, scores, convention, qid=qid, query_weight=used).value, rel=1e-9)
    assert ra.catboost.read_metric(metric) == convention


@pytest.mark.parametrize(
    ("convention", "metric"),
    [
        (BASE, "NDCG:top=10;type=Base;denominator=LogPosition"),
        (BASE.at(None), "NDCG:top=-1;type=Base;denominator=LogPosition"),
        (as_dcg(BASE.replace(gain="exp2", discount="reciprocal")), "DCG:top=10;type=Exp;denominator=Position"),
        (BASE.replace(average="uniform"), "NDCG:top=10;type=Base;denominator=LogPosition;use_weights=false"),
    ],
)
def test_metric_string_spells_every_parameter(convention, metric):
    assert ra.catboost.native_metric(convention) == metric
    if convention.average == "uniform":  # CatBoost refuses use_weights in a training without object weights
        without = metric.removesuffix(";use_weights=false")
        assert ra.catboost.native_metric(convention, group_weights=False) == without


def test_fields_of_retrieval_runs_do_not_change_the_metric_string_and_texts_are_taken():
    for change in ({"missing": "zero"}, {"unjudged": "drop"}, {"ideal": "retrieved"}):
        assert ra.catboost.native_metric(BASE.replace(**change)) == ra.catboost.native_metric(BASE)
    assert ra.catboost.native_metric("catboost@10+gain=exp2") == ra.catboost.native_metric(BASE.replace(gain="exp2"))


def test_every_inexpressible_field_is_named_and_the_nearest_convention_is_expressible():
    with pytest.raises(ra.UnsupportedConventionError) as raised:
        ra.catboost.native_metric(ra.presets.letor4(5))
    message = str(raised.value)
    assert message.startswith("CatBoost cannot express gain='table_0_1_3', discount='jk2', ties='input', short='zero'")
    nearest = ra.parse(message.rpartition(" ")[2].removesuffix("."))
    assert ra.catboost.native_metric(nearest) == "NDCG:top=5;type=Exp;denominator=LogPosition;use_weights=false"


# In a training


@pytest.mark.parametrize("eval_set", [False, True])
def test_a_convention_in_place_of_a_metric_is_refused_with_the_call_to_write(eval_set):
    pool = cb.Pool([[0.0], [1.0], [2.0]], [0, 1, 2], group_id=[0, 0, 0])
    model = cb.CatBoostRanker(iterations=1, eval_metric=BASE, verbose=False, allow_writing_files=False)
    with pytest.raises(AttributeError, match=r"NDCG is frozen(.|\n)*Hint: .*ra\.catboost\.eval_metric\(conv, pools\)"):
        model.fit(pool, eval_set=pool if eval_set else None)
