"""The toolkits that parity checks can ask: which are installed, and the convention of each for a measure."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from typing import NamedTuple

from rankadapters import presets
from rankadapters.core.declaration.arguments import names, word
from rankadapters.core.declaration.convention import Convention
from rankadapters.parity.toolkit import Toolkit
from rankadapters.presets.texts import tool_name
from rankadapters.statistics.grid import measure_named

# The packages that training with each toolkit needs, its own first. A toolkit's name is that of its extra and presets.
TOOLKITS = {
    "sklearn": ("sklearn",),
    "lightgbm": ("lightgbm", "sklearn"),
    "xgboost": ("xgboost", "sklearn"),
    "catboost": ("catboost",),
}


class Availability(NamedTuple):
    """Whether a toolkit can be used: its version, or a note that says why not."""

    version: str | None
    note: str = ""


def load(name: str) -> Toolkit:
    """Import an installed toolkit's adapter."""
    toolkit: Toolkit = importlib.import_module(f"rankadapters.{name}.parity").TOOLKIT
    return toolkit


def usable(toolkits: str | Iterable[str] | None, n_packages: int | None = None) -> dict[str, Availability]:
    """Return which toolkits can be used, checked by importing the first `n_packages` packages of each, or all."""
    listed = list(TOOLKITS) if toolkits is None else names("toolkits", toolkits, hint="toolkits=['lightgbm']")
    chosen = [word("toolkits", tool_name(name), TOOLKITS) for name in listed]
    return {name: _availability(name, TOOLKITS[name][:n_packages]) for name in chosen}


def _availability(name: str, packages: tuple[str, ...]) -> Availability:
    for package in packages:
        try:
            importlib.import_module(package)
        except ModuleNotFoundError as error:
            missing = error.name or package
            return Availability(None, f'{missing} is not installed: pip install "rankadapters[{name}]"')
        except Exception as error:  # noqa: BLE001 - a broken installation may raise anything, such as XGBoostError
            message = " ".join(str(error).split())
            return Availability(None, f"{package} is installed but cannot be imported: {message:.200}")
    return Availability(str(sys.modules[packages[0]].__version__))


def own_convention(name: str, measure: str, k: int) -> Convention | None:
    """Return a toolkit's preset of a measure, which is named in our words or the toolkit's; None if there is none.

    A preset of given pairs becomes one of pairs made from labels.
    """
    measure_name = measure_named(measure).measure
    methods = sorted(presets.TOOLS[name].measures(), key=lambda method: method != measure)
    conventions = [presets.make(preset, k) for preset in (name, *(f"{name}.{method}" for method in methods))]
    own_preset = next((convention for convention in conventions if convention.measure == measure_name), None)
    if own_preset is None or own_preset.get("pairs") != "given":
        return own_preset
    return own_preset.replace(pairs="label", average="query")
