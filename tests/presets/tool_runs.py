"""Small queries that every tool can rank, whole and incomplete, and one function per tool that evaluates them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module as load
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

import rankadapters as ra
from rankadapters.core.arrays import Flags, Floats
from rankadapters.core.classes import lazy_property
from rankadapters.core.data.queries import Queries
from rankadapters.datasets import mq2008_like
from rankadapters.parity.report import FLOAT32, FULL_DOUBLE, agree, relative

FEATURE = 3  # column used as the scores; many of its values are tied
MAX_ROWS = 15  # rows per query; some tools sort longer queries with an unstable sort
OUTSIDE = {"outside": {"d9999": 1.0}}  # a query of the run without judgments


@dataclass(frozen=True)
class Golden:
    """The rows of the golden queries: either with graded labels and tied scores, or with binary labels and no ties.

    Where `judged` and `retrieved` are not True for every row, the judgments lack rows of the run and the other way
    round, and the run has a query without judgments.
    """

    labels: Floats
    scores: Floats
    qid: list[str]
    docid: list[str]
    judged: Flags
    retrieved: Flags

    @property
    def is_whole(self) -> bool:
        """Whether every row is judged and retrieved."""
        return bool((self.judged & self.retrieved).all())

    @lazy_property
    def queries(self) -> Queries:
        """The rows as queries with document ids."""
        judged, retrieved = (None, None) if self.is_whole else (self.judged, self.retrieved)
        return Queries(self.labels, qid=self.qid, docid=self.docid, judged=judged, retrieved=retrieved)

    def by_query(self, values: Floats, included: Flags) -> dict[str, dict[str, float]]:
        """Return the values of a column in the included rows as `{query: {document: value}}`."""
        table: dict[str, dict[str, float]] = {}
        for row in np.flatnonzero(included).tolist():
            table.setdefault(self.qid[row], {})[self.docid[row]] = float(values[row])
        return table

    @lazy_property
    def run(self) -> dict[str, dict[str, float]]:
        """The scores of the retrieved rows as `{query: {document: score}}`."""
        return self.by_query(self.scores, self.retrieved) | ({} if self.is_whole else OUTSIDE)

    @lazy_property
    def qrels(self) -> dict[str, dict[str, int]]:
        """The labels of the judged rows as `{query: {document: label}}`."""
        labels = self.by_query(self.labels, self.judged)
        return {qid: {docid: int(label) for docid, label in rows.items()} for qid, rows in labels.items()}

    @lazy_property
    def ranked(self) -> dict[str, list[str]]:
        """The documents of each query by descending score; ties keep their order."""
        return {qid: sorted(rows, key=rows.__getitem__, reverse=True) for qid, rows in self.run.items()}

    @lazy_property
    def relevant(self) -> dict[str, list[str]]:
        """The documents of each judged query with a label above 0."""
        return {qid: [docid for docid, label in rows.items() if label > 0] for qid, rows in self.qrels.items()}


@cache
def golden(*, graded: bool) -> Golden:
    """Return the rows of the golden queries, which are the same in every process."""
    _, data = mq2008_like(random_state=0, n_train_queries=1, n_test_queries=40)
    rows = np.flatnonzero(np.repeat(data.group_sizes, data.group_sizes) <= MAX_ROWS)
    labels, scores = data.labels[rows], data.X[rows, FEATURE]
    if not graded:
        labels, scores = np.minimum(labels, 1), 1.0 + np.argsort(np.argsort(scores, kind="stable"))
    every = np.ones(rows.size, np.bool_)
    qid, docid = [f"q{q}" for q in data.qid[rows]], [f"d{row:04}" for row in range(rows.size)]
    return Golden(labels, scores, qid, docid, judged=every, retrieved=every)


@cache
def incomplete(*, graded: bool, negative: bool) -> Golden:
    """Return the golden queries without some results and some judgments.

    Of the queries with a relevant row, the first has no results, and all results of the second are unjudged. In every
    other query one row in four is not retrieved and one in four is not judged. If a query has several relevant rows,
    the last of them is not retrieved. If `negative`, the first row of a query has a label below 0 unless it is
    relevant.
    """
    whole = golden(graded=graded)
    queries = whole.queries
    in_query = np.arange(queries.n_docs) - queries.indptr[queries.query_of_row]
    with_relevant, n_relevant = np.unique(queries.query_of_row[whole.labels > 0], return_counts=True)
    unanswered, unknown = (queries.query_of_row == number for number in with_relevant[:2])
    relevant_rows = np.flatnonzero(whole.labels > 0)
    last_relevant = relevant_rows[np.cumsum(n_relevant) - 1][n_relevant > 1]
    retrieved = ~unanswered & np.where(unknown, in_query < unknown.sum() // 2, in_query % 4 != 1)
    retrieved[last_relevant] = False
    judged = ~retrieved | unanswered | (~unknown & (in_query % 4 != 2))
    labels = whole.labels.copy()
    if negative:
        labels[(labels == 0) & judged & (in_query == 0)] = -1.0
    return replace(
        whole, labels=labels, scores=np.where(retrieved, whole.scores, np.nan), judged=judged, retrieved=retrieved
    )


Values = dict[str, float]
K = 5
GRADED = ("ndcg", "dcg")  # under other measures, some toolkits accept only the labels 0 and 1


class Run(NamedTuple):
    """How a tool evaluates the golden queries."""

    ask: Callable[[Golden], Values]  # returns the tool's values
    graded: bool = False  # whether the tool accepts graded labels and ties
    tolerance: float = FULL_DOUBLE
    incomplete: bool = False  # whether it knows runs and judgments, so that it also evaluates the incomplete queries
    negative: bool = False  # whether its judgments may have labels below 0


def _values(tool: str, names: Mapping[str, str], value: Callable[[str], Any]) -> Values:
    """Return the tool's value for each preset; `names` maps methods of presets, empty for NDCG, to the tool's names."""
    return {f"{tool}.{method}@{K}".replace(".@", "@"): float(value(name)) for method, name in names.items()}


def _frame(rows: Mapping[str, Mapping[str, float]], names: str, *, positive: bool) -> Any:
    """Return a pandas DataFrame of queries, documents and values; only positive values if `positive`."""
    cells = [(q, d, value) for q, row in rows.items() for d, value in row.items() if value > 0 or not positive]
    return load("pandas").DataFrame(cells, columns=names.split())


def _ranx(golden: Golden) -> Values:
    tool, names = load("ranx"), ("ndcg", "map", "mrr", "precision", "recall", "hit_rate")
    metrics = [f"{name}@{K}" for name in names]
    values = tool.evaluate(tool.Qrels(golden.qrels), tool.Run(golden.run), metrics, make_comparable=True)
    return _values("ranx", {"" if name == "ndcg" else name: name for name in names}, lambda n: values[f"{n}@{K}"])


def _ir_measures(golden: Golden) -> Values:
    tool = load("ir_measures")
    names = {"": f"nDCG@{K}", "ap": f"AP@{K}", "p": f"P@{K}", "r": f"R@{K}", "rr_cut": f"RR@{K}"}
    further = {"bpref": "Bpref", "rr+unjudged=drop-negative": "RR(judged_only=True)"}
    measures = map(tool.parse_measure, [*names.values(), *further.values()])
    values = tool.calc_aggregate(measures, golden.qrels, golden.run)
    uncut = {f"ir_measures.{method}": values[tool.parse_measure(name)] for method, name in further.items()}
    return _values("ir_measures", names, lambda name: values[tool.parse_measure(name)]) | uncut


def _pytrec_eval(golden: Golden) -> Values:
    names = {"": f"ndcg_cut_{K}", "map_cut": f"map_cut_{K}", "P": f"P_{K}", "recall": f"recall_{K}"}
    kind, measures = load("pytrec_eval").RelevanceEvaluator, {*names.values(), "bpref"}
    rows = kind(golden.qrels, measures).evaluate(golden.run).values()
    judged_rows = kind(golden.qrels, {"map"}, judged_docs_only_flag=True).evaluate(golden.run).values()
    return _values("pytrec_eval", names, lambda name: fmean(row[name] for row in rows)) | {
        "pytrec_eval.bpref": fmean(row["bpref"] for row in rows),
        "pytrec_eval.map+unjudged=drop-negative": fmean(row["map"] for row in judged_rows),
    }


def _torchmetrics(golden: Golden) -> Values:
    torch, tool = load("torch"), load("torchmetrics.retrieval")
    numbers = {qid: number for number, qid in enumerate(golden.qrels)}
    scores, labels = torch.tensor(golden.scores, dtype=torch.float32), torch.tensor(golden.labels.astype(int))
    indexes = torch.tensor([numbers[qid] for qid in golden.qid])
    names = {"": "NormalizedDCG", "map": "MAP", "mrr": "MRR", "precision": "Precision", "recall": "Recall"}
    ask = lambda name: getattr(tool, f"Retrieval{name}")(top_k=K)(scores, labels, indexes)  # noqa: E731 - short
    return _values("torchmetrics", names, ask)


def _rows(golden: Golden, array: Callable[[Any], Any]) -> list[tuple[Any, Any]]:
    """Return each query's scores and labels as two arrays of shape (1, n_docs)."""
    pairs = zip(golden.run.values(), golden.qrels.values(), strict=True)
    return [(array([list(run.values())]), array([[float(x) for x in qrels.values()]])) for run, qrels in pairs]


