"""A line of the tables of docs/reference/objectives.md, and a toolkit whose settings the lines list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

NO_SETTING = ("preset", "bias", "data", "callbacks", "by_chance", "replay_only")  # keys of a trial beside parameters


class Setting(NamedTuple):
    """One line of a table."""

    trials: list[dict[str, Any]]  # parameters; both objectives train each trial
    title: str = ""  # replaces the names of the parameters
    no_effect: bool = False  # whether it does not change a model of these data

    @property
    def name(self) -> str:
        names = {name: None for trial in self.trials for name in trial if name not in NO_SETTING}
        return self.title or ", ".join(f"`{name}`" for name in names)


class Toolkit(NamedTuple):
    """The settings of a toolkit and its training."""

    name: str
    settings: list[Setting]
    presets: dict[str, Callable[..., Any]]  # by the name of the built-in objective
    train: Callable[[dict[str, Any], bool], np.ndarray]  # scores of a trial with our objective or the built-in one
    refusals: tuple[type[Exception], ...]
