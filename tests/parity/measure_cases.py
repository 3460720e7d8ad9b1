"""Generated data and conventions of measures other than NDCG, for each toolkit that computes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np

import rankadapters as ra
from rankadapters import presets
from rankadapters.core.declaration.fields import Words
from rankadapters.statistics.grid import grid

CUTOFFS = (1, 3, 5, 10, None)
BORDERS = (0.5, 0, 0.1, 1, 2)
ANY, BINARY, UNIT, ONE_CLASS = "any", "binary", "unit", "one class"  # labels that a metric takes


class Asked(NamedTuple):
    """A metric of a toolkit: its conventions by cutoff and draw, and the labels that it takes."""

    make: Callable[[int | None, np.random.Generator], ra.Convention]
    labels: str = BINARY


def _pick(rng: np.random.Generator, *values: object) -> object:
    return values[int(rng.integers(len(values)))]


def _weights(rng: np.random.Generator) -> str | None:
    return _pick(rng, None, "row", "query")


def _use(rng: np.random.Generator) -> bool:
    return bool(rng.integers(2))


sk, lg, xg, cb = presets.sklearn, presets.lightgbm, presets.xgboost, presets.catboost
ASKED: dict[str, dict[str, Asked]] = {
    "sklearn": {
        "average_precision_score": Asked(lambda k, r: sk.average_precision_score(pool=_pick(r, "rows", "queries"))),
        "roc_auc_score": Asked(lambda k, r: sk.roc_auc_score()),
        "label_ranking_average_precision_score": Asked(lambda k, r: sk.label_ranking_average_precision_score()),
        "coverage_error": Asked(lambda k, r: sk.coverage_error()),
        "dcg_score": Asked(lambda k, r: sk.dcg(k, log_base=_pick(r, 2, 10, 1.5)), ANY),
        "top_k_accuracy_score": Asked(lambda k, r: sk.top_k_accuracy_score(k), ONE_CLASS),
    },
    "lightgbm": {
        "map": Asked(lambda k, r: lg.map(k), ANY),
        "auc": Asked(lambda k, r: lg.auc(), ANY),
        "average_precision": Asked(lambda k, r: lg.average_precision(), ANY),
    },
    "xgboost": {
        "map": Asked(lambda k, r: xg.map(k, minus=_use(r))),
        "pre": Asked(lambda k, r: xg.pre(k)),
        "auc": Asked(lambda k, r: xg.auc(groups=True), ANY),
        "auc without groups": Asked(lambda k, r: xg.auc(groups=False), UNIT),
    },
    "catboost": {
        "PFound": Asked(lambda k, r: cb.pfound(k, decay=_pick(r, 0.85, 0.5, 1), use_weights=_use(r)), UNIT),
        "ERR": Asked(lambda k, r: cb.err(k, use_weights=_use(r)), UNIT),
        "MRR": Asked(lambda k, r: cb.mrr(k, border=_pick(r, *BORDERS), use_weights=_use(r)), ANY),
        "MAP": Asked(lambda k, r: cb.map(k, border=_pick(r, *BORDERS)), ANY),
        "PrecisionAt": Asked(lambda k, r: cb.precision_at(k, border=_pick(r, *BORDERS)), ANY),
        "RecallAt": Asked(lambda k, r: cb.recall_at(k, border=_pick(r, *BORDERS)), ANY),
        "AverageGain": Asked(lambda k, r: cb.average_gain(k, use_weights=_use(r)), ANY),
        "DCG": Asked(lambda k, r: cb.dcg(k, type=_pick(r, "Base", "Exp"), use_weights=_use(r)), ANY),
        "FilteredDCG": Asked(
            lambda k, r: cb.filtered_dcg(
                type=_pick(r, "Base", "Exp"), sort=_pick(r, "None", "ByPrediction", "ByTarget"),
            ), ANY
        ),
        "AUC": Asked(lambda k, r: cb.auc(type="Classic", weights=_weights(r)), UNIT),
        "AUC:type=Ranking": Asked(lambda k, r: cb.auc(type="Ranking", weights=_weights(r)), ANY),
        "QueryAUC": Asked(lambda k, r: cb.query_auc(type="Classic", weights=_weights(r)), UNIT),
        "QueryAUC:type=Ranking": Asked(lambda k, r: cb.query_auc(type="Ranking", weights=_weights(r)), ANY),
        "PairAccuracy": Asked(
            lambda k, r: cb.pair_accuracy(pairs=_pick(r, "given", "label"), use_weights=_use(r)), ANY
        ),
        "PairLogit": Asked(lambda k, r: cb.pair_logit(pairs=_pick(r, "given", "label"), use_weights=_use(r)), ANY),
        "QueryRMSE": Asked(lambda k, r: cb.query_rmse(weights=_weights(r)), ANY),
        "QuerySoftMax": Asked(lambda k, r: cb.query_soft_max(beta=_pick(r, 1, 0.1, 2), weights=_weights(r)), ANY),
        "QueryCrossEntropy": Asked(
            lambda k, r: cb.query_cross_entropy(alpha=_pick(r, None, 0, 0.3, 1), weights=_weights(r)), UNIT
        ),
    },
}  # fmt: skip


def data(seed: int, labels: str, convention: ra.Convention) -> tuple[ra.Queries, np.ndarray]:
    """Ragged queries, of which a fifth has nothing to find, with ties, and the weights that the convention counts."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 13, rng.integers(1, 10))
    if labels == ONE_CLASS:
        sizes += 2
    n = int(sizes.sum())
    columns = {"group_sizes": sizes, "docid": [f"d{row:03}" for row in range(n)]}
    if labels == ONE_CLASS:
        found = np.zeros(n)
        found[np.cumsum(sizes) - sizes + rng.integers(0, sizes)] = 1
    else:
        found = rng.integers(0, {BINARY: 2, ANY: 4, UNIT: 5}[labels], n) / (4 if labels == UNIT and seed % 2 else 1)
        found = np.minimum(found, 1) if labels == UNIT else found
        found = found * np.repeat(rng.random(sizes.size) < 0.8, sizes)
    if convention.weighting == "query_weight" and seed % 3:
        columns["query_weight"] = rng.uniform(0.1, 3, sizes.size).astype(np.float32)
    if convention.weighting == "row_weight" and seed % 3:
        columns["row_weight"] = rng.uniform(0.1, 3, n).astype(np.float32)
    if getattr(convention, "pairs", "") == "given":
        columns["pairs"] = _pairs(rng, sizes, weighted=convention.average == "pair" and seed % 3 > 0)
    scores = rng.integers(-2, 4, n) / 4 if seed % 2 else rng.normal(size=n)
    scores = 1 + rng.integers(0, 4, n) * 1e-9 if seed % 5 == 2 else scores
    return ra.Queries(found, **columns), scores


