"""The presets with their variants, and the fields in which a convention differs from the nearest preset."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from rankadapters import presets
from rankadapters.core.declaration.convention import Convention
from rankadapters.statistics.grid import Block, replaced

_VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {  # tools' options that change the convention
    "xgboost": ({"ndcg_exp_gain": False}, {"minus": True}, {"ndcg_exp_gain": False, "minus": True}),
    "catboost": (
        {"type": "Exp"},
        {"denominator": "Position"},
        {"type": "Exp", "denominator": "Position"},
        {"use_weights": False},
    ),
    "trec_eval_8": ({"complete": True},),
    "trec_eval_9": ({"complete": True},),
    "trec_eval_10": ({"complete": True},),
    "ranx": ({"burges": True},),
    "torchmetrics": tuple({"empty_target_action": action} for action in ("pos", "skip", "error")),
}

USUAL_CUTOFFS = (10, 5, 1, 3, 20, 100, None, 50, 15, 2)  # the likeliest first


@cache
def presets_by_label(measure: type[Convention], k: int | None) -> dict[str, Convention]:
    """Return the presets and variants of a measure at a cutoff, by label; the textbook preset is last.

    For a measure without a cutoff, `k` is None.

    >>> from rankadapters.core.measures import NDCG
    >>> list(presets_by_label(NDCG, 10))[:2], presets_by_label(NDCG, 10)["xgboost+empty=0"].empty
    (['sklearn', 'lightgbm'], 0.0)
    """
    by_tool = (presets.make(name, k) for name in presets.names(measure.measure) if name != "textbook")
    variants = (getattr(presets, tool)(k, **options) for tool, chosen in _VARIANTS.items() for options in chosen)
    conventions = [*by_tool, *variants, presets.textbook(k)]
    at_cutoff = [c for c in conventions if type(c) is measure and c.get("k") == k]
    return {convention.name.partition("/")[2]: convention for convention in at_cutoff}


@cache
def starting_presets(measure: type[Convention], k: int | None) -> dict[str, Convention]:
    """Return the presets at a cutoff, by label; if there are none, the presets without a cutoff."""
    return presets_by_label(measure, k) or presets_by_label(measure, None)


def unlikelihood(k: int | None) -> tuple[int, int]:
    """Return a sort key of a cutoff: the usual cutoffs come first, then all other cutoffs in ascending order."""
    return (USUAL_CUTOFFS.index(k) if k in USUAL_CUTOFFS else len(USUAL_CUTOFFS), k or 0)


class NearestPresets(NamedTuple):
    """The presets nearest to a set of conventions, the nearest convention of the set, and the fields that differ."""

    presets: tuple[str, ...]
    convention: Convention
    changes: dict[str, Any]

    @property
    def cost(self) -> tuple[tuple[int, int], tuple[int, int], int]:
        """Sort key: few and likely changes first, then usual cutoffs, then the order of the presets."""
        measure, k = type(self.convention), self.convention.get("k")
        position = list(starting_presets(measure, k)).index(self.presets[0])
        return change_cost(measure, self.changes), unlikelihood(k), position


def nearest_to_blocks(measure: type[Convention], blocks: list[Block]) -> NearestPresets:
    """Return the presets that are nearest to any convention of the blocks."""
    by_cost = sorted((nearest_to_block(measure, block) for block in blocks), key=lambda near: near.cost)
    best = by_cost[0]
    labels = dict.fromkeys(label for near in by_cost if near.changes == best.changes for label in near.presets)
    return best._replace(presets=tuple(labels))


def nearest_to_block(measure: type[Convention], block: Block) -> NearestPresets:
    """Return the presets that are nearest to any convention of a block (all combinations of its fields' values).

    >>> block = {name: (value,) for name, value in presets.yahoo(10).replace(ties="worst").to_dict().items()}
    >>> near = nearest_to_block(type(presets.yahoo(10)), {**block, "k": (10, 11)})
    >>> near.presets, near.convention.k, near.changes
    (('catboost+average=uniform',), 10, {'gain': 'exp2'})
    """
    k = min(block.get("k", (None,)), key=unlikelihood)
    at_cutoff, presets_here = {**block, "k": (k,)} if "k" in block else block, starting_presets(measure, k)
    differing = {
        label: [name for name, values in at_cutoff.items() if getattr(preset, name) not in values]
        for label, preset in presets_here.items()
    }
    for label, names in sorted(differing.items(), key=lambda item: change_cost(measure, item[1])):
        changes = {name: at_cutoff[name][0] for name in names}
        convention = replaced(presets_here[label], changes)
        if convention is not None:
            labels = tuple(same for same, changed in differing.items() if changed == names)
            return NearestPresets(labels, convention, changes)
    label, preset = next(iter(presets_here.items()))
    changes = {name: values[0] for name, values in at_cutoff.items() if getattr(preset, name) != values[0]}
    return NearestPresets((label,), preset.replace(**changes), changes)


def change_cost(measure: type[Convention], names: Iterable[str]) -> tuple[int, int]:
    """Return the number of changed fields, and how unlikely it is that a tool's user changes them."""
    changed, kinds = list(names), measure.declared()
    return len(changed), sum(kinds[name].rarity for name in changed)


def preset_labels(measure: type[Convention], blocks: list[Block]) -> tuple[str, ...]:
    """Return the labels of the presets and variants that are among the conventions of the blocks."""
    labels = {
        label
        for block in blocks
        # k=1 stands for every cutoff, because the other fields of a preset can differ only for k=None.
        for k in {None if k is None else 1 for k in block.get("k", (None,))}
        for label, preset in presets_by_label(measure, k).items()
        if all(getattr(preset, name) in values for name, values in block.items() if name != "k")
    }
    order = dict.fromkeys([*presets_by_label(measure, None), *presets_by_label(measure, 1)])
    return tuple(label for label in order if label in labels)
