"""A warning if a dataset has weights that a convention ignores."""

from __future__ import annotations

from collections.abc import Iterable

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import choices, warn_caller

COUNTED = ("query_weight", "row_weight")  # weightings that use a toolkit's weights


class IgnoredWeights:
    """Warns once if weights are ignored; `ra.evaluate` refuses them, but here the training may need them."""

    def __init__(self) -> None:
        self._warned = False

    def warn(self, conventions: Iterable[Convention]) -> None:
        """Warn if some conventions ignore the weights of a dataset, unless this object has warned before."""
        ignoring = [convention for convention in conventions if convention.weighting not in COUNTED]
        if not ignoring or self._warned:
            return
        self._warned = True
        averages = choices(dict.fromkeys(convention.average for convention in ignoring))
        msg = (
            f"the data has weights, but {', '.join(convention.name for convention in ignoring)} ignores them "
            f"(average={averages}).\n"
            "Hint: convention.replace(average='query') where the measure has it, or evaluation sets without weights."
        )
        warn_caller(msg)
