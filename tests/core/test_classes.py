"""Frozen dataclasses refuse every change, and two threads may compute a lazy property at once."""

from __future__ import annotations

import dataclasses
import re
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from threading import Barrier

import pytest

from rankadapters.core.classes import lazy_property
from tests.helpers.checkout import CHECKOUT
from tests.helpers.python_processes import TIMEOUT

FROZEN = re.compile(r"@dataclass\([^)]*frozen=True[^)]*\)\nclass (\w+)")
CLASSES = [
    (".".join(path.relative_to(CHECKOUT).with_suffix("").parts), name)
    for path in sorted((CHECKOUT / "rankadapters").rglob("*.py"))
    for name in FROZEN.findall(path.read_text("utf-8"))
]


@pytest.mark.parametrize(("module", "name"), CLASSES, ids=str)
def test_a_frozen_class_refuses_changes_of_any_name(module, name):
    cls = getattr(import_module(module), name)
    if "__slots__" in vars(cls):  # else dataclass itself refuses them
        for change in (cls.__setattr__, cls.__delattr__):
            with pytest.raises(dataclasses.FrozenInstanceError, match=r"is frozen, so 'zz' cannot be set or deleted"):
                change(object.__new__(type("Value", (), {})), "zz", 1)


class Reading:
    """Its value is only computed once two threads are in the computation."""

    def __init__(self):
        self.barrier = Barrier(2, timeout=TIMEOUT)

    @lazy_property
    def value(self):
        """What is read."""
        self.barrier.wait()
        return object()


def test_two_threads_compute_a_lazy_property_at_once_and_keep_one_value():
    reading = Reading()
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: reading.value, range(2))
    assert first is second is reading.value
    assert Reading.value.__doc__ == "What is read."
