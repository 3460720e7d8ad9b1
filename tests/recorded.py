"""Values, tallies, gradients, digests, texts, signatures and reports that must stay the same to the last bit.

`python -m tests.recorded` compares all of them with `golden/recorded.json`. `--write` adds new entries to that file and
changes none of its entries, of which the first are older than all measures except NDCG and DCG.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import rankadapters as ra
from tests import recorded_reports

FILE = Path(__file__).parent / "golden" / "recorded.json"
CUTOFFS = (1, 10, 40, None)
SKIPS = "missing=zero/unjudged=zero/average=query/v1"
FORMS = {
    "sklearn": "gain=linear/discount=log2/ideal=cutoff/ties=average/precision=float64/short=pad/empty=0/",
    "lightgbm": "gain=exp2/discount=log2/ideal=cutoff/ties=input/precision=float64/short=pad/empty=1/",
    "xgboost": "gain=exp2-floor/discount=log2/ideal=cutoff/ties=input/precision=float32/short=pad/empty=1/",
    "catboost": "gain=linear/discount=log2/ideal=cutoff/ties=worst/precision=float64/short=pad/empty=1/",
    "letor": "gain=table_0_1_3_7_15/discount=jk2/ideal=cutoff/ties=input/precision=float64/short=zero/empty=0/",
    "trec": "gain=linear-positive/discount=log2/ideal=cutoff/ties=docid-descending/precision=float32/"
    "short=pad/empty=0/",
    "odd": "gain=linear/discount=reciprocal/ideal=retrieved/ties=best/precision=float32/short=skip/empty=0.5/",
    "whole": "gain=exp2/discount=jk2/ideal=all/ties=reverse/precision=float64/short=pad/empty=skip/",
    "table": "gain=table_0.5_1_1_1e+30_1e+31/discount=log2/ideal=all/ties=average/precision=float32/short=zero/"
    "empty=0/",
}
DCG = "gain=exp2/discount=log2/ties=average/precision=float64/short=pad/"
OBJECTIVES = (
    "lambdarank/truncation=30/samples=all/sigma=1/normalization=lightgbm/hessian=plain/sigmoid={}/beyond_k=keep/v1/",
    "lambdarank/truncation=all/samples=all/sigma=2/normalization=none/hessian=plain/sigmoid={}/beyond_k=keep/v1/",
)
OTHER_OBJECTIVES = (
    "lambdarank/truncation=32/samples=all/sigma=1/normalization=xgboost/hessian=doubled/sigmoid=float32/beyond_k=keep/v1/"
    "ndcg@32/" + FORMS["xgboost"] + "missing=error/unjudged=error/average=query-except-empty/v1",
    "ranknet/truncation=all/samples=all/sigma=1/normalization=none/hessian=plain/sigmoid=exact/v1",
    "ranknet/truncation=all/samples=2/sigma=1/normalization=xgboost/hessian=doubled/sigmoid=float32/v1",
    "xendcg/seed=5/v1",
    "listnet/v1",
    "query-soft-max/beta=1/ridge=0.01/v1",
    "query-rmse/v1",
)


def data(name: str) -> dict[str, Any]:
    """Return the columns and scores of a generated data set."""
    rng = np.random.default_rng(len(name))
    n_queries = 1500 if name == "large" else 60
    sizes = rng.integers(1, 160 if name == "large" else 50, n_queries)
    n = int(sizes.sum())
    columns: dict[str, Any] = {
        "labels": rng.choice([0, 0, 0, 1, 2, 3, 4], n).astype(float) * np.repeat(rng.random(n_queries) < 0.8, sizes),
        "scores": rng.standard_normal(n) if name == "large" else _tied(rng, n),
        "docid": [f"d{i}" for i in rng.permutation(n)],
        "query_weight": rng.uniform(0.25, 4, n_queries),
    }  # fmt: skip
    qid = np.repeat(rng.permutation(n_queries), sizes)
    if name == "interleaved":
        order = rng.permutation(n)
        columns |= {key: np.asarray(columns[key])[order] for key in ("labels", "scores", "docid")}
        qid = qid[order]
    if name == "retrieval":
        judged = rng.random(n) < 0.8
        columns |= {"judged": judged, "retrieved": (rng.random(n) < 0.8) | ~judged}
    return {**columns, "qid": qid}


def _tied(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.integers(0, 12, n) / 7 + 1e-9 * rng.integers(0, 2, n)


def conventions() -> Iterator[str]:
    """Yield the signatures of the conventions to evaluate."""
    for form, k in product(FORMS.values(), CUTOFFS):
        yield f"ndcg@{k or 'all'}/{form}{SKIPS}"
    for k in CUTOFFS:
        yield f"ndcg@{k or 'all'}/{FORMS['lightgbm']}{SKIPS.replace('=query/', '=query-except-empty/')}"
        yield f"dcg@{k or 'all'}/{DCG}{SKIPS}"


def values() -> dict[str, list[str]]:
    """Return the value and digests of the per-query values and the tally, by convention and data set."""
    recorded = {}
    for name in ("plain", "interleaved", "retrieval", "large"):
        columns = data(name)
        scores = columns.pop("scores")
        queries = ra.Queries(columns.pop("labels"), **columns)
        for dtype, text in product(("f8", "f4"), conventions()):
            recorded[f"{name} {dtype} {text}"] = _thread_independent(queries, scores.astype(dtype), ra.parse(text))
    return recorded


def _thread_independent(queries: ra.Queries, scores: np.ndarray, convention: ra.Convention) -> list[str]:
    results = []
    for n_threads in (1, 2):
        evaluator = ra.Evaluator(queries, convention, n_threads=n_threads)
        tally = evaluator.tally(scores).to_dict()
        sums = [tally[name] for name in ("numerator", "denominator", "digest", "n_scored", "n_empty", "n_short")]
        results.append([evaluator.evaluate(scores).value.hex(), _digest(evaluator.per_query(scores)), _digest(*sums)])
    return results[0] if results[0] == results[1] else ["depends on the threads"]


def gradients() -> dict[str, str]:
    """Return the digest of the gradients of every objective in two rounds, with one thread and with two."""
    pairs = product(OBJECTIVES, list(conventions())[:28:3], ("exact", "table"))
    objectives = [
        text.format(sigmoid) + str(ra.parse(convention))
        for text, convention, sigmoid in pairs
        if sigmoid == "exact" or "lightgbm" in text
    ]
    digests = {}
    for name, text, n_threads in product(("plain", "interleaved"), (*objectives, *OTHER_OBJECTIVES), (1, 2)):
        columns = data(name)
        queries = ra.Queries(columns["labels"], qid=columns["qid"], docid=columns["docid"])
        bound_objective = ra.objectives.parse(text).bind(queries, n_threads=n_threads)
        digest = _digest(*(array for _ in range(2) for array in bound_objective.gradients(columns["scores"])))
        key = f"{name} {text}"
        digests[key] = digest if digests.get(key, digest) == digest else "depends on the threads"
    return digests


def calls() -> dict[str, str]:
    """Return the signature of every public function, class, method and preset."""
    from tests.project.public_calls import method_names, public_callables

    recorded: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8"))["calls"]
    tools = [f"presets.{tool}.{name}" for tool, kind in ra.presets.TOOLS.items() for name in method_names(type(kind))]
    names = [
        *recorded,
        *public_callables(),
        *(f"presets.{name}" for name in (*ra.presets.names(), "make", "names")),
        *tools,
    ]
    return {name: _parameters(name) or recorded[name] for name in dict.fromkeys(names)}


def _parameters(name: str) -> str | None:
    """Return the signature below `ra` without annotations, or "removed"; None if its toolkit is not installed."""
    function: Any = ra
    with suppress(ra.MissingToolkitError):
        for part in name.split("."):
            function = getattr(function, part, None)
        if function is None:
            return "removed"
        parameters = inspect.signature(function).parameters.values()
        text = str(inspect.Signature([p.replace(annotation=inspect.Parameter.empty) for p in parameters]))
        return re.sub(r" at 0x\w+", "", text)
    return None


def texts() -> dict[str, str]:
    """Return the signatures that texts of conventions mean."""
    recorded = json.loads(FILE.read_text(encoding="utf-8"))["texts"] if FILE.is_file() else {}
    presets = [(name, ra.presets.make(name, k)) for name in ra.presets.names(None) for k in CUTOFFS]
    short = [f"{name}@{preset.to_dict()['k'] or 'all'}" if "k" in preset.fields() else name for name, preset in presets]
    all_texts = [*recorded, *short, *(preset.name for _, preset in presets), *conventions()]
    return {text: str(ra.parse(text)) for text in dict.fromkeys(all_texts)}


def reports() -> dict[str, list[str]]:
    """Return the lines of every report."""
    return {name: recorded_reports.recorded(maker) for name, maker in recorded_reports.makers().items()}


PARTS = {"values": values, "gradients": gradients, "calls": calls, "texts": texts, "reports": reports}


def _digest(*parts: Any) -> str:
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
    return hashed.hexdigest()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(prog="tests.recorded", description=__doc__)
    parser.add_argument("--write", action="store_true")
    recorded, write = json.loads(FILE.read_text(encoding="utf-8")), parser.parse_args().write
    lines = []
    for name, part in PARTS.items():
        old, new = recorded.get(name, {}), part()
        changed = [key for key in old if new.get(key) != old[key]]
        lines.append(f"{name}: {len(old)} recorded, {len(changed)} differ, {len(new.keys() - old.keys())} new")
        lines += [f"  {key}\n    was {old[key]}\n    is  {new.get(key)}" for key in changed]
        recorded[name] = {**new, **old}
    sys.stdout.write("\n".join(lines) + "\n")
    if write:
        FILE.write_text(json.dumps(recorded, indent=0) + "\n")


if __name__ == "__main__":
    main()