def _allrank(golden: Golden) -> Values:
    ndcg, queries = load("allrank.models.metrics").ndcg, _rows(golden, load("torch").tensor)
    return {f"allrank_1_4_1@{K}": fmean(float(ndcg(*query, ats=[K])) for query in queries)}


def _ignite(golden: Golden) -> Values:
    tool = load("ignite.metrics.rec_sys")
    ndcg, first = tool.NDCG(top_k=[K]), tool.HitRate(top_k=[1])  # every query needs at least top_k rows
    for query in _rows(golden, load("torch").tensor):
        ndcg.update(query)
        first.update(query)
    return {f"ignite@{K}": ndcg.compute()[0], "ignite.hit_rate@1": first.compute()[0]}


def _metrax(golden: Golden) -> Values:
    tool, array = load("metrax"), load("jax.numpy").array
    queries = _rows(golden, array)
    names = {
        "": "NDCGAtK", "dcg": "DCGAtK", "average_precision": "AveragePrecisionAtK", "mrr": "MRR",
        "precision": "PrecisionAtK", "recall": "RecallAtK",
    }  # fmt: skip

    def mean(name: str) -> float:
        results = (getattr(tool, name).from_model_output(*query, array([K])) for query in queries)
        return fmean(float(result.compute()[0]) for result in results)

    return _values("metrax", names, mean)


