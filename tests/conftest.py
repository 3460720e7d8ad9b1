"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# How long an example takes, on a machine that does other things too, is not a property of what is tested.
settings.register_profile("rankadapters", deadline=None)
settings.load_profile("rankadapters")
