"""The presets with their variants as places in the grid, and how far a convention is from the nearest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from rankadapters.core import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError
from rankadapters.statistics.grid import Block

_VARIANTS: tuple[Callable[[int | None], Convention], ...] = (
    lambda k: presets.xgboost(k, ndcg_exp_gain=False),
    lambda k: presets.xgboost(k, minus=True),
    lambda k: presets.xgboost(k, ndcg_exp_gain=False, minus=True),
    lambda k: presets.catboost(k, type="Exp"),
    lambda k: presets.catboost(k, denominator="Position"),
    lambda k: presets.catboost(k, type="Exp", denominator="Position"),
    lambda k: presets.catboost(k, use_weights=False),
    lambda k: presets.trec_eval_8(k, complete=True),
    lambda k: presets.trec_eval_9(k, complete=True),
    lambda k: presets.trec_eval_10(k, complete=True),
    lambda k: presets.ranx(k, burges=True),
    lambda k: presets.torchmetrics(k, empty_target_action="pos"),
    lambda k: presets.torchmetrics(k, empty_target_action="skip"),
    lambda k: presets.torchmetrics(k, empty_target_action="error"),
)

USUAL = (10, 5, 1, 3, 20, 100, None, 50, 15, 2)  # cutoffs in the order in which they are likely


@cache
def known(measure: type[Convention], k: int | None) -> dict[str, Convention]:
    """Give every preset and variant of a measure at a cutoff by its label: the tools, their variants, the definition.

    The definition, which is not a tool's, stands last. Of a measure without a cutoff, `k` is None.

    >>> from rankadapters.core.measures import NDCG
    >>> list(known(NDCG, 10))[:2], known(NDCG, 10)["xgboost+empty=0"].empty
    (['sklearn', 'lightgbm'], 0.0)
    """
    names = [name for name in presets.names(measure.measure) if name != "textbook"]
    made = [*(presets.make(name, k) for name in names), *(make(k) for make in _VARIANTS), presets.textbook(k)]
    found = [one for one in made if type(one) is measure and getattr(one, "k", None) == k]
    return {convention.name.partition("/")[2]: convention for convention in found}


@cache
def starts(measure: type[Convention], k: int | None) -> dict[str, Convention]:
    """Give what is known at a cutoff; where no tool cuts, what is known without one."""
    return known(measure, k) or known(measure, None)


def likely(k: int | None) -> tuple[int, int]:
    """Sort key of cutoffs: the usual ones, then by size."""
    return (USUAL.index(k) if k in USUAL else len(USUAL), k or 0)


@dataclass(frozen=True, slots=True)
class NearestPresets:
    """The presets that need the fewest fields changed to be among some conventions, and the change."""

    presets: tuple[str, ...]
    convention: Convention
    changes: dict[str, Any]

    @property
    def cost(self) -> tuple[tuple[int, int], tuple[int, int], int]:
        """Sort key: fewest changes, of the fields that tools leave to their users, at the likeliest cutoff."""
        measure, k = type(self.convention), getattr(self.convention, "k", None)
        place = list(starts(measure, k)).index(self.presets[0])
        return _cost(measure, self.changes), likely(k), place


def nearest_of(measure: type[Convention], blocks: list[Block]) -> NearestPresets:
    """Find the presets that are nearest to any of several blocks."""
    found = sorted((nearest(measure, block) for block in blocks), key=lambda near: near.cost)
    best = found[0]
    labels = dict.fromkeys(label for near in found if near.changes == best.changes for label in near.presets)
    return replace(best, presets=tuple(labels))


def nearest(measure: type[Convention], block: Block) -> NearestPresets:
    """Find the presets that are nearest to a block.

    >>> block = {name: (value,) for name, value in presets.yahoo(10).replace(ties="worst").to_dict().items()}
    >>> found = nearest(type(presets.yahoo(10)), {**block, "k": (10, 11)})
    >>> found.presets, found.convention.k, found.changes
    (('catboost+average=uniform',), 10, {'gain': 'exp2'})
    """
    k = min(block.get("k", (None,)), key=likely)
    wanted, known_here = {**block, "k": (k,)} if "k" in block else block, starts(measure, k)
    missed = {
        label: [name for name, values in wanted.items() if getattr(preset, name) not in values]
        for label, preset in known_here.items()
    }
    for label in sorted(missed, key=lambda label: _cost(measure, missed[label])):
        changes = {name: wanted[name][0] for name in missed[label]}
        convention = _changed(known_here[label], changes)
        if convention is not None:
            alike = tuple(other for other, names in missed.items() if names == missed[label])
            return NearestPresets(alike, convention, changes)
    label, preset = next(iter(known_here.items()))
    changes = {name: values[0] for name, values in wanted.items() if getattr(preset, name) != values[0]}
    return NearestPresets((label,), preset.replace(**changes), changes)


def _changed(preset: Convention, changes: dict[str, Any]) -> Convention | None:
    """Change fields of a preset; None where these do not go together with the others, though a part of a block."""
    try:
        return preset.replace(**changes) if changes else preset
    except ConventionError:
        return None


def _cost(measure: type[Convention], names: Iterable[str]) -> tuple[int, int]:
    """Number of changed fields, then how unlikely it is that a tool's user changed them."""
    several, kinds = list(names), measure.declared()
    return len(several), sum(kinds[name].rarity for name in several)


def named(measure: type[Convention], blocks: list[Block]) -> tuple[str, ...]:
    """Name the presets and variants that lie in one of the blocks."""
    found = {
        label
        for block in blocks
        # All but the cutoff of a preset is the same for every cutoff, except for having none.
        for k in {None if k is None else 1 for k in block.get("k", (None,))}
        for label, preset in known(measure, k).items()
        if all(getattr(preset, name) in values for name, values in block.items() if name != "k")
    }
    order = dict.fromkeys([*known(measure, None), *known(measure, 1)])
    return tuple(label for label in order if label in found)
