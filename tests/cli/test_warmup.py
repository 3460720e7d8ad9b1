"""`rankadapters warmup` compiles every kernel, and compiling is announced."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import cycle, product

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import presets
from rankadapters.core.errors import RankAdaptersError
from rankadapters.core.measures import MEASURES
from rankadapters.objectives.base import OBJECTIVES
from tests.helpers.python_processes import run_python

# Hashing ids uses the kernel that compiles fastest.
HASH = "import rankadapters as ra; print(ra.Queries([1], qid=[1]).id_hashes.size)"
TERMINAL = "import sys; sys.stderr.isatty = lambda: True; "
NO_LOCATOR = """
import numba.core.caching
def refuse(self):
    raise OSError("read-only")
numba.core.caching._CacheLocator.ensure_cache_path = refuse
"""
PRINT_USED = """
import json
from rankadapters.core.kernels.compiling import KERNELS
used = {kernel.py_func.__qualname__: [str(signature) for signature in kernel.signatures] for kernel in KERNELS}
print(json.dumps({"used": used, "compiled": sum(sum(kernel.stats.cache_misses.values()) for kernel in KERNELS)}))
"""


def run(code, status=0, **environment):
    process = run_python("-c", code, code=status, RANKADAPTERS_KERNELS="now", **environment)
    return process.stdout, process.stderr


def used(code):
    return json.loads(run(code + PRINT_USED)[0].splitlines()[-1])


def with_each_change(base, measure):
    """Yield a convention, and every valid copy with one field changed."""
    yield base
    if measure is ra.PairLogit:
        yield base.replace(pairs="label", average="uniform")
    for name, kind in measure.declared().items():
        for value in (*(kind.tried if name != "k" else (None,)), *(("row", "pair") if name == "average" else ())):
            try:
                yield base.replace(**{name: value})
            except RankAdaptersError:
                continue


def evaluate_everything():
    """Evaluate every measure with each field changed, on data unlike those of the command; return the number."""
    rng, count = np.random.default_rng(0), 0
    n = 90
    columns = {"qid": rng.integers(0, 4, n), "docid": [f"d{i}" for i in range(n)], "row_weight": rng.random(n)}
    judged = rng.random(n) < 0.8
    all_flags = ({}, {"judged": judged, "retrieved": ~judged | (rng.random(n) < 0.8)})
    scores = rng.integers(0, 9, n) / 8
    frozen = scores.copy()
    frozen.flags.writeable = False
    all_arrays = (scores, scores.astype("f4"), frozen)
    bases = {preset.measure: preset for preset in (presets.make(name, 5) for name in presets.names(None))}
    assert set(bases) == set(MEASURES)
    for labels, flags in zip(
        (rng.integers(0, 2, n), rng.integers(0, 12, n), rng.random(n)), (*all_flags, {}), strict=True
    ):
        first = np.flatnonzero(columns["qid"] == columns["qid"][0])[:2]
        queries = ra.Queries(labels, query_weight=[1, 2, 3, 4], pairs=(first[:1], first[1:], [0.5]), **columns, **flags)
        for name, base in bases.items():
            policies = {"missing": base.declared()["missing"].tried[0], "unjudged": "zero"}
            lenient = policies if flags else {}
            for number, convention in enumerate(with_each_change(base.replace(**lenient), MEASURES[name])):
                arrays = all_arrays if number == 0 else (all_arrays[number % 3],)
                count += sum(
                    can_evaluate(queries.weighed_by(convention.weighting), scores, convention) for scores in arrays
                )
    return count


def evaluate_short_queries():
    """Evaluate every preset, with each order of ties, on two-row queries, which have their own kernels."""
    count = 0
    for labels, weights in (
        ([1, 0, 1, 0], [1.0, 2.0] * 2), ([0, 2, 1, 0], [0.5, 0.5, 1.5, 1.5]), ([0, 9, 300, 1], [1.0, 2.0] * 2),
    ):  # fmt: skip
        queries = ra.Queries(
            7 * labels, group_sizes=14 * [2], query_weight=7 * [1, 2], row_weight=7 * weights, docid=14 * ["a", "b"],
            pairs=([0, 2], [1, 3], [0.5, 1.0]),
        )  # fmt: skip
        for base in (presets.make(name, 3) for name in presets.names(None)):
            ties = base.declared()["ties"].tried if "ties" in base.declared() else ()
            changes = [
                {},
                {"average": "row"},
                {"ideal": "top-only", "ties": "input"},
                *({"ties": name} for name in ties),
            ]
            for change, dtype in (({}, "f4"), *zip(changes, cycle(("f8", "f4")))):
                with suppress(RankAdaptersError):
                    convention = base.replace(**change)
                    weighed = queries.weighed_by(convention.weighting)
                    scores = np.array(7 * [0.5, 0.5, 0.25, 0.75], dtype)
                    count += can_evaluate(weighed, scores, convention)
                    if dtype == "f8" and not change:
                        ra.Trials(weighed, convention).along(scores, scores[::-1], [0.5, 1.0])
    return count


def can_evaluate(queries, scores, convention):
    try:
        ra.Evaluator(queries, convention).tally(scores)
    except RankAdaptersError:
        return False
    return True


def differentiate_everything():
    """Differentiate every objective, and return the number of gradients."""
    loss = ra.objectives
    tested = [
        loss.lightgbm.lambdarank(), loss.lightgbm.lambdarank().replace(sigmoid="exact"), loss.lightgbm.xendcg(),
        loss.xgboost.ndcg(), loss.xgboost.ndcg().replace(samples=2, truncation=None), loss.xgboost.pairwise(),
        loss.xgboost.map(), loss.catboost.pair_logit(), loss.catboost.pair_logit().replace(truncation=3),
        loss.ListNet(),
        loss.QueryRMSE(), loss.catboost.query_soft_max(), loss.catboost.query_cross_entropy(),
        loss.ListMLE(), loss.ApproxNDCG(convention="letor4@3", temperature=1, hessian=1),
        *(loss.LambdaLoss(convention="letor4@3", scheme=scheme, truncation=3, sigma=1) for scheme in ("arp1", "ndcg2")),
        *(loss.lightgbm.lambdarank().replace(sigmoid="exact", convention=name)
          for name in ("lightgbm.map@3", "catboost.mrr@3", "catboost.err@3", "yahoo.err")),
        loss.catboost.stochastic_rank("NDCG"),
        loss.catboost.stochastic_rank("MRR", sigma=2), loss.catboost.yetirank(), loss.catboost.yetirank(mode="MAP"),
        loss.catboost.yetirank(mode="MRR", noise="Gauss"), loss.catboost.stochastic_filter(),
    ]  # fmt: skip
    rng, count = np.random.default_rng(1), 0
    sorted_qid, qid = np.repeat([0, 1], 20), rng.permutation(np.repeat([0, 1], 20))
    for objective, grades, dtype in product(tested, (2, 12), ("f4", "f8")):
        for columns in ({"qid": sorted_qid}, {"qid": qid, "query_weight": [1, 2]}):
            queries = ra.Queries(rng.integers(0, grades, 40), **columns)
            with suppress(ra.InputError):  # some objectives accept only labels of 0 and 1
                count += loss.gradients(queries, rng.random(40).astype(dtype), objective)[0].shape == (40,)
                if objective.bind(queries).parts is not None:
                    loss.xgboost.unbiased().bind(objective, queries).gradients(rng.random(40).astype(dtype))
    assert {objective.kind for objective in tested} == set(OBJECTIVES)
    return count


def try_everything():
    """Run `ra.Trials` under every preset and fit RankBoost, and return the number of trial values."""
    rng, count = np.random.default_rng(2), 0
    qid, scores = rng.integers(0, 9, 70), rng.random((70, 2)).T  # strided, like the columns of a feature table
    for grades in (2, 5, 300):
        queries = ra.Queries(
            rng.integers(0, grades, 70) * (rng.random(70) < 0.3), qid=qid, docid=list(map(str, range(70)))
        )
        for name in presets.names(None):
            with suppress(RankAdaptersError):
                trials = ra.Trials(queries, presets.make(name, 5))
                count += trials.along(*scores, [0.5, 1.0]).size + trials.values(scores).size
    for weight in (None, 1.0 + qid):
        for variant in ("freund", "ranklib"):
            model = ra.learners.RankBoost(max_iter=2, variant=variant)
            model.fit(rng.random((70, 3)), rng.integers(0, 3, 70), qid=qid, sample_weight=weight)
    return count


def test_after_a_warmup_no_measure_objective_or_learner_compiles_anything():
    pytest.importorskip("sklearn")
    # Both processes use the cache of the session, which may hold more than a warmup compiles. Therefore the kernels
    # and types that the second process uses are compared with those that the first one used.
    warm = used("from rankadapters.cli import main; assert main(['warmup']) == 0\n")
    everything = used(
        "from tests.cli.test_warmup import *\nassert evaluate_everything() > 1000\n"
        "assert evaluate_short_queries() > 4000\n"
        "assert differentiate_everything() > 90\n"
        "assert try_everything() > 400\n"
        "ra.audit.identify([1, 0, 2, 0], [0.5, 0.5, 0.25, 0.75], value='0.5', k=2, group_sizes=[2, 2])\n"
    )
    assert everything["compiled"] == 0
    missed = {name: set(types) - set(warm["used"].get(name, ())) for name, types in everything["used"].items()}
    assert {name: types for name, types in missed.items() if types} == {}
    assert sum(map(len, everything["used"].values())) > 30


def test_compiling_is_announced_once_and_only_on_a_terminal(tmp_path):
    line = "rankadapters: compiling, once on this machine\n"
    piped = run(HASH, NUMBA_CACHE_DIR=str(tmp_path / "piped"))
    assert piped == ("1\n", "")
    first, second = (run(TERMINAL + HASH + "; " + HASH, NUMBA_CACHE_DIR=str(tmp_path / "shown")) for _ in range(2))
    assert first == ("1\n1\n", line)
    assert second == ("1\n1\n", "")


def test_without_a_writable_folder_the_notice_suggests_a_fix():
    out, err = run(NO_LOCATOR + TERMINAL + HASH)
    assert out == "1\n"
    assert err == (
        "rankadapters: compiling, in every process anew, since no folder for the machine code can be written; set "
        "NUMBA_CACHE_DIR to one that can\n"
    )


def test_a_warmup_without_a_writable_folder_is_refused(tmp_path):
    command = "from rankadapters.cli import main; raise SystemExit(main(['warmup']))"
    process = run_python("-c", NO_LOCATOR + command, code=2, NUMBA_CACHE_DIR=None)
    assert process.stdout == ""
    assert process.stderr == (
        "rankadapters: error: neither the package's folder nor the home directory can be written, so no machine "
        "code can be cached. Hint: set NUMBA_CACHE_DIR.\n"
    )
    file = tmp_path / "file"
    file.touch()
    out, err = run(command, 2, NUMBA_CACHE_DIR=str(file / "inside"))
    assert out == ""
    assert f"NUMBA_CACHE_DIR={file / 'inside'} cannot be written" in err
