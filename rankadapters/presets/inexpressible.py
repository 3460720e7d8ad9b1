"""Metrics of tools that no convention reproduces, each with the reason and, if there is one, a workaround."""

from __future__ import annotations

import re

_TEXT = """\
spark_relevance: Called from Scala with relevance values, RankingMetrics.ndcgAt uses the ideal list in the given order,
    not by gain (run: 4.3.0). Workaround: sort the ground truth by descending relevance; then, and for sets of relevant
    ids, use presets.spark.
tensorflow_ranking: Ties are shuffled at random. Weights of documents count as in document_weights, and the weight of a
    list is sum(w g) / sum(g) (read: its source). Workaround: without weights and ties, use presets.ranklib; with
    weights, add the workaround of document_weights, and query_weight=sum(w g) / sum(g).
document_weights: In TensorFlow Ranking, Keras-RS and Rax the weight w of a document multiplies its gain g, in DCG and
    in the ideal list (read: their source). Our row weights are for rows of pairs, precisions and losses. Workaround:
    labels w x g with gain='linear'.
rectools_map_by_k: MAP(divide_by_k=True) divides by k even if a query has fewer relevant items (run: 0.19.0).
queries_without_rows: A query with neither results nor judged documents has no row here, so it is not counted. It counts
    0 in Elasticsearch (read: its source), Haystack, LensKit, Spark, ir_measures, ranx and, for dicts, RePlay, and 1 in
    MLflow (run). Workaround: multiply the value by the share of the remaining queries, and for MLflow add the share of
    the others.
queries_without_judgments: ir_measures leaves a query without judged documents out of RR@k, RBP and the measures of
    gdeval.pl, but counts a judged query without relevant documents 0 (run: 0.4.3). One `empty` cannot express both.
    Workaround: drop queries without judgments.
empty_runs: pytrec_eval, MTEB and BEIR count a query whose run is empty 0 and leave an absent query out; LensKit does so
    with empty lists; AutoGluon refuses an absent query and counts an empty one 0 (run: 0.5.11, 2.26.24, 2.2.0,
    2025.8.1, 1.6.3). Rows cannot tell them apart. Workaround: missing='zero' if no query is absent; otherwise drop
    absent queries first.
shared_ranks: In Evidently, tied rows share a rank: their mean rank, cut to a whole number (run: 0.7.23). Workaround:
    without ties, presets.recommenders for its NDCG.
whole_tie_at_k: precision_at_k and recall_at_k of TruLens with relevance_scores count all chunks that tie with the k-th
    one (run: 2.16.0). Workaround: without ties across the cut, presets.trulens.
ones_of_retrieved: Some functions have an ideal list of relevant documents as long as the list, min(k, n): NDCG of
    LlamaIndex up to 0.12.2 for a query with fewer than k documents (run: 0.10.48, 0.12.2). Workaround: k=None, if the
    rows are cut at k.
err_of_own_scale: Some functions scale ERR by the highest label of each query instead of one number for all queries
    (read: code of papers). Workaround: labels (2^label - 1) / 2^(highest label), gain='linear', scale=1.
surprise_fcp: accuracy.fcp of Surprise divides the mean number of concordant pairs of users that have one by this plus
    the mean number of discordant pairs of users that have one, so that users count unequally (run: 1.1.5). Workaround:
    for the share of all pairs, AUC with pairs='label', ties='worst' and pool='pairs'.
torchrec_decreasing: By default, NDCG of TorchRec is 1 - NDCG, so that lower is better (run: 1.9.2). Workaround:
    1 - the value of presets.torchrec, or report_ndcg_as_decreasing_curve=False there.
torchrec_weights: TorchRec multiplies the NDCG of a session by its largest weight, but divides the sum by the number of
    sessions (run: 1.9.2). Workaround: average='query' with these weights, times their mean.
metric_learning_map_at_r: mean_average_precision_at_r of PyTorch Metric Learning cuts each query at its own number R of
    relevant rows (run: 2.9.0). Workaround: evaluate the queries of each R with AP at k=R and divisor='relevant', and
    average the values.
azure_xdcg: xdcg@3 of Azure AI Evaluation is a weighted mean of labels times 25, fidelity a recall of gains
    2^(label + 1) - 1 (run: 1.18.10). Workaround for xdcg@3: 25 / 1.96 times the value of DCG with k=3, gain='linear'
    and discount='power_0.6'.
refused_runs: Runs that a tool refuses and a preset does not: ranx without make_comparable, if the run and the judgments
    have different queries; trec_eval 9 with -c, if no query has results; Judged@k of ir_measures, if a query's run is
    empty; gdeval.pl, if a query id is no whole number; MTEB, and MRR, R_cap and Accuracy of BEIR, if a query of the run
    has no judgments; Azure AI Evaluation, if a query has no judged documents (run: 0.3.21, 9.0.8, 0.4.3, 2.26.24,
    2.2.0, 1.18.10).
negative_ideal_dcg: recommenders with score_type='raw', LensKit up to 2025 with gain='rating' and torchmetrics divide by
    a negative ideal DCG too, so that values may exceed 1 (run: 1.2.1, 2025.8.1, 1.9.0). Here such a query is empty.
metrax_denormal_scores: JAX counts float32 scores below 1.2e-38 as 0, so that they tie (run: 0.2.4). Workaround: scale
    the scores.
catboost_ignored_group_weight: catboost.utils.eval_metric ignores group_weight in QueryRMSE, QuerySoftMax and
    QueryCrossEntropy (run: 1.2.10). Workaround: its weight=, with each query's weight in all of its rows.
empty_groups: LightGBM's ndcg and map and XGBoost's ndcg count 1 for a group of size 0, and CatBoost leaves it out (run:
    4.7.0, 3.2.0, 1.2.10); here every query has a row. Workaround: drop them and, for LightGBM and XGBoost, average in
    their share of 1.
elasticsearch_ignore_unlabeled: ignore_unlabeled of precision removes unrated hits after the cut at k, so that fewer
    ranks count (read: its source).
letor_mean_ndcg: MeanNDCG of the scripts of LETOR and MSLR averages NDCG@1, ..., NDCG@n of each query of n rows, so that
    every query has other cutoffs (run: Eval-Score-4.0.pl, eval-score-mslr.pl). Workaround:
    ra.parity.letor_mean_ndcg(labels, scores, 'letor4@all').
ratio_of_sums: Some users divide the sum of all DCGs by the sum of all ideal DCGs (read: xgboost#3875). This is the mean
    of NDCGs weighted by ideal DCGs. Workaround: average='query' with query_weight=ideal DCGs, which are
    ra.Evaluator(labels, a DCG, ...).per_query(labels).
duplicate_documents: Many programs count a document that a query retrieved twice at each of its ranks, so that NDCG may
    exceed 1 (read: haystack#11959, trulens#2746, llama_index#22683); here a row is one document. Workaround: add its
    further ranks as unjudged rows with unjudged=<its label>, which do not enter the ideal list.
implicit_padded: If K exceeds the number of items, implicit pads a list with item 0 and counts it each time (run:
    0.7.3).
recommenders_uncut: ndcg_at_k(relevancy_method=None) cuts the ideal list but not the predictions, so that values exceed
    1 (run: 1.2.1).
xgboost_auc_weight_0: XGBoost's auc counts a query of weight 0 as 0 and keeps it in the divisor (run: 3.2.0).
sklearn_label_ranking_loss: scikit-learn's label_ranking_loss is 1 - AUC with ties='worst', empty=1 (run: 1.9.1).
    Workaround: 1 - the value of presets.sklearn.roc_auc_score(pool='queries').replace(ties='worst', empty=1,
    average='uniform').
correlation_constant_scores: scipy, pandas and polars return NaN for a query whose scores are all equal. A mean without
    NaN then covers different queries for each model (run: 1.17.1, 3.1.1, 2.1.0). Here only labels decide whether a
    query is left out. Workaround: constant=0, and multiply the value by queries scored / queries of different scores.
correlation_rounded_constants: Series.corr of pandas and corr of polars subtract rounded means. Pearson's correlation
    with a constant, such as 0.1, may therefore be a number near 0, which their means count (run: 3.1.1, 2.1.0). Here it
    is undefined.
xgboost_aucpr: aucpr interpolates the curve like Davis and Goadrich; we leave it out on purpose (run: 3.2.0).
trec_eval_infap: We leave out infAP, iprec_at_recall and set_map of trec_eval on purpose (run: 9.0.8, 10.0).
trec_eval_sums: We leave out on purpose num_rel_ret, utility, G, binG, Rndcg, ndcg_rel, Rprec_mult and 11pt_avg of
    trec_eval, and NumQ, NumRel, NumRet, infAP, IPrec, SetAP, Compat and Accuracy of ir_measures (run: 9.0.8, 0.4.3).
trec_eval_unj: unj of trec_eval 10 is the share of unjudged rows; we leave it out on purpose (run: 10.0).
trec_eval_rbp: rbp and rbp_resid of trec_eval 10 read bounds that are never set (run: 10.0). Workaround: RBP.
ranx_bpref: A query without rows judged irrelevant is NaN and makes later queries 0, so that the value depends on the
    number of threads (run: 0.3.21). Workaround: presets.pytrec_eval.bpref().
ranklib_rr_without_cutoff: RR without a cutoff uses the whole ranking in 2.1, which ignores cutoffs, and is always 0 in
    2.10.1 (run). Workaround: presets.ranklib.rr(None).
catboost_prauc: PRAUC is the area under the curve of precision and recall over all rows; we leave it out on purpose
    (run: 1.2.10). Workaround: AP with pool='rows', which does not interpolate.
lenskit_2026_no_gain: With gain='rating', LensKit from 2026.1 on leaves out users without test items, but users whose
    test items all gain 0 count 0 (read: v2026.3.0). One `empty` cannot express both. Workaround: drop the rows of users
    without test items, and use empty=0.
autogluon_map: map@k of AutoGluon multimodal multiplies the precision at each hit by the predicted score (run: 1.6.3).
rankeval_long_ties: RankEval uses numpy's default sort, so tied rows can have any order: in queries of more than 16 rows
    (run: 0.8.2), and on processors with AVX2 in shorter ones too.
ranx_long_ties: Queries of 16 rows or more are sorted by an unstable sort (run: 0.3.21).
ranklib_best: BEST@k is the largest gain at ranks 1..k; we leave it out on purpose (run: 2.1, 2.10.1).
torchmetrics_auroc: RetrievalAUROC only uses pairs among the top k, and a float32 sigmoid makes large scores tie (run:
    1.9.0).
ranklib_2011: Its selection sort moves tied documents in an order that depends on the documents between them (run: equal
    to ranklib without ties).
sklearn_ignore_ties: ndcg_score(ignore_ties=True) reverses an unstable argsort (run: 1.9.1).
catboost_nan_scores: CatBoost gives a query with a NaN score 1.0; we raise an error (run: 1.2.10).
labels_mended_in_silence: The Perl scripts silently give labels above their table gain 0, and their MAP treats such rows
    as irrelevant; we raise an error, except in MAP, where these rows are relevant. RankLib, trec_eval and ranx cut
    labels to whole numbers, and ignite counts labels between 0 and 1 as 0; we keep fractions and warn (run).
    Workaround: numpy.trunc(labels).
"""
REASONS = {
    name: " ".join(reason.split())
    for name, _, reason in (entry.partition(": ") for entry in re.split(r"\n(?!    )", _TEXT.strip()))
}


def inexpressible() -> dict[str, str]:
    """Return the reasons why some metrics of tools cannot be expressed; we never approximate them silently.

    >>> inexpressible()["catboost_nan_scores"]
    'CatBoost gives a query with a NaN score 1.0; we raise an error (run: 1.2.10).'
    """
    return dict(REASONS)
