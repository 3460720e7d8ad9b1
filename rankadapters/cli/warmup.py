"""`rankadapters warmup`: compile every kernel beforehand, for images of containers and of CI."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankadapters.cli.common import SAME, bar
from rankadapters.cli.helping import examples
from rankadapters.core import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError

if TYPE_CHECKING:
    from rankadapters.core.data.queries import Queries
    from rankadapters.objectives import Objective

Task = Callable[[], object]

# Fields that choose no kernel and no type of its arguments.
INDIFFERENT = {
    "k", "gain", "discount", "relevant", "short", "empty", "missing", "unjudged", "complement", "scale",
    "persistence", "beta_squared",
}  # fmt: skip
LABELS = ([1, 0, 1, 0], [0, 2, 1, 0], [0, 9, 300, 1])  # what is worth less than 256 is held in bytes
WEIGHTS = ([1.0, 2.0, 1.0, 2.0], [0.5, 0.5, 1.5, 1.5])
TIMES = 7  # the same rows: ideal lists of few are found without a kernel


def add(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "warmup",
        help="compile and cache every kernel beforehand",
        description="Compile every kernel that evaluation, gradients and learners use, float32 and float64, and keep "
        "the machine code in numba's cache: in the package, else in the home directory, or where NUMBA_CACHE_DIR says. "
        "Whoever uses it later must be able to write that folder, and have the same kind of CPU (or "
        "NUMBA_CPU_NAME=generic, here and there).",
        epilog=examples("warmup", status="0, or 2 where no folder can be written"),
    )
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    del arguments
    from rankadapters.core.kernels.dispatch import NOW, kernels

    with kernels(NOW), bar("compiling") as step:
        from rankadapters.core.kernels.compiling import compiled
        from rankadapters.core.kernels.kept_code import FAILURES

        folder, start = _folder(), time.perf_counter()
        tasks = [*_evaluations(), *_trials(), *_gradients(), _boost]
        for done, task in enumerate(tasks):
            task()
            if FAILURES:
                msg = f"nothing can be kept in {folder}: {FAILURES[0]}.\nHint: make room, or set NUMBA_CACHE_DIR."
                raise InputError(msg)
            step(done + 1, len(tasks))
    count = compiled()
    print(f"compiled {count.compiled} kernels in {time.perf_counter() - start:.0f} s, found {count.found} in the cache")
    print(f"cache: {folder}")
    return SAME


def _folder() -> Path:
    """Return the folder of the cache.

    Raises
    ------
    InputError
        None can be written, or not the one asked for.
    """
    from rankadapters.core.kernels.compiling import cache_folder

    asked, found = os.environ.get("NUMBA_CACHE_DIR"), cache_folder()
    if found is None or (asked and Path(asked).resolve() not in found.resolve().parents):
        what = f"NUMBA_CACHE_DIR={asked}" if asked else "neither the package's folder nor the home directory"
        msg = f"{what} can{'not' if asked else ''} be written, so that nothing can be kept.\nHint: set NUMBA_CACHE_DIR."
        raise InputError(msg)
    return found


def conventions() -> list[Convention]:
    """Every preset with every order of ties, ideal list, weights of rows, pairs, and precision of scores; once each."""
    found: dict[object, Convention] = {}
    for base in (presets.make(name, 3) for name in presets.names(None)):
        kinds = base.declared()
        ties = [{"ties": value} for value in kinds["ties"].tried] if "ties" in kinds else []
        pairs = [{"pairs": value, "average": "uniform"} for value in kinds["pairs"].tried] if "pairs" in kinds else []
        ideal = {"ideal": "top-only", "ties": "input"}
        for change in ({}, {"average": "row"}, {"average": "pair"}, {"precision": "float64"}, ideal, *ties, *pairs):
            with suppress(ConventionError):
                changed = base.replace(**change)
                kept = {name: value for name, value in changed.to_dict().items() if name not in INDIFFERENT}
                found.setdefault((changed.measure, *kept.items()), changed)
    return list(found.values())


def objectives() -> list[Objective]:
    """One objective of every kind and arithmetic."""
    from rankadapters import objectives as ours

    lambdarank, ranknet = ours.lightgbm_lambdarank(), ours.pair_logit()
    exact, ndcg = lambdarank.replace(sigmoid="exact"), presets.lightgbm(3)
    return [
        lambdarank, exact, exact.replace(convention="yahoo.err"), ranknet, ours.lightgbm_xendcg(), ours.xgboost_ndcg(),
        ours.xgboost_pairwise(), ours.xgboost_map(), ours.ListNet(), ours.QueryRMSE(), ours.query_softmax(),
        ours.query_cross_entropy(), ours.ListMLE(), ours.ApproxNDCG(convention=ndcg, temperature=1, hessian=1),
        ours.LambdaLoss(convention=ndcg, scheme="ndcg2", truncation=3, sigma=1),
        ours.catboost_stochastic_rank("NDCG"), ours.catboost_yetirank(), ours.catboost_stochastic_filter(),
    ]  # fmt: skip


def _evaluations() -> Iterator[Task]:
    for queries in _data():
        for convention in conventions():
            for dtype in ("float32", "float64"):
                yield partial(_evaluate, queries, convention, dtype)


def _data() -> Iterator[Queries]:
    from rankadapters.core.data.queries import Queries

    for labels in LABELS:
        for weights in WEIGHTS:
            yield Queries(
                TIMES * labels, group_sizes=2 * TIMES * [2], query_weight=TIMES * [1, 2], row_weight=TIMES * weights,
                docid=2 * TIMES * ["a", "b"], pairs=([0, 2], [1, 3], [0.5, 1.0]),
            )  # fmt: skip


def _evaluate(queries: Queries, convention: Convention, dtype: str) -> None:
    import numpy as np

    from rankadapters.core.evaluation.panel import Panel

    scores = np.array(TIMES * [0.5, 0.5, 0.25, 0.75], dtype)
    with suppress(InputError):  # labels that a convention has no gain for
        Panel(queries.weighed_by(convention.weighting), [convention]).evaluate(scores)


def _trials() -> Iterator[Task]:
    """Yield the measures that have a kernel for many candidates, by counting and by ranking."""
    for queries in _data():
        for convention in conventions():
            yield partial(_try_steps, queries, convention)


def _try_steps(queries: Queries, convention: Convention) -> None:
    import numpy as np

    from rankadapters.learners.trials import Trials

    scores = np.array(TIMES * [0.5, 0.5, 0.25, 0.75])
    with suppress(InputError):  # as above
        trials = Trials(queries.weighed_by(convention.weighting), convention)
        trials.along(scores, scores[::-1], [0.5, 1.0])
        trials.value(scores)


def _boost() -> None:
    """Find a decision stump, as RankBoost does."""
    import numpy as np

    from rankadapters.learners.kernels.boosted_pairs import pair_potentials
    from rankadapters.learners.kernels.stumps import add_by_bin

    up, level, found = np.ones(2), np.array([0, 1]), np.empty(2)
    pair_potentials(up, up, level, np.array([0, 2]), np.empty(0), *np.empty((2, 2)), found)
    add_by_bin(np.zeros((2, 1), np.uint8), found, 0, 2, np.zeros((1, 2)))


def _gradients() -> Iterator[Task]:
    for labels in LABELS:
        for objective in objectives():
            for dtype in ("float32", "float64"):
                yield partial(_differentiate, labels, objective, dtype)


def _differentiate(labels: list[int], objective: Objective, dtype: str) -> None:
    import numpy as np

    from rankadapters.core.data.queries import Queries
    from rankadapters.objectives import unbiased_lambdamart

    scores, queries = np.array([0.5, 0.5, 0.25, 0.75], dtype), Queries(labels, group_sizes=[4])
    with suppress(InputError):  # as above
        bound = objective.bind(queries)
        bound.gradients(scores)
        if bound.parts is not None:  # pairs that ratios of position bias can divide
            unbiased_lambdamart().bind(objective, queries).gradients(scores)
