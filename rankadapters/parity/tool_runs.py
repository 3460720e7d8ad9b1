"""What each tool itself computes for the golden queries: a function for each, whose keys are texts of presets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from statistics import fmean
from typing import Any, NamedTuple

from rankadapters.parity.golden import Golden
from rankadapters.parity.rows import FLOAT32, FULL_DOUBLE

Values = dict[str, float]
K = 5


class Run(NamedTuple):
    """How a tool is asked: the function, whether of graded labels and ties, and how far its numbers can be trusted."""

    ask: Callable[[Golden], Values]
    graded: bool = False
    tolerance: float = FULL_DOUBLE


def _qrels(golden: Golden) -> dict[str, dict[str, int]]:
    return {query.qid: dict(zip(query.docids, query.labels, strict=True)) for query in golden.by_query}


def _run(golden: Golden) -> dict[str, dict[str, float]]:
    return {query.qid: dict(zip(query.docids, query.scores, strict=True)) for query in golden.by_query}


def _frame(golden: Golden, names: tuple[str, str], values: Iterable[float], name: str, *, positive: bool) -> Any:
    """Return a pandas frame of queries, documents and values, of all rows or of those with a positive label."""
    rows = zip(golden.qid, golden.docid, values, golden.labels, strict=True)
    pandas = import_module("pandas")
    return pandas.DataFrame([row[:3] for row in rows if row[3] or not positive], columns=[*names, name])


def _ranx(golden: Golden) -> Values:
    ranx = import_module("ranx")
    names = ("ndcg", "map", "mrr", "precision", "recall", "hit_rate")
    values = ranx.evaluate(ranx.Qrels(_qrels(golden)), ranx.Run(_run(golden)), [f"{name}@{K}" for name in names])
    return {("ranx" if name == "ndcg" else f"ranx.{name}") + f"@{K}": float(values[f"{name}@{K}"]) for name in names}


def _ir_measures(golden: Golden) -> Values:
    tool = import_module("ir_measures")
    presets = {"": tool.nDCG @ K, ".ap": tool.AP @ K, ".p": tool.P @ K, ".r": tool.R @ K}
    values = tool.calc_aggregate(presets.values(), _qrels(golden), _run(golden))
    return {f"ir_measures{name}@{K}": values[measure] for name, measure in presets.items()}


def _pytrec_eval(golden: Golden) -> Values:
    names = {"": f"ndcg_cut_{K}", ".map_cut": f"map_cut_{K}", ".P": f"P_{K}", ".recall": f"recall_{K}"}
    evaluator = import_module("pytrec_eval").RelevanceEvaluator(_qrels(golden), set(names.values()))
    values = evaluator.evaluate(_run(golden)).values()
    return {f"pytrec_eval{preset}@{K}": fmean(value[name] for value in values) for preset, name in names.items()}


def _torchmetrics(golden: Golden) -> Values:
    torch, retrieval = import_module("torch"), import_module("torchmetrics.retrieval")
    queries = {qid: number for number, qid in enumerate(dict.fromkeys(golden.qid))}
    rows = (
        torch.tensor(golden.scores, dtype=torch.float32), torch.tensor(golden.labels.astype(int)),
        torch.tensor([queries[qid] for qid in golden.qid]),
    )  # fmt: skip
    names = {"": "NormalizedDCG", ".map": "MAP", ".mrr": "MRR", ".precision": "Precision", ".recall": "Recall"}
    return {
        f"torchmetrics{preset}@{K}": float(getattr(retrieval, f"Retrieval{name}")(top_k=K)(rows[0], rows[1], rows[2]))
        for preset, name in names.items()
    }


def _tensors(golden: Golden) -> list[tuple[Any, Any]]:
    """Return scores and labels of each query, as float32 tensors of one row."""
    torch = import_module("torch")
    return [(torch.tensor([query.scores]), torch.tensor([query.labels], dtype=torch.float32)) for query in golden.by_query]


def _allrank(golden: Golden) -> Values:
    ndcg = import_module("allrank.models.metrics").ndcg
    return {f"allrank_1_4_1@{K}": fmean(float(ndcg(*query, ats=[K])) for query in _tensors(golden))}


def _ignite(golden: Golden) -> Values:
    tool = import_module("ignite.metrics.rec_sys")
    metrics = {"": tool.NDCG(top_k=[K]), ".hit_rate": tool.HitRate(top_k=[1])}
    for query in _tensors(golden):
        for metric in metrics.values():
            metric.update(query)
    return {f"ignite{name}@{1 if name else K}": metric.compute()[0] for name, metric in metrics.items()}


def _metrax(golden: Golden) -> Values:
    tool, jnp = import_module("metrax"), import_module("jax.numpy")
    names = {
        "": "NDCGAtK", ".dcg": "DCGAtK", ".average_precision": "AveragePrecisionAtK", ".mrr": "MRR",
        ".precision": "PrecisionAtK", ".recall": "RecallAtK",
    }  # fmt: skip
    queries = [
        (jnp.array([query.scores]), jnp.array([query.labels]), jnp.array([K])) for query in golden.by_query
    ]  # fmt: skip
    return {
        f"metrax{preset}@{K}": fmean(
            float(getattr(tool, name).from_model_output(*query).compute()[0]) for query in queries
        )
        for preset, name in names.items()
    }


def _polars_ds(golden: Golden) -> Values:
    tool, polars = import_module("polars_ds"), import_module("polars")
    frame = polars.DataFrame({"qid": golden.qid, "label": golden.labels, "score": golden.scores})
    presets = {"": tool.query_ndcg_score, ".dcg": tool.query_dcg_score}
    return {
        f"polars_ds{preset}@{K}": frame.group_by("qid").agg(value=score("label", "score", k=K))["value"].mean()
        for preset, score in presets.items()
    }


def _haystack(golden: Golden) -> Values:
    tool, document = import_module("haystack.components.evaluators"), import_module("haystack").Document
    relevant = [
        [document(content=docid, score=float(label)) for docid, label in zip(query.docids, query.labels, strict=True) if label]
        for query in golden.by_query
    ]  # fmt: skip
    ranked = [[document(content=docid) for docid in query.ranked[:K]] for query in golden.by_query]
    evaluators = {
        "": tool.DocumentNDCGEvaluator(), ".map": tool.DocumentMAPEvaluator(), ".mrr": tool.DocumentMRREvaluator(),
        ".recall": tool.DocumentRecallEvaluator(mode="multi_hit"), ".hit": tool.DocumentRecallEvaluator(),
    }  # fmt: skip
    return {
        f"haystack{name}@{K}": evaluator.run(ground_truth_documents=relevant, retrieved_documents=ranked)["score"]
        for name, evaluator in evaluators.items()
    }


def _sentence_transformers(golden: Golden) -> Values:
    kind = import_module("sentence_transformers.evaluation").InformationRetrievalEvaluator
    names = {"": "ndcg", ".map": "map", ".mrr": "mrr", ".precision": "precision", ".recall": "recall", ".accuracy": "accuracy"}
    cuts = {f"{name}_at_k": [K] for name in ("ndcg", "map", "mrr", "precision_recall", "accuracy")}
    evaluator = kind(
        {query.qid: query.qid for query in golden.by_query}, {docid: docid for docid in golden.docid},
        {query.qid: set(query.relevant) for query in golden.by_query if query.relevant}, **cuts,
    )  # fmt: skip
    hits = {query.qid: zip(query.docids, query.scores, strict=True) for query in golden.by_query}
    values = evaluator.compute_metrics(
        [[{"corpus_id": docid, "score": score} for docid, score in hits[qid]] for qid in evaluator.queries_ids]
    )
    return {f"sentence_transformers{preset}@{K}": float(values[f"{name}@k"][K]) for preset, name in names.items()}


def _recommenders(golden: Golden) -> Values:
    tool = import_module("recommenders.evaluation.python_evaluation")
    names = ("userID", "itemID")
    truth = _frame(golden, names, golden.labels, "rating", positive=True)
    ranked = _frame(golden, names, golden.scores, "prediction", positive=False)
    return {f"recommenders@{K}": tool.ndcg_at_k(truth, ranked, k=K)}


def _replay(golden: Golden) -> Values:
    names = ("query_id", "item_id")
    truth = _frame(golden, names, golden.labels, "rating", positive=True)
    ranked = _frame(golden, names, golden.scores, "rating", positive=False)
    return {f"replay@{K}": import_module("replay.metrics").NDCG(topk=K)(ranked, truth)[f"NDCG@{K}"]}


def _rectools(golden: Golden) -> Values:
    tool, names = import_module("rectools.metrics"), ("user_id", "item_id")
    truth = _frame(golden, names, golden.labels, "weight", positive=True)
    ranked = _frame(golden, names, golden.scores, "score", positive=False)
    ranked["rank"] = ranked.groupby("user_id")["score"].rank(ascending=False).astype(int)
    metrics = {"": tool.NDCG(k=K), ".map": tool.MAP(k=K), ".mrr": tool.MRR(k=K), ".recall": tool.Recall(k=K)}
    return {f"rectools{name}@{K}": metric.calc(ranked, truth) for name, metric in metrics.items()}


def _cornac(golden: Golden) -> Values:
    numpy, ndcg = import_module("numpy"), import_module("cornac.metrics").NDCG(k=K)
    queries = [query for query in golden.by_query if query.relevant]
    return {f"cornac@{K}": fmean(ndcg.compute(numpy.array(q.relevant), numpy.array(q.ranked)) for q in queries)}


def _mlflow(golden: Golden) -> Values:
    pandas, mlflow = import_module("pandas"), import_module("mlflow")
    ranked, relevant = ([getattr(query, name) for query in golden.by_query] for name in ("ranked", "relevant"))
    value = mlflow.metrics.ndcg_at_k(K).eval_fn(pandas.Series(ranked), pandas.Series(relevant))
    return {f"mlflow@{K}": value.aggregate_results["mean"]}


def _lenskit(golden: Golden, *, preset: str) -> Values:
    data, metrics = import_module("lenskit.data"), import_module("lenskit.metrics")
    ranked, truth = data.ItemListCollection(["user_id"]), data.ItemListCollection(["user_id"])
    for query in golden.by_query:
        ranked.add(data.ItemList(query.ranked, ordered=True), user_id=query.qid)
        truth.add(data.ItemList(query.relevant), user_id=query.qid)
    run = metrics.RunAnalysis(metrics.NDCG(K))
    return {f"{preset}@{K}": float(run.measure(ranked, truth).list_summary().loc[f"NDCG@{K}", "mean"])}


def _autogluon(golden: Golden) -> Values:
    kind = import_module("autogluon.multimodal.optim.metrics.ranking_metrics").RankingMetrics
    relevant = {query.qid for query in golden.by_query if query.relevant}
    run, qrels = ({qid: rows for qid, rows in side(golden).items() if qid in relevant} for side in (_run, _qrels))
    values = kind(run, qrels).compute(k=K)
    presets = {"": "ndcg", ".mrr": "mrr", ".precision": "precision", ".recall": "recall"}
    return {f"autogluon{preset}@{K}+empty=skip": float(values[f"{name}@{K}"]) for preset, name in presets.items()}


RUNS: dict[str, Run] = {
    "ranx": Run(_ranx),
    "ir_measures": Run(_ir_measures),
    "pytrec_eval": Run(_pytrec_eval, graded=True),
    "torchmetrics": Run(_torchmetrics, tolerance=FLOAT32),
    "allrank_1_4_1": Run(_allrank, graded=True, tolerance=FLOAT32),
    "ignite": Run(_ignite, graded=True, tolerance=FLOAT32),
    "metrax": Run(_metrax, tolerance=FLOAT32),
    "polars_ds": Run(_polars_ds, graded=True),
    "haystack": Run(_haystack, graded=True),
    "sentence_transformers": Run(_sentence_transformers),
    "recommenders": Run(_recommenders),
    "replay": Run(_replay),
    "rectools": Run(_rectools),
    "cornac": Run(_cornac),
    "mlflow": Run(_mlflow),
    "lenskit": Run(partial(_lenskit, preset="lenskit")),
    "lenskit_2026": Run(partial(_lenskit, preset="lenskit_2026")),
    "autogluon": Run(_autogluon),
}
