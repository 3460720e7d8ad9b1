"""What no convention reproduces, with the reason and, where there is one, the way around."""

from __future__ import annotations

REASONS = {
    "spark_relevance": (
        "From Scala, RankingMetrics.ndcgAt with relevance values takes the ideal list in the order given, not by "
        "gain (run: 4.3.0). The way around: give it the ground truth by descending relevance; then, and of sets of "
        "relevant ids, it is presets.spark."
    ),
    "tensorflow_ranking": (
        "Ties are shuffled at random, and weights of documents count as document_weights says, a list then weighing "
        "sum(w g) / sum(g) (read: its source). The way around: without weights and ties it is presets.ranklib, with "
        "weights that of document_weights and query_weight=sum(w g) / sum(g)."
    ),
    "document_weights": (
        "In TensorFlow Ranking, Keras-RS and Rax the weight w of a document multiplies its gain g in DCG and in the "
        "ideal list, while our row weights weigh rows of pairs, precisions and losses (read: their source). The way "
        "around: labels w x g under gain='linear'."
    ),
    "rectools_map_by_k": "MAP(divide_by_k=True) divides by k where a query has fewer relevant items (run: 0.19.0).",
    "elasticsearch_empty_requests": (
        "A request with neither hits nor rated documents counts 0 in every mean (read: its source), but has no row "
        "here. The way around: multiply the value by the share of the other requests."
    ),
    "elasticsearch_ignore_unlabeled": (
        "ignore_unlabeled of precision leaves unrated hits out after the cut at k, so that fewer ranks count (read: "
        "its source)."
    ),
    "ratio_of_sums": (
        "The sum of all DCGs by the sum of all ideal DCGs, which users compute by hand (read: xgboost#3875), is the "
        "mean weighted by ideal DCGs. The way around: query_weight=ideal DCGs, which are ra.Evaluator(labels, a DCG, "
        "...).per_query(labels), and average='query'."
    ),
    "duplicate_documents": (
        "A document that one query retrieved twice counts at each of its ranks in many programs, so that NDCG may "
        "exceed 1 (read: haystack#11959, trulens#2746, llama_index#22683), while a row here is one document. The way "
        "around: give further ranks of a document as rows without judgment under unjudged=<its label>, which the "
        "ideal list does not hold."
    ),
    "implicit_padded": (
        "With K above the number of items implicit pads a list with item 0, which counts each time (run: 0.7.3)."
    ),
    "recommenders_uncut": (
        "ndcg_at_k(relevancy_method=None) cuts the ideal list but not the predictions, so that values pass 1 (run: "
        "1.2.1)."
    ),
    "xgboost_auc_weight_0": "A query of weight 0 stays in the divisor of XGBoost's auc, and counts 0 (run: 3.2.0).",
    "sklearn_label_ranking_loss": (
        "scikit-learn's label_ranking_loss is 1 - AUC with ties='worst', empty=1 (run: 1.9.1). The way around: 1 - the "
        "value of presets.sklearn.roc_auc_score(pool='queries').replace(ties='worst', empty=1, average='uniform')."
    ),
    "correlation_constant_scores": (
        "scipy, pandas and polars give NaN for a query whose scores are all equal, and a mean that leaves NaN out goes "
        "over other queries for each model (run: 1.17.1, 3.1.1, 2.1.0). Here a query is left out for its labels alone. "
        "The way around: constant=0, and multiply the value by queries scored / queries of different scores."
    ),
    "correlation_rounded_constants": (
        "Series.corr of pandas and corr of polars subtract rounded means, so that Pearson's correlation with a "
        "constant such as 0.1 may be a number near 0 that their means count (run: 3.1.1, 2.1.0). Here it is undefined."
    ),
    "xgboost_aucpr": "aucpr interpolates the curve as Davis and Goadrich do, and is not wanted (run: 3.2.0).",
    "trec_eval_infap": "infAP, iprec_at_recall and set_map of trec_eval are not wanted (run: 9.0.8, 10.0).",
    "trec_eval_sums": (
        "num_rel_ret, utility, G, binG, Rndcg, ndcg_rel, Rprec_mult, 11pt_avg of trec_eval are not wanted, nor are "
        "NumQ, NumRel, NumRet, infAP, IPrec, SetAP, Compat and Accuracy of ir_measures (run: 9.0.8, 0.4.3)."
    ),
    "trec_eval_unj": "unj of trec_eval 10 is the share of unjudged rows, and not wanted (run: 10.0).",
    "trec_eval_rbp": (
        "rbp and rbp_resid of trec_eval 10 read bounds that are never set (run: 10.0). The way around: RBP."
    ),
    "ranx_bpref": (
        "A query without rows judged irrelevant gives NaN and makes later ones 0, so that the value depends on the "
        "number of threads (run: 0.3.21). The way around: presets.pytrec_eval.bpref()."
    ),
    "ranklib_rr_without_cutoff": (
        "RR without a cutoff is the whole ranking's in 2.1, which ignores cutoffs, and always 0 in 2.10.1 (run). The "
        "way around: presets.ranklib.rr(None)."
    ),
    "catboost_prauc": (
        "PRAUC is the area under the curve of precision and recall over all rows, and not wanted (run: 1.2.10). The "
        "way around: AP with pool='rows', which interpolates nothing."
    ),
    "lenskit_2026_no_gain": (
        "With gain='rating' LensKit from 2026.1 on leaves out users without test items and counts users 0 whose test "
        "items all gain 0 (read: v2026.3.0). One `empty` says one of the two. The way around: drop the rows of users "
        "without test items, and empty=0."
    ),
    "autogluon_map": (
        "map@k of AutoGluon multimodal multiplies the precision at each hit by the predicted score (run: 1.6.3)."
    ),
    "rankeval_long_ties": (
        "Queries of more than 16 rows are sorted by an order that is not stable, so that tied rows there can have any "
        "order (run: 0.8.2)."
    ),
    "ranx_long_ties": "Queries of 16 rows or more are sorted by an order that is not stable (run: 0.3.21).",
    "ranklib_best": "BEST@k is the largest gain at ranks 1..k, and not wanted (run: 2.1, 2.10.1).",
    "torchmetrics_auroc": "RetrievalAUROC takes pairs among the top k and squashes scores in float32 (run: 1.9.0).",
    "ranklib_2011": (
        "Its selection sort moves tied documents in an order that depends on the documents between them "
        "(run: equal to ranklib without ties)."
    ),
    "torchmetrics_negative_labels": (
        "A query whose ideal DCG is negative is divided by it all the same (run: 1.9.0, RetrievalNormalizedDCG)."
    ),
    "sklearn_ignore_ties": "ndcg_score(ignore_ties=True) reverses an unstable argsort (run: 1.9.1).",
    "catboost_nan_scores": "CatBoost gives a query with a NaN score 1.0, where we raise (run: 1.2.10).",
    "labels_mended_in_silence": (
        "The Perl scripts give labels above their table gain 0, and to their MAP such rows are irrelevant; we raise, "
        "but for MAP, where they are relevant. RankLib casts labels to int; we keep fractions and warn (run)."
    ),
}


def inexpressible() -> dict[str, str]:
    """Name what no convention reproduces, with the reason: nothing is approximated in silence.

    >>> inexpressible()["catboost_nan_scores"]
    'CatBoost gives a query with a NaN score 1.0, where we raise (run: 1.2.10).'
    """
    return dict(REASONS)
