"""Check the arguments of callbacks and early stopping, who calls them, and the number of queries of their sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from rankadapters.core.declaration.arguments import number, refusal, whole
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.declared import RefusedScore
from rankadapters.core.declaration.fields import is_whole
from rankadapters.core.errors import ConventionError, InputError, RankAdaptersError
from rankadapters.presets.texts import Conventions, as_conventions

TOOLKITS = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost"}


def require_stopping(rounds: object, min_delta: object, **names: object) -> None:
    """Refuse wrong arguments of early stopping; `names` are those that may be None."""
    whole("rounds", rounds, hint="rounds=50")
    number("min_delta", min_delta, least=0, hint="min_delta=0")
    for parameter, name in names.items():
        require_name(parameter, name)


def require_name(parameter: str, name: object) -> None:
    """Refuse a value that is neither a name nor None."""
    if not isinstance(name, str | None):
        raise refusal(parameter, name, "a text and None")


def require_missing(missing: object) -> None:
    """Refuse a value that cannot represent missing features."""
    if missing is not None and (isinstance(missing, bool) or not isinstance(missing, Real)):
        raise refusal("missing", missing, "numbers, NaN among them")


def display_names(convention: Convention | str | Conventions) -> dict[Convention, str]:
    """Return the display name of each convention; names and conventions must be distinct."""
    names = [(convention, convention.name) for convention in as_conventions(convention)]
    if len({name for _, name in names}) < len(names) or len(dict(names)) < len(names):
        msg = f"two conventions report under one name or are equal: {[name for _, name in names]}."
        raise ConventionError(msg, hint='different conventions, with names as in {"mine": "textbook@10"}')
    return dict(names)


def refuse_other_toolkit(adapter: str, function: str, *data: object) -> None:
    """Refuse a dataset or a callback's argument of another toolkit; the error names that toolkit's adapter.

    `adapter` is the module of ours that made the callable, and `function` the function that did.
    """
    for value in data:
        package = type(value).__module__.partition(".")[0]
        if package in TOOLKITS and package != adapter:
            msg = f"{TOOLKITS[package]} called an object of ra.{adapter}."
            raise InputError(msg, hint=f"ra.{package}.{function}(...)")


def refused_as_scorer(caller: object) -> RefusedScore | None:
    """Return the refusal of an estimator of scikit-learn, which calls a scorer; None for anything else."""
    if not hasattr(caller, "get_params"):
        return None
    msg = "an adapter of a toolkit is no scorer of scikit-learn."
    return RefusedScore(RankAdaptersError(msg, hint="scoring=ra.sklearn.query_scorer(convention)"))


class QueryCounts:
    """The declared number of queries of each set.

    `n_queries` is the number of queries, or a mapping of set names to numbers; None checks nothing. `hint` is the hint
    of the error if a set has a different number.
    """

    def __init__(self, n_queries: int | Mapping[str, int] | None, hint: str) -> None:
        self._expected = _as_counts(n_queries)
        self._hint = hint

    def refuse_sets(self, sets: Sequence[str]) -> None:
        """Refuse declared numbers for unknown sets, and a single number if there are several sets."""
        named = [name for name in self._expected if name is not None]
        if (None in self._expected and len(sets) > 1) or not set(named) <= set(sets):
            example = dict.fromkeys(sets, "...")
            counts = self._expected.get(None, named)
            raise InputError(f"n_queries={counts} does not say of which of {list(sets)}.", hint=str(example))

    def refuse(self, set_name: str | None, n_queries: int, where: str = "") -> None:
        """Refuse a wrong number of queries in a set; `set_name` is None if the toolkit does not name it."""
        expected = self._expected.get(set_name, self._expected.get(None, n_queries))
        if n_queries == expected:
            return
        why = "some are cut" if n_queries > expected else "some are missing, or joined with their neighbors"
        who = "the data" if set_name is None else repr(set_name)
        msg = f"{who} has {n_queries} queries{where}, not n_queries={expected}: {why}."
        raise InputError(msg, hint=self._hint)


def _as_counts(n_queries: object) -> dict[str | None, int]:
    """Return the number of queries by set name; a number under the key None is for a set of any name."""
    counts: dict[Any, Any] = dict(n_queries) if isinstance(n_queries, Mapping) else {None: n_queries}
    if n_queries is None:
        counts = {}
    if not all(is_whole(count) and count > 0 for count in counts.values()):
        raise refusal("n_queries", n_queries, "whole numbers from 1 on, or a mapping of a set's name to one")
    return counts
