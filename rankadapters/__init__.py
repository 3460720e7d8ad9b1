"""Ranking metrics for every learning-to-rank toolkit, each computed under an explicitly declared convention."""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing takes longer than this whole module
if TYPE_CHECKING:
    # `import a as a` marks a as public; isort would split these into single statements.
    # isort: off
    from rankadapters import (
        audit as audit,
        catboost as catboost,
        compare as compare,
        conformance as conformance,
        dask as dask,
        datasets as datasets,
        exports as exports,
        io as io,
        learners as learners,
        lightgbm as lightgbm,
        objectives as objectives,
        parity as parity,
        presets as presets,
        sklearn as sklearn,
        spark as spark,
        trackers as trackers,
        xgboost as xgboost,
    )
    from rankadapters.callbacks.history import History as History
    from rankadapters.core import __version__ as __version__
    from rankadapters.core.data.queries import Queries as Queries
    from rankadapters.core.declaration.convention import Convention as Convention
    from rankadapters.core.errors import (
        ConventionError as ConventionError,
        IncomparableScoresError as IncomparableScoresError,
        InputError as InputError,
        LabelsWarning as LabelsWarning,
        MissingToolkitError as MissingToolkitError,
        RankAdaptersError as RankAdaptersError,
        UnsupportedConventionError as UnsupportedConventionError,
    )
    from rankadapters.evaluation.evaluate import evaluate as evaluate, per_query as per_query
    from rankadapters.evaluation.evaluator import Evaluator as Evaluator
    from rankadapters.evaluation.score import Score as Score
    from rankadapters.evaluation.tally import Tally as Tally
    from rankadapters.core.measures import *  # noqa: F403 - every measure is public
    from rankadapters.evaluation.segment_tallies import SegmentTallies as SegmentTallies
    from rankadapters.io.streams import (
        evaluate_table as evaluate_table,
        per_query_table as per_query_table,
        tally_table as tally_table,
    )
    from rankadapters.learners.trials import Trials as Trials
    from rankadapters.presets.texts import parse as parse
    from rankadapters.statistics.inert import inert as inert

    # isort: on

# Imported on first use, so that the pytest plugin loads fast: importing the conventions takes a quarter of a second,
# and other modules import numpy, numba or a toolkit.
_LAZY = {
    "Convention": "core.declaration.convention",
    "ConventionError": "core.errors",
    "Evaluator": "evaluation.evaluator",
    "History": "callbacks.history",
    "IncomparableScoresError": "core.errors",
    "InputError": "core.errors",
    "LabelsWarning": "core.errors",
    "MissingToolkitError": "core.errors",
    "Queries": "core.data.queries",
    "RankAdaptersError": "core.errors",
    "Score": "evaluation.score",
    "SegmentTallies": "evaluation.segment_tallies",
    "Tally": "evaluation.tally",
    "Trials": "learners.trials",
    "UnsupportedConventionError": "core.errors",
    "__version__": "core",
    "evaluate": "evaluation.evaluate",
    "evaluate_table": "io.streams",
    "inert": "statistics.inert",
    "parse": "presets.texts",
    "per_query": "evaluation.evaluate",
    "per_query_table": "io.streams",
    "tally_table": "io.streams",
}
_SUBMODULES = (
    "audit",
    "catboost",
    "compare",
    "conformance",
    "dask",
    "datasets",
    "exports",
    "io",
    "learners",
    "lightgbm",
    "objectives",
    "parity",
    "presets",
    "sklearn",
    "spark",
    "trackers",
    "xgboost",
)
# The packages that a submodule cannot be imported without, directly or because its toolkit needs them.
_NEEDED = {
    "catboost": ("catboost", "scipy"),
    "dask": ("dask", "distributed", "pandas", "pyarrow", "yaml"),
    "lightgbm": ("lightgbm", "scipy"),
    "sklearn": ("scipy", "sklearn"),
    "spark": ("pyarrow", "pyspark"),
    "xgboost": ("scipy", "xgboost"),
}

if not TYPE_CHECKING:  # so that type checkers report unknown names

    def __getattr__(name: str) -> object:
        from importlib import import_module

        if name in _LAZY:
            return getattr(import_module(f"rankadapters.{_LAZY[name]}"), name)
        if name in _SUBMODULES:
            return import_module(f"rankadapters.{name}")
        if not name.startswith("_") or name == "__all__":
            measures = import_module("rankadapters.core.measures").MEASURES.values()
            classes = {measure.__name__: measure for measure in measures}
            if name == "__all__":
                return [*_LAZY, "presets", *classes]
            if name in classes:
                return classes[name]
        from rankadapters.core.declaration.guesses import no_attribute

        public = [] if name.startswith("_") else __dir__()
        raise AttributeError(no_attribute("", name, public), name=name)

    def __dir__() -> list[str]:
        # Without the submodules that cannot be imported, since help() and inspect.getmembers() get every listed name.
        from rankadapters.core.errors import are_installed

        submodules = (name for name in _SUBMODULES if are_installed(*_NEEDED.get(name, ())))
        return sorted({*__getattr__("__all__"), *submodules})
