"""Every measure is in all lists that need it: what is forgotten is named here, with the place where it belongs."""

from __future__ import annotations

import re
from importlib import import_module
from pkgutil import iter_modules

import pytest

import rankadapters as ra
from rankadapters import presets
from rankadapters.core import measures
from tests.helpers.checkout import CHECKOUT
from tests.oracles import ORACLES

MODULES = [import_module(f"{measures.__name__}.{module.name}") for module in iter_modules(measures.__path__)]
CLASSES = {
    kind.__name__: kind
    for module in MODULES
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, ra.Convention) and "measure" in vars(kind)
}
SPECIFICATION = (CHECKOUT / "docs" / "spec.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_measure_is_in_every_list(name):
    kind, word = CLASSES[name], CLASSES[name].measure
    has_preset = any(declared.measure is kind for tool in presets.TOOLS.values() for declared in tool.presets.values())
    has_formula = re.search(rf"^- \*\*(.*, )?{name}(, .*)?\*\*: ", SPECIFICATION, re.MULTILINE)
    has_example = re.search(rf'^{{"convention": "{word}[@/]', SPECIFICATION, re.MULTILINE)
    places = {
        f"rankadapters/core/measures/__init__.py: `from {kind.__module__} import {name} as {name}`":
            measures.MEASURES.get(word) is kind,
        f"the file of a tool in rankadapters/presets: a preset, `@preset({name}, ...)`": has_preset,
        f"tests/oracles/__init__.py: `{word!r}: ...` in ORACLES, and its function": word in ORACLES,
        f"docs/spec.md: the formula, `- **{name}**: ...`": has_formula,
        "docs/spec_examples.py: an example; then `python docs/interchange.py`": has_example,
    }  # fmt: skip
    missing = [place for place, is_there in places.items() if not is_there]
    assert not missing, "\n".join([f"{name} is missing in", *missing])
