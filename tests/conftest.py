"""What holds for all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# Threads of OpenMP that have nothing to do sleep. As they come they spin, which takes the other core from whatever else
# the machine does: with two test runs side by side, scikit-learn's and LightGBM's trainings took five times as long.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# How long an example takes, on a machine that does other things too, is not a property of what is tested.
settings.register_profile("rankadapters", deadline=None)
settings.load_profile("rankadapters")
