"""Cutoffs that say the same of queries of some length, of which one is searched."""

from __future__ import annotations

from typing import NamedTuple

from rankadapters.audit.identify.candidates import Cutoffs


class AlikeCutoffs(NamedTuple):
    """Cutoffs searched, by what they say of queries of this length.

    Attributes
    ----------
    alike : list of tuple
        Those for which every query has the same value and is short or not: all beyond the longest query, for one.
    different : tuple
        Those that give values of their own.
    place : list of int
        Which of these each of `alike` has.
    """

    alike: list[Cutoffs]
    different: Cutoffs
    place: list[int]

    @classmethod
    def of(cls, asked: Cutoffs, longest: int) -> AlikeCutoffs:
        """Compare them with the longest query.

        >>> AlikeCutoffs.of((1, 2, 3, 4, None), longest=2)
        AlikeCutoffs(alike=[(1,), (2,), (3, 4), (None,)], different=(1, 2, None), place=[0, 1, 1, 2])
        """
        alike: dict[int | None, list[int | None]] = {}
        for k in asked:
            alike.setdefault(None if k is None else min(k, longest + 1), []).append(k)
        cut = [None if k is None else min(k, longest) for k in alike]
        different = tuple(dict.fromkeys(cut))
        return cls([tuple(ks) for ks in alike.values()], different, [different.index(k) for k in cut])

    @property
    def first(self) -> Cutoffs:
        """One of each that are alike."""
        return tuple(ks[0] for ks in self.alike)
