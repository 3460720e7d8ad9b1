"""The presets with their variants as places in the grid, and how far a convention is from the nearest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from rankadapters.core import presets
from rankadapters.core.measures import NDCG

Block = dict[str, tuple[Any, ...]]

_VARIANTS: tuple[Callable[[int | None], NDCG], ...] = (
    lambda k: presets.xgboost(k, exp_gain=False),
    lambda k: presets.xgboost(k, minus=True),
    lambda k: presets.xgboost(k, exp_gain=False, minus=True),
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
def known(k: int | None) -> dict[str, NDCG]:
    """Give every preset and variant by its label: the tools, their variants, then the definition, which is no tool.

    >>> list(known(10))[:2], known(10)["xgboost+empty=0"].empty
    (['sklearn', 'lightgbm'], 0.0)
    """
    names = [name for name in presets.names() if name != "textbook"]
    made = [*(presets.make(name, k) for name in names), *(make(k) for make in _VARIANTS), presets.textbook(k)]
    found = [convention for convention in made if isinstance(convention, NDCG)]
    return {convention.name.partition("/")[2]: convention for convention in found}


def likely(k: int | None) -> tuple[int, int]:
    """Sort key of cutoffs: the usual ones, then by size."""
    return (USUAL.index(k) if k in USUAL else len(USUAL), k or 0)


@dataclass(frozen=True, slots=True)
class Near:
    """The presets that need the fewest fields changed to be among some conventions, and the change."""

    presets: tuple[str, ...]
    convention: NDCG
    changes: dict[str, Any]

    @property
    def cost(self) -> tuple[tuple[int, int], tuple[int, int], int]:
        """Sort key: fewest changes, of the fields that tools leave to their users, at the likeliest cutoff."""
        return _cost(self.changes), likely(self.convention.k), list(known(None)).index(self.presets[0])


def nearest_of(blocks: list[Block]) -> Near:
    """Find the presets that are nearest to any of several blocks."""
    found = sorted(map(nearest, blocks), key=lambda near: near.cost)
    best = found[0]
    labels = dict.fromkeys(label for near in found if near.changes == best.changes for label in near.presets)
    return replace(best, presets=tuple(labels))


def nearest(block: Block) -> Near:
    """Find the presets that are nearest to a block.

    >>> block = {name: (value,) for name, value in presets.yahoo(10).replace(ties="worst").to_dict().items()}
    >>> found = nearest({**block, "k": (10, 11)})
    >>> found.presets, found.convention.k, found.changes
    (('catboost+average=uniform',), 10, {'gain': 'exp2'})
    """
    k = min(block["k"], key=likely)
    missed = {
        label: [name for name, values in block.items() if name != "k" and getattr(preset, name) not in values]
        for label, preset in known(k).items()
    }
    best = min(missed.values(), key=_cost)
    changes = {name: block[name][0] for name in best}
    labels = tuple(label for label, names in missed.items() if names == best)
    preset = known(k)[labels[0]]
    return Near(labels, preset.replace(**changes) if changes else preset, changes)


def _cost(names: Iterable[str]) -> tuple[int, int]:
    """Number of changed fields, then how unlikely it is that a tool's user changed them."""
    several, kinds = list(names), NDCG.declared()
    return len(several), sum(kinds[name].rarity for name in several)


def named(blocks: list[Block]) -> tuple[str, ...]:
    """Name the presets and variants that lie in one of the blocks."""
    found = {
        label
        for block in blocks
        # All but the cutoff of a preset is the same for every cutoff, except for having none.
        for k in {None if k is None else 1 for k in block["k"]}
        for label, preset in known(k).items()
        if all(getattr(preset, name) in values for name, values in block.items() if name != "k")
    }
    return tuple(label for label in known(None) if label in found)
