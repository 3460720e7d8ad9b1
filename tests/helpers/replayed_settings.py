"""Which settings train the same model under a replayed objective: the tables of docs/objectives.md.

`python -m tests.helpers.replayed_settings` trains under each and writes the tables;
`tests/objectives/test_replayed_settings.py` compares them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

PAGE = Path(__file__).parent.parent.parent / "docs" / "objectives.md"
SAME, DIFFERS, REFUSED, BY_CHANCE = "same", "differs", "refused", "by chance"
NO_SETTING = ("preset", "bias", "data", "callbacks", "by_chance", "alone")  # keys of a trial that are not parameters


class Setting(NamedTuple):
    """One line of a table."""

    trials: list[dict[str, Any]]  # parameters, each trial trained by both objectives
    shown: str = ""  # instead of the names of the parameters
    why: str = ""  # what differs, and the way out
    idle: bool = False  # whether it has no effect on a model of these data, built-in or not

    @property
    def name(self) -> str:
        """How the table calls it."""
        names = {name: None for trial in self.trials for name in trial if name not in NO_SETTING}
        return self.shown or ", ".join(f"`{name}`" for name in names)


class Toolkit(NamedTuple):
    """What the tables need of a toolkit."""

    name: str
    settings: list[Setting]
    elsewhere: dict[str, str]  # parameters that no training tells apart: why, and their names
    train: Callable[[dict[str, Any], bool], np.ndarray]  # margins under a trial, by our objective or the built-in one
    refusals: tuple[type[Exception], ...]
    parameters: Callable[[], set[str]]  # all that the toolkit has


def outcome(toolkit: Toolkit, setting: Setting) -> str:
    """Train every trial by both objectives; all must end alike."""
    found = {_outcome(toolkit, trial) for trial in setting.trials}
    if len(found) > 1:
        msg = f"{setting.name} has several outcomes: {found}"
        raise AssertionError(msg)
    return found.pop()


def _outcome(toolkit: Toolkit, trial: dict[str, Any]) -> str:
    built_in = toolkit.train(trial, False)
    try:
        ours = toolkit.train(trial, True)
    except toolkit.refusals:
        return REFUSED
    if "by_chance" in trial:
        other = toolkit.train(trial | trial["by_chance"], False)
        known = any(np.array_equal(ours, each) for each in (built_in, other))
        return BY_CHANCE if known and not np.array_equal(built_in, other) else DIFFERS
    return SAME if np.array_equal(ours, built_in) else DIFFERS


def row(setting: Setting, found: str) -> str:
    """Write a line of a table."""
    return f"| {setting.name} | {found} | {setting.why} |"


def section(page: str, toolkit: str) -> list[str]:
    """Read the lines of a toolkit's table in the page."""
    begin, end = _marks(toolkit)
    return page.partition(begin)[2].partition(end)[0].strip().splitlines()[2:]


def written(page: str, toolkit: Toolkit) -> str:
    """Write a toolkit's table anew into the page."""
    lines = [f"| {toolkit.name} | model | why |", "|---|---|---|"]
    lines += [row(setting, outcome(toolkit, setting)) for setting in toolkit.settings]
    begin, end = _marks(toolkit.name)
    table = "\n".join([begin, "", *lines, "", end])
    return re.sub(f"{re.escape(begin)}.*{re.escape(end)}", lambda _: table, page, flags=re.DOTALL)


def _marks(toolkit: str) -> tuple[str, str]:
    return (
        f"<!-- {toolkit}'s settings, by python -m tests.helpers.replayed_settings -->",
        f"<!-- end of {toolkit}'s settings -->",
    )


def toolkits() -> Iterator[Toolkit]:
    """LightGBM and XGBoost, each imported when it is its turn."""
    from tests.helpers.replayed_lightgbm import LIGHTGBM

    yield LIGHTGBM
    from tests.helpers.replayed_xgboost import XGBOOST

    yield XGBOOST


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    for each in toolkits():
        text = written(text, each)
    PAGE.write_text(text, encoding="utf-8")
