"""What the data are like, and which choices of a convention matter on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from rankadapters.audit.profile.data_profile import DataProfile
from rankadapters.audit.profile.field_effects import effects
from rankadapters.audit.profile.pitfalls import pitfalls
from rankadapters.audit.profile.query_flags import see
from rankadapters.core.errors import InputError
from rankadapters.core.fields import as_cutoff
from rankadapters.core.keywords import Columns
from rankadapters.core.queries import as_queries

Flags = NDArray[np.bool_]


def profile(
    labels: object, *, k: int | Iterable[int | None] | None, scores: object = None, **columns: Unpack[Columns]
) -> DataProfile:
    """Describe judged queries: what is peculiar about them, and which choices of a convention matter here.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    k : int, None or several of them
        Cutoffs in question; None counts all rows.
    scores : array-like, shape (n_docs,), optional
        Predicted scores. Without them the effects are those on the expected value of a random ranking, and that of
        `ties` the largest for any scores.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    DataProfile
        Shares, label histogram, effects of the fields, warnings.

    Raises
    ------
    InputError
        The columns contradict each other, or no preset has a value on the data.
    ConventionError
        A cutoff is no whole number from 1 on.

    Examples
    --------
    >>> found = profile([1, 0, 0, 0], k=2, scores=[2.0, 1.0, 1.0, 3.0], group_sizes=[2, 2])
    >>> found.empty, found.labels, {effect.field: effect.change for effect in found.effects}["empty"]
    (0.5, {0.0: 3, 1.0: 1}, 0.5)
    """
    cutoffs = _cutoffs(k)
    queries = as_queries(labels, **columns).weighed_by("query_weight")
    given = None if scores is None else queries.check_scores(scores)
    seen = see(queries, given, cutoffs)
    found = effects(queries, given, cutoffs)
    if not found:
        msg = "no preset has a value on this data.\nHint: ra.evaluate under one of them says why."
        raise InputError(msg)
    return DataProfile(
        k=cutoffs, n_queries=queries.n_queries, n_docs=queries.n_docs, longest=int(np.diff(queries.indptr).max()),
        empty=_share(seen.empty), short={k: _share(flags) for k, flags in seen.short.items()},
        single_document=_share(seen.single), all_equal=_share(seen.equal),
        tied=None if seen.tied is None else _share(seen.tied),
        tied_at_cut=None if seen.tied_at_cut is None else {k: _share(f) for k, f in seen.tied_at_cut.items()},
        labels=seen.labels, effects=found, warnings=pitfalls(queries, seen, found),
    )  # fmt: skip


def _cutoffs(k: object) -> tuple[int | None, ...]:
    several = list(k) if isinstance(k, Iterable) and not isinstance(k, (str, bytes)) else [k]
    if not several:
        msg = "no cutoff was given.\nHint: k=10, or k=None for all rows."
        raise InputError(msg)
    return tuple(dict.fromkeys(None if cutoff is None else as_cutoff(cutoff) for cutoff in several))


def _share(flags: Flags) -> float:
    return float(np.mean(flags))