def _pairs(rng: np.random.Generator, sizes: np.ndarray, *, weighted: bool) -> tuple[np.ndarray, ...]:
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    winner = np.arange(starts.size)
    loser = starts + rng.integers(0, np.repeat(sizes, sizes))
    kept = winner != loser
    weights = (rng.uniform(0.1, 3, int(kept.sum())).astype(np.float32),) if weighted else ()
    return winner[kept], loser[kept], *weights


def cases(toolkit: str, metric: str, seed: int) -> Iterator[tuple[ra.Convention, ra.Queries, np.ndarray]]:
    """The toolkit's own convention on generated data, and one with another value of one field."""
    rng = np.random.default_rng([seed, len(metric)])
    asked = ASKED[toolkit][metric]
    own = asked.make(CUTOFFS[seed % len(CUTOFFS)], rng)
    queries, scores = data(seed, asked.labels, own)
    yield own, queries, scores
    names = [name for name, kind in own.declared().items() if isinstance(kind, Words) and kind.group != "retrieval"]
    tried = grid(type(own), queries)
    while names:
        name = names.pop(int(rng.integers(len(names))))
        for value in rng.permutation(tried[name]).tolist():
            with suppress(ra.ConventionError):
                other = own.replace(**{name: value})
                if other != own and (other.weighting == own.weighting or not queries.weights):
                    yield other, queries, scores
                    return
