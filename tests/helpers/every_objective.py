"""Objectives and position biases of every class."""

from __future__ import annotations

from rankadapters import objectives

OBJECTIVES = [
    objectives.lightgbm.lambdarank(),
    objectives.lightgbm.lambdarank(lambdarank_norm=False, label_gain=[0, 1, 3.5], sigmoid=0.5),
    objectives.lightgbm.xendcg(objective_seed=11),
    objectives.xgboost.ndcg(ndcg_exp_gain=False),
    objectives.xgboost.ndcg(lambdarank_pair_method="mean", lambdarank_num_pair_per_sample=4),
    objectives.xgboost.pairwise(lambdarank_normalization=False),
    objectives.xgboost.map(lambdarank_score_normalization=False),
    objectives.catboost.pair_logit(),
    objectives.ListNet(),
    objectives.ListMLE(),
    objectives.ApproxNDCG(convention="textbook@10", temperature=0.1, hessian=1),
    objectives.LambdaLoss(convention="lightgbm@all", scheme="ndcg2++_10", truncation=30, sigma=1),
    objectives.LambdaLoss(convention="sklearn@all", scheme="arp1", truncation=None, sigma=0.5),
    objectives.catboost.query_soft_max(beta=0.5, lambda_=0),
    objectives.QueryRMSE(),
    objectives.catboost.query_cross_entropy(),
    *(
        objectives.lightgbm.lambdarank().replace(sigmoid="exact", convention=text)
        for text in ("lightgbm.map@10", "catboost.mrr@5", "yahoo.err")
    ),
    objectives.catboost.lambdamart(top=5, type="Exp"),
    *(objectives.catboost.lambdamart(metric=metric) for metric in ("MRR", "ERR", "MAP")),
    objectives.catboost.stochastic_rank("NDCG", top=10, sigma=0.5, lambda_=0),
    objectives.catboost.stochastic_rank("PFound", seed=2**64 - 1),
    objectives.catboost.yetirank(mode="ERR", num_neighbors=-1, noise="Gauss"),
    objectives.catboost.yetirank(),
    objectives.catboost.stochastic_filter(sigma=2, num_estimations=5),
]

BIASES = [
    objectives.lightgbm.position_bias(),
    objectives.lightgbm.position_bias(lambdarank_position_bias_regularization=0.3, learning_rate=1),
    objectives.AdditiveBias(positions="rows", regularization=0, learning_rate=1e-5),
    objectives.xgboost.unbiased(),
    objectives.xgboost.unbiased(lambdarank_bias_norm=0, lambdarank_num_pair_per_sample=7),
    objectives.unbiased_lambdamart(limit=None, norm=0.5),
]
VALUE_BY_CLASS = {type(value): value for value in reversed([*BIASES, *OBJECTIVES])}  # one value of every class
