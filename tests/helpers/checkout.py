"""The folder of this checkout."""

from __future__ import annotations

from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
