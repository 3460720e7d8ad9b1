"""Values of every class of objective, as the toolkits' own presets make them."""

from __future__ import annotations

from rankadapters import objectives
from rankadapters.core import presets

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
    objectives.ListMLE(),
    objectives.ApproxNDCG(convention="textbook@10", temperature=0.1, hessian=1),
    objectives.LambdaLoss(convention="lightgbm@all", scheme="ndcg2++_10", truncation=30, sigma=1),
    objectives.LambdaLoss(convention="sklearn@all", scheme="arp1", truncation=None, sigma=0.5),
    objectives.query_softmax(beta=0.5, lambda_=0),
    objectives.QueryRMSE(),
    objectives.query_cross_entropy(),
    *(
        objectives.lightgbm_lambdarank().replace(sigmoid="exact", convention=text)
        for text in ("lightgbm.map@10", "catboost.mrr@5", "yahoo.err")
    ),
    objectives.catboost_lambdamart(top=5, type="Exp"),
    *(objectives.catboost_lambdamart(metric=metric) for metric in ("MRR", "ERR", "MAP")),
    objectives.catboost_stochastic_rank("NDCG", top=10, sigma=0.5, lambda_=0),
    objectives.catboost_stochastic_rank("PFound", seed=2**64 - 1),
    objectives.catboost_yetirank(mode="ERR", num_neighbors=-1, noise="Gauss"),
    objectives.catboost_yetirank(),
    objectives.catboost_stochastic_filter(sigma=2, num_estimations=5),
]

EACH = {type(value): value for value in reversed(ALL)}  # one value of every class


def one_of_each():
    """One objective of every kind and arithmetic."""
    lambdarank, ranknet = objectives.lightgbm_lambdarank(), objectives.pair_logit()
    exact, ndcg = lambdarank.replace(sigmoid="exact"), presets.lightgbm(3)
    return [
        lambdarank, exact, exact.replace(convention="yahoo.err"), ranknet, objectives.lightgbm_xendcg(),
        objectives.xgboost_ndcg(), objectives.xgboost_pairwise(), objectives.xgboost_map(), objectives.ListNet(),
        objectives.QueryRMSE(), objectives.query_softmax(), objectives.query_cross_entropy(), objectives.ListMLE(),
        objectives.ApproxNDCG(convention=ndcg, temperature=1, hessian=1),
        objectives.LambdaLoss(convention=ndcg, scheme="ndcg2", truncation=3, sigma=1),
        objectives.catboost_stochastic_rank("NDCG"), objectives.catboost_yetirank(),
        objectives.catboost_stochastic_filter(),
    ]  # fmt: skip