def _polars_ds(golden: Golden) -> Values:
    tool = load("polars_ds")
    rows = load("polars").DataFrame({"qid": golden.qid, "label": golden.labels, "score": golden.scores}).group_by("qid")
    names = {"": "query_ndcg_score", "dcg": "query_dcg_score"}
    ask = lambda name: rows.agg(value=getattr(tool, name)("label", "score", k=K))["value"].mean()  # noqa: E731 - short
    return _values("polars_ds", names, ask)


def _haystack(golden: Golden) -> Values:
    tool, document = load("haystack.components.evaluators"), load("haystack").Document
    relevant = [
        [document(content=docid, score=float(rows[docid])) for docid in golden.relevant[qid]]
        for qid, rows in golden.qrels.items()
    ]
    ranked = [[document(content=docid) for docid in golden.ranked.get(qid, [])[:K]] for qid in golden.qrels]
    evaluators = {
        "": tool.DocumentNDCGEvaluator(), "map": tool.DocumentMAPEvaluator(), "mrr": tool.DocumentMRREvaluator(),
        "recall": tool.DocumentRecallEvaluator(mode="multi_hit"), "hit": tool.DocumentRecallEvaluator(),
    }  # fmt: skip
    ask = lambda name: evaluators[name].run(ground_truth_documents=relevant, retrieved_documents=ranked)["score"]  # noqa: E731 - short
    return _values("haystack", {name: name for name in evaluators}, ask)


def _sentence_transformers(golden: Golden) -> Values:
    kind = load("sentence_transformers.evaluation").InformationRetrievalEvaluator
    cuts = {f"{name}_at_k": [K] for name in ("ndcg", "map", "mrr", "precision_recall", "accuracy")}
    relevant = {qid: set(docids) for qid, docids in golden.relevant.items() if docids}
    evaluator = kind({qid: qid for qid in golden.qrels}, {docid: docid for docid in golden.docid}, relevant, **cuts)
    runs = [golden.run.get(qid, {}) for qid in evaluator.queries_ids]
    hits = [[{"corpus_id": docid, "score": score} for docid, score in run.items()] for run in runs]
    values = evaluator.compute_metrics(hits)
    names = {"": "ndcg", **{name: name for name in ("map", "mrr", "precision", "recall", "accuracy")}}
    return _values("sentence_transformers", names, lambda name: values[f"{name}@k"][K])


def _recommenders(golden: Golden) -> Values:
    truth = _frame(golden.qrels, "userID itemID rating", positive=True)
    ranked = _frame(golden.run, "userID itemID prediction", positive=False)
    tool = load("recommenders.evaluation.python_evaluation")
    names = ("map", "map_at_k", "precision_at_k", "recall_at_k")
    ask = lambda name: getattr(tool, name)(truth, ranked, k=K)  # noqa: E731 - short
    return _values("recommenders", {"": "ndcg_at_k", **{name: name for name in names}}, ask)


