"""What compiling says, where machine code is kept, and that `rankadapters warmup` compiles all there is."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import cycle, product

import numpy as np

import rankadapters as ra
from rankadapters.core import presets
from rankadapters.core.errors import RankAdaptersError
from rankadapters.core.measures import MEASURES
from rankadapters.objectives.base import OBJECTIVES
from tests.helpers.python_processes import python

# Hashing ids is the kernel that compiles in the shortest time.
HASH = "import rankadapters as ra; print(ra.Queries([1], qid=[1]).id_hashes.size)"
TERMINAL = "import sys; sys.stderr.isatty = lambda: True; "
NO_LOCATOR = """
import numba.core.caching
def refuse(self):
    raise OSError("read-only")
numba.core.caching._CacheLocator.ensure_cache_path = refuse
"""
USED = """
import json
from rankadapters.core.kernels.compiling import KERNELS
used = {kernel.py_func.__qualname__: [str(each) for each in kernel.signatures] for kernel in KERNELS}
print(json.dumps({"used": used, "compiled": sum(sum(kernel.stats.cache_misses.values()) for kernel in KERNELS)}))
"""


def run(code, status=0, **environment):
    done = python("-c", code, code=status, RANKADAPTERS_KERNELS="now", **environment)
    return done.stdout, done.stderr


def used(code):
    return json.loads(run(code + USED)[0].splitlines()[-1])


def varied(base, measure):
    """Yield a convention with each value of each field, one at a time."""
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
    """Evaluate every measure, field by field, on rows of other shapes than the command has, and return how many."""
    rng, found = np.random.default_rng(0), 0
    n = 90
    columns = {"qid": rng.integers(0, 4, n), "docid": [f"d{i}" for i in range(n)], "row_weight": rng.random(n)}
    judged = rng.random(n) < 0.8
    shapes = ({}, {"judged": judged, "retrieved": ~judged | (rng.random(n) < 0.8)})
    scores = rng.integers(0, 9, n) / 8
    frozen = scores.copy()
    frozen.flags.writeable = False
    kinds = (scores, scores.astype("f4"), frozen)
    bases = {preset.measure: preset for preset in (presets.make(name, 5) for name in presets.names(None))}
    assert set(bases) == set(MEASURES)
    for labels, shape in zip(
        (rng.integers(0, 2, n), rng.integers(0, 12, n), rng.random(n)), (*shapes, {}), strict=True
    ):
        first = np.flatnonzero(columns["qid"] == columns["qid"][0])[:2]
        queries = ra.Queries(labels, query_weight=[1, 2, 3, 4], pairs=(first[:1], first[1:], [0.5]), **columns, **shape)
        for name, base in bases.items():
            policies = {"missing": base.declared()["missing"].tried[0], "unjudged": "zero"}
            lenient = policies if shape else {}
            for number, convention in enumerate(varied(base.replace(**lenient), MEASURES[name])):
                few = kinds if number == 0 else (kinds[number % 3],)
                found += sum(tried(queries.weighed_by(convention.weighting), scores, convention) for scores in few)
    return found


def evaluate_short_queries():
    """Evaluate every preset, with each order of ties, on queries of two rows, which have kernels; return how many."""
    found = 0
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
                    found += tried(weighed, scores, convention)
                    if dtype == "f8" and not change:
                        ra.Trials(weighed, convention).along(scores, scores[::-1], [0.5, 1.0])
    return found


def tried(queries, scores, convention):
    try:
        ra.Evaluator(queries, convention).tally(scores)
    except RankAdaptersError:
        return False
    return True


def differentiate_everything():
    """Differentiate every objective, and return how many gradients there were."""
    ours = ra.objectives
    several = [
        ours.lightgbm.lambdarank(), ours.lightgbm.lambdarank().replace(sigmoid="exact"), ours.lightgbm.xendcg(),
        ours.xgboost.ndcg(), ours.xgboost.ndcg().replace(samples=2, truncation=None), ours.xgboost.pairwise(),
        ours.xgboost.map(), ours.catboost.pair_logit(), ours.catboost.pair_logit().replace(truncation=3),
        ours.ListNet(),
        ours.QueryRMSE(), ours.catboost.query_soft_max(), ours.catboost.query_cross_entropy(),
        ours.ListMLE(), ours.ApproxNDCG(convention="letor4@3", temperature=1, hessian=1),
        *(ours.LambdaLoss(convention="letor4@3", scheme=scheme, truncation=3, sigma=1) for scheme in ("arp1", "ndcg2")),
        *(ours.lightgbm.lambdarank().replace(sigmoid="exact", convention=name)
          for name in ("lightgbm.map@3", "catboost.mrr@3", "catboost.err@3", "yahoo.err")),
        ours.catboost.stochastic_rank("NDCG"),
        ours.catboost.stochastic_rank("MRR", sigma=2), ours.catboost.yetirank(), ours.catboost.yetirank(mode="MAP"),
        ours.catboost.yetirank(mode="MRR", noise="Gauss"), ours.catboost.stochastic_filter(),
    ]  # fmt: skip
    rng, found = np.random.default_rng(1), 0
    together, qid = np.repeat([0, 1], 20), rng.permutation(np.repeat([0, 1], 20))
    for objective, grades, dtype in product(several, (2, 12), ("f4", "f8")):
        for columns in ({"qid": together}, {"qid": qid, "query_weight": [1, 2]}):
            queries = ra.Queries(rng.integers(0, grades, 40), **columns)
            with suppress(ra.InputError):  # some take only labels of 0 and 1
                found += ours.gradients(queries, rng.random(40).astype(dtype), objective)[0].shape == (40,)
                if objective.bind(queries).parts is not None:
                    ours.xgboost.unbiased().bind(objective, queries).gradients(rng.random(40).astype(dtype))
    assert {objective.kind for objective in several} == set(OBJECTIVES)
    return found


def try_everything():
    """Try many candidate scores under every preset, and fit the learner that has kernels of its own; how many tries."""
    rng, found = np.random.default_rng(2), 0
    qid, scores = rng.integers(0, 9, 70), rng.random((70, 2)).T  # columns of a table of features, which are strided
    for grades in (2, 5, 300):
        queries = ra.Queries(
            rng.integers(0, grades, 70) * (rng.random(70) < 0.3), qid=qid, docid=list(map(str, range(70)))
        )
        for name in presets.names(None):
            with suppress(RankAdaptersError):
                trials = ra.Trials(queries, presets.make(name, 5))
                found += trials.along(*scores, [0.5, 1.0]).size + trials.values(scores).size
    for weight in (None, 1.0 + qid):
        for variant in ("freund", "ranklib"):
            model = ra.learners.RankBoost(max_iter=2, variant=variant)
            model.fit(rng.random((70, 3)), rng.integers(0, 3, 70), qid=qid, sample_weight=weight)
    return found


def test_after_a_warmup_nothing_is_compiled_by_any_measure_objective_or_learner():
    # In the cache that the session has anyway. That it may know more than a warmup made does not matter: the kernels
    # and types that the second process uses are compared with those that the first one did.
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


def test_compiling_is_said_once_on_a_terminal_and_not_when_the_cache_is_warm(tmp_path):
    line = "rankadapters: compiling, once on this machine\n"
    piped = run(HASH, NUMBA_CACHE_DIR=str(tmp_path / "piped"))
    assert piped == ("1\n", "")
    first, second = (run(TERMINAL + HASH + "; " + HASH, NUMBA_CACHE_DIR=str(tmp_path / "shown")) for _ in range(2))
    assert first == ("1\n1\n", line)
    assert second == ("1\n1\n", "")


def test_where_no_folder_can_be_written_it_compiles_and_says_the_way_out():
    out, err = run(NO_LOCATOR + TERMINAL + HASH)
    assert out == "1\n"
    assert err == (
        "rankadapters: compiling, in every process anew, since no folder for the machine code can be written; set "
        "NUMBA_CACHE_DIR to one that can\n"
    )


def test_a_warmup_that_could_keep_nothing_says_so(tmp_path):
    command = "from rankadapters.cli import main; raise SystemExit(main(['warmup']))"
    done = python("-c", NO_LOCATOR + command, code=2, NUMBA_CACHE_DIR=None)
    assert done.stdout == ""
    assert done.stderr == (
        "rankadapters: error: neither the package's folder nor the home directory can be written, so no machine "
        "code can be cached. Hint: set NUMBA_CACHE_DIR.\n"
    )
    file = tmp_path / "file"
    file.touch()
    out, err = run(command, 2, NUMBA_CACHE_DIR=str(file / "inside"))
    assert out == ""
    assert f"NUMBA_CACHE_DIR={file / 'inside'} cannot be written" in err
