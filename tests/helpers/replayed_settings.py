"""The tables of docs/reference/objectives.md: which settings train the same model with a replayed objective.

`python -m tests.helpers.replayed_settings` trains with each setting and writes the tables;
`tests/objectives/test_replayed_settings.py` compares them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from tests.helpers.checkout import CHECKOUT

PAGE = CHECKOUT / "docs" / "reference" / "objectives.md"
SAME, DIFFERS, REFUSED, BY_CHANCE = "same", "differs", "refused", "by chance"
NO_SETTING = (
    "preset",
    "bias",
    "data",
    "callbacks",
    "by_chance",
    "replay_only",
)  # keys of a trial that are not parameters


class Setting(NamedTuple):
    """One line of a table."""

    trials: list[dict[str, Any]]  # parameters; both objectives train each trial
    title: str = ""  # replaces the names of the parameters
    why: str = ""  # what differs, and what to do about it
    no_effect: bool = False  # whether it does not change a model of these data

    @property
    def name(self) -> str:
        """The name in the table."""
        names = {name: None for trial in self.trials for name in trial if name not in NO_SETTING}
        return self.title or ", ".join(f"`{name}`" for name in names)


class Toolkit(NamedTuple):
    """The settings of a toolkit and its training."""

    name: str
    settings: list[Setting]
    untried: dict[str, str]  # parameters that no trial can distinguish, by reason
    train: Callable[[dict[str, Any], bool], np.ndarray]  # scores of a trial with our objective or the built-in one
    refusals: tuple[type[Exception], ...]
    parameters: Callable[[], set[str]]  # names of all parameters of the toolkit


def outcome(toolkit: Toolkit, setting: Setting) -> str:
    """Train every trial with both objectives, check that all trials agree, and return their outcome."""
    outcomes = {_outcome(toolkit, trial) for trial in setting.trials}
    if len(outcomes) > 1:
        msg = f"{setting.name} has several outcomes: {outcomes}"
        raise AssertionError(msg)
    return outcomes.pop()


def _outcome(toolkit: Toolkit, trial: dict[str, Any]) -> str:
    built_in = toolkit.train(trial, False)
    try:
        ours = toolkit.train(trial, True)
    except toolkit.refusals:
        return REFUSED
    if "by_chance" in trial:
        changed = toolkit.train(trial | trial["by_chance"], False)
        is_known = any(np.array_equal(ours, scores) for scores in (built_in, changed))
        return BY_CHANCE if is_known and not np.array_equal(built_in, changed) else DIFFERS
    return SAME if np.array_equal(ours, built_in) else DIFFERS


def table_row(setting: Setting, result: str) -> str:
    """Return a line of a table."""
    return f"| {setting.name} | {result} | {setting.why} |"


def table_rows(page: str, toolkit: str) -> list[str]:
    """Return the lines of a toolkit's table in the page, without its head."""
    begin, end = _marks(toolkit)
    return page.partition(begin)[2].partition(end)[0].strip().splitlines()[2:]


def with_table(page: str, toolkit: Toolkit) -> str:
    """Return the page with a new table of a toolkit."""
    lines = [f"| {toolkit.name} | model | why |", "|---|---|---|"]
    lines += [table_row(setting, outcome(toolkit, setting)) for setting in toolkit.settings]
    begin, end = _marks(toolkit.name)
    table = "\n".join([begin, "", *lines, "", end])
    return re.sub(f"{re.escape(begin)}.*{re.escape(end)}", lambda _: table, page, flags=re.DOTALL)


def _marks(toolkit: str) -> tuple[str, str]:
    return (
        f"<!-- {toolkit}'s settings, by python -m tests.helpers.replayed_settings -->",
        f"<!-- end of {toolkit}'s settings -->",
    )


def toolkits() -> Iterator[Toolkit]:
    """Yield LightGBM and XGBoost; each is imported only when its turn comes."""
    from tests.helpers.replayed_lightgbm import LIGHTGBM

    yield LIGHTGBM
    from tests.helpers.replayed_xgboost import XGBOOST

    yield XGBOOST


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    for toolkit in toolkits():
        text = with_table(text, toolkit)
    PAGE.write_text(text, encoding="utf-8")