def _pyg(golden: Golden) -> Values:
    torch, tool = load("torch"), load("torch_geometric.metrics")
    number = {docid: position for position, docid in enumerate(golden.docid)}
    padding = [len(number)] * K
    ranked = [([number[d] for d in golden.ranked.get(q, [])] + padding)[:K] for q in golden.qrels]
    edges = [(row, number[d]) for row, docids in enumerate(golden.relevant.values()) for d in docids]
    names = {
        "": "NDCG", "map": "MAP", "mrr": "MRR", "precision": "Precision", "recall": "Recall", "f1": "F1",
        "hit_ratio": "HitRatio",
    }  # fmt: skip

    def value(name: str) -> Any:
        metric = getattr(tool, f"LinkPred{name}")(K)
        metric.update(torch.tensor(ranked), torch.tensor(edges).T)
        return metric.compute()

    return _values("pyg", names, value)


def _trectools(golden: Golden) -> Values:
    tool, frame = load("trectools"), load("pandas").DataFrame
    run, qrels = tool.TrecRun(), tool.TrecQrel()
    rows = [(q, "Q0", d, 0, scores[d], "run") for q, scores in golden.run.items() for d in sorted(scores)]
    run.run_data = frame(rows, columns=["query", "q0", "docid", "rank", "score", "system"])
    run.run_data = run.run_data.sort_values(["query", "score", "docid"], ascending=[True, False, True])
    judged = [(q, "0", d, label) for q, labels in golden.qrels.items() for d, label in labels.items()]
    qrels.qrels_data = frame(judged, columns=["query", "q0", "docid", "rel"])
    metrics, n_outside = tool.TrecEval(run, qrels), len(golden.run.keys() - golden.qrels)
    names = {"": "ndcg", **{name: name for name in ("map", "reciprocal_rank", "precision", "recall", "rbp")}}

    def value(name: str) -> float:
        found = getattr(metrics, f"get_{name}")(depth=K)
        # It also counts the queries without judgments, which our golden queries lack.
        return (found[0] if name == "rbp" else found) * len(golden.run) / (len(golden.run) - n_outside)

    return _values("trectools", names, value)


def _replay(golden: Golden) -> Values:
    names = "query_id item_id rating"
    truth, ranked = _frame(golden.qrels, names, positive=True), _frame(golden.run, names, positive=False)
    return {f"replay@{K}": load("replay.metrics").NDCG(topk=K)(ranked, truth)[f"NDCG@{K}"]}


def _rectools(golden: Golden) -> Values:
    tool, truth = load("rectools.metrics"), _frame(golden.qrels, "user_id item_id weight", positive=True)
    ranked = _frame(golden.run, "user_id item_id score", positive=False)
    ranked["rank"] = ranked.groupby("user_id")["score"].rank(ascending=False).astype(int)
    names = {"": "NDCG", "map": "MAP", "mrr": "MRR", "recall": "Recall"}
    return _values("rectools", names, lambda name: getattr(tool, name)(k=K).calc(ranked, truth))


def _cornac(golden: Golden) -> Values:
    array, ndcg = load("numpy").array, load("cornac.metrics").NDCG(k=K)
    queries = [(array(docids), array(golden.ranked.get(qid, []))) for qid, docids in golden.relevant.items() if docids]
    return {f"cornac@{K}": fmean(ndcg.compute(*query) for query in queries)}


def _mlflow(golden: Golden) -> Values:
    series, relevant = load("pandas").Series, golden.relevant
    ranked, relevant = series([golden.ranked.get(qid, []) for qid in relevant]), series(list(relevant.values()))
    return {f"mlflow@{K}": load("mlflow").metrics.ndcg_at_k(K).eval_fn(ranked, relevant).aggregate_results["mean"]}


def _lenskit(golden: Golden, *, preset: str) -> Values:
    data, metrics = load("lenskit.data"), load("lenskit.metrics")
    ranked, truth = data.ItemListCollection(["user_id"]), data.ItemListCollection(["user_id"])
    for qid, docids in golden.relevant.items():
        if qid in golden.ranked:
            ranked.add(data.ItemList(golden.ranked[qid], ordered=True), user_id=qid)
        truth.add(data.ItemList(docids), user_id=qid)
    values = metrics.RunAnalysis(metrics.NDCG(K)).measure(ranked, truth).list_summary()
    return {f"{preset}@{K}": float(values.loc[f"NDCG@{K}", "mean"])}


