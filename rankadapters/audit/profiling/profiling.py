"""Profile judged queries: their traits, and the fields of a convention that matter on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from rankadapters.audit.profiling.data_profile import DataProfile
from rankadapters.audit.profiling.field_effects import effects, random_values
from rankadapters.audit.profiling.pitfalls import pitfalls
from rankadapters.audit.profiling.query_flags import flags_of
from rankadapters.core.data.columns import Columns
from rankadapters.core.data.queries import Queries, as_queries
from rankadapters.core.declaration.arguments import members
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import as_cutoff
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.progress import shows
from rankadapters.statistics.grid import measure_named

Flags = NDArray[np.bool_]


@shows("profiling")
def profile(
    labels: object,
    *,
    k: int | Iterable[int | None] | None,
    scores: object = None,
    measure: str = "ndcg",
    **columns: Unpack[Columns],
) -> DataProfile:
    """Describe judged queries: their traits, and how much each field of a convention matters on them.

    Parameters
    ----------
    labels : array-like, shape (n_docs,), or Queries
        Relevance labels.
    k : int, None or a sequence of these
        Cutoffs to profile; None counts all rows.
    scores : array-like, shape (n_docs,), optional
        Predicted scores. Without scores, effects are those on the expected value of a random ranking, and the effect
        of `ties` is the largest for any scores.
    measure : str
        The measure whose fields are varied, as named in signatures, such as `ndcg` or `ap`.
    qid, group_sizes, query_weight, docid, retrieved, judged
        As in `Queries`.

    Returns
    -------
    DataProfile
        Shares, label histogram, the value of a random ranking, effects of the fields, warnings.

    Raises
    ------
    InputError
        The columns contradict each other, or no preset has a value on the data.
    ConventionError
        A cutoff is not a whole number from 1 on, no cutoff is given, or there is no such measure.

    Examples
    --------
    >>> data = profile([1, 0, 0, 0], k=2, scores=[2.0, 1.0, 1.0, 3.0], group_sizes=[2, 2])
    >>> data.empty, data.labels, {effect.field: effect.change for effect in data.effects}["empty"]
    (0.5, {0.0: 3, 1.0: 1}, 0.5)
    """
    kind = measure_named(measure)
    data_profile = describe_queries(as_queries(labels, **columns), scores, kind, _cutoffs(k))
    if not data_profile.effects:
        msg = f"no preset of {kind.__name__} has a value on this data.\nHint: ra.evaluate under a preset says why."
        raise InputError(msg)
    return data_profile


def describe_queries(
    queries: Queries, scores: object, measure: type[Convention], cutoffs: Iterable[int | None]
) -> DataProfile:
    """Describe queries as `profile` does; if no preset has a value, the profile lists no field effects."""
    queries, distinct = queries.weighed_by("query_weight"), tuple(dict.fromkeys(cutoffs))
    checked = None if scores is None else queries.check_scores(scores)
    flags = flags_of(queries, checked, distinct)
    random = random_values(queries, measure, distinct)
    graded = not set(flags.labels) <= {0.0, 1.0}
    field_effects = effects(queries, checked, measure, distinct, graded=graded)
    return DataProfile(
        k=distinct, n_queries=queries.n_queries, n_docs=queries.n_docs, longest=int(np.diff(queries.indptr).max()),
        empty=_share(flags.empty), short={k: _share(short) for k, short in flags.short.items()},
        single_document=_share(flags.single), all_equal=_share(flags.equal),
        tied=None if flags.tied is None else _share(flags.tied),
        tied_at_cut=None if flags.tied_at_cut is None else {k: _share(t) for k, t in flags.tied_at_cut.items()},
        labels=flags.labels, random=random, measure=measure.measure, effects=field_effects,
        warnings=pitfalls(flags, random, field_effects),
    )  # fmt: skip


def _cutoffs(k: object) -> tuple[int | None, ...]:
    cutoffs = [k] if (entries := members(k)) is None else entries
    if not cutoffs:
        msg = "no cutoff was given.\nHint: pass k=10, or k=None for all rows."
        raise ConventionError(msg)
    return tuple(dict.fromkeys(None if cutoff is None else as_cutoff(cutoff) for cutoff in cutoffs))


def _share(flags: Flags) -> float:
    return float(np.mean(flags))
