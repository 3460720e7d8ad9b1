"""Format numbers, shares and field values for tables and sentences."""

from __future__ import annotations

from rankadapters.core.declaration.fields import spell_number
from rankadapters.evaluation.table import Cell


def signed(*values: float) -> Cell:
    """Format a difference, or the ends of its interval, with signs.

    >>> signed(0.25), signed(-1e-9, 0.5)
    ('+0.250000', '0.000000 to +0.500000')
    """
    return Cell(" to ".join(["{:+.6f}"] * len(values)), *values)


def spelled(value: object) -> str:
    """Format a field's value as a signature spells it; None becomes `all`."""
    return "all" if value is None else spell_number(value) if isinstance(value, float) else str(value)


def percent(share: float) -> str:
    """Format a fraction such as 0.25 as a percentage.

    >>> percent(0.28125)
    '28.1 %'
    """
    return f"{round(100 * share, 1) + 0.0:.1f} %"  # + 0.0 turns -0.0 into 0.0