def _autogluon(golden: Golden) -> Values:
    kind = load("autogluon.multimodal.optim.metrics.ranking_metrics").RankingMetrics
    relevant = [qid for qid, docids in golden.relevant.items() if docids]
    values = kind({qid: golden.run[qid] for qid in relevant}, {qid: golden.qrels[qid] for qid in relevant}).compute(k=K)
    names = {"": "ndcg", "mrr": "mrr", "precision": "precision", "recall": "recall"}
    by_preset = _values("autogluon", names, lambda name: values[f"{name}@{K}"])
    return {f"{preset}+empty=skip": value for preset, value in by_preset.items()}


def _scipy(golden: Golden) -> Values:
    tool, names = load("scipy.stats"), ("spearmanr", "kendalltau", "pearsonr")
    return {f"scipy.{name}+pool=rows": getattr(tool, name)(golden.labels, golden.scores).statistic for name in names}


def _pandas(golden: Golden) -> Values:
    rows = load("pandas").DataFrame({"qid": golden.qid, "label": golden.labels, "score": golden.scores}).groupby("qid")
    correlations = {name: rows[["label", "score"]].corr(method=name) for name in ("pearson", "spearman", "kendall")}
    return {f"pandas.{name}": float(table.xs("label", level=1)["score"].mean()) for name, table in correlations.items()}


def _polars(golden: Golden) -> Values:
    tool = load("polars")
    rows, names = tool.DataFrame({"label": golden.labels, "score": golden.scores}), ("pearson", "spearman")
    return {f"polars.{name}+pool=rows": rows.select(tool.corr("label", "score", method=name)).item() for name in names}


RUNS: dict[str, Run] = {
    "scipy": Run(_scipy, graded=True),
    "pandas": Run(_pandas, graded=True),
    "polars": Run(_polars, graded=True),
    "ranx": Run(_ranx, incomplete=True, negative=True),
    "ir_measures": Run(_ir_measures, incomplete=True, negative=True),
    "pytrec_eval": Run(_pytrec_eval, graded=True, incomplete=True, negative=True),
    "torchmetrics": Run(_torchmetrics, tolerance=FLOAT32),
    "allrank_1_4_1": Run(_allrank, graded=True, tolerance=FLOAT32),
    "ignite": Run(_ignite, graded=True, tolerance=FLOAT32),
    "metrax": Run(_metrax, tolerance=FLOAT32),
    "polars_ds": Run(_polars_ds, graded=True),
    "haystack": Run(_haystack, graded=True, incomplete=True),
    "sentence_transformers": Run(_sentence_transformers, incomplete=True),
    "recommenders": Run(_recommenders, incomplete=True),
    "pyg": Run(_pyg, tolerance=FLOAT32, incomplete=True),
    "trectools": Run(_trectools, incomplete=True),
    "replay": Run(_replay, incomplete=True),
    "rectools": Run(_rectools, incomplete=True),
    "cornac": Run(_cornac, incomplete=True),
    "mlflow": Run(_mlflow, incomplete=True),
    "lenskit_2025": Run(partial(_lenskit, preset="lenskit_2025"), incomplete=True),
    "lenskit_2026": Run(partial(_lenskit, preset="lenskit_2026"), incomplete=True),
    "autogluon": Run(_autogluon),
}


class ToolNumber(NamedTuple):
    preset: str
    tool_value: float
    our_value: float
    equal: bool


def tool_numbers(name: str) -> list[ToolNumber]:
    if name not in RUNS:
        return _toolkit_numbers(name)
    run, numbers = RUNS[name], []
    data = [golden(graded=run.graded)]
    if run.incomplete:
        data.append(incomplete(graded=run.graded, negative=run.negative))
    for rows in data:
        where = "" if rows.is_whole else " of incomplete queries"
        for preset, tool_value in run.ask(rows).items():
            our_value = ra.evaluate(rows.queries, rows.scores, preset).value
            equal = bool(agree([our_value], tool_value, relative(run.tolerance, tool_value))[0])
            numbers.append(ToolNumber(f"{preset}{where}", tool_value, our_value, equal))
    return numbers


def _toolkit_numbers(name: str) -> list[ToolNumber]:
    """Cross-check each preset of a toolkit; skip presets for which the toolkit has no number."""
    numbers, tool = [], ra.presets.TOOLS[name]
    for method, declared in tool.presets.items():
        k = {"k": K} if declared.takes_k else {}
        pairs = {"pairs": "label"} if "pairs" in declared.options else {}  # golden queries have no pairs
        convention = getattr(tool, method)(**k, **pairs)
        rows = golden(graded=convention.measure in GRADED)
        numbers += [
            ToolNumber(convention.short_name, row.value, row.our_value, row.verdict != "different")
            for row in ra.parity.crosscheck(rows.queries, rows.scores, convention, toolkits=name).rows
            if row.value is not None and row.our_value is not None
        ]
    return numbers
