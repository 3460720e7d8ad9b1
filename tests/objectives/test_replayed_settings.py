"""The tables of docs/reference/objectives.md: each line agrees with trained models, and every setting has a line."""

from functools import cache

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.checkout import CHECKOUT

pytest.importorskip("pandas")
pytestmark = pytest.mark.long
TOOLKITS = ("LightGBM", "XGBoost")


@cache
def load_toolkit(name):
    """Return a toolkit that trains each trial of its settings once."""
    if name == "LightGBM":
        pytest.importorskip("lightgbm")
        from tests.objectives.replayed_lightgbm import LIGHTGBM as TOOLKIT
    else:
        pytest.importorskip("xgboost")
        from tests.objectives.replayed_xgboost import XGBOOST as TOOLKIT
    models = {}

    def train(trial, by_our_objective):
        key = id(trial), by_our_objective
        if key not in models:
            models[key] = TOOLKIT.train(trial, by_our_objective), trial  # keeping the trial alive keeps its id unique
        return models[key][0]

    return TOOLKIT._replace(train=train)


def table_lines(name):
    """Return the lines of a toolkit's table, without its head: setting, outcome and reason."""
    page = (CHECKOUT / "docs" / "reference" / "objectives.md").read_text(encoding="utf-8")
    table = page.partition(f"<!-- {name}'s settings, ")[2].partition(f"<!-- end of {name}'s settings -->")[0]
    return [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]


def outcome(toolkit, trial):
    """Train a trial with both objectives, and return the word of the table."""
    built_in = toolkit.train(trial, False)
    try:
        ours = toolkit.train(trial, True)
    except toolkit.refusals:
        return "refused"
    if "by_chance" in trial:
        changed = toolkit.train(trial | trial["by_chance"], False)
        is_known = any(np.array_equal(ours, scores) for scores in (built_in, changed))
        return "by chance" if is_known and not np.array_equal(built_in, changed) else "differs"
    return "same" if np.array_equal(ours, built_in) else "differs"


@pytest.mark.parametrize(("name", "line"), [(name, line) for name in TOOLKITS for line in table_lines(name)])
def test_every_line_of_the_tables_agrees_with_training(name, line):
    toolkit = load_toolkit(name)
    settings = {setting.name: setting for setting in toolkit.settings}
    if line[0] not in settings and "from 3.4 on one generator draws all this" in line[-1]:
        pytest.skip("XGBoost 3.4 draws differently")
    assert {outcome(toolkit, trial) for trial in settings[line[0]].trials} == {line[1]}


@pytest.mark.parametrize("name", TOOLKITS)
def test_the_tables_list_every_setting(name):
    assert {setting.name for setting in load_toolkit(name).settings} <= {line[0] for line in table_lines(name)}


@pytest.mark.parametrize("name", TOOLKITS)
def test_presets_convert_to_the_parameters_that_they_are_made_of(name):
    toolkit = load_toolkit(name)
    presets = [trial for setting in toolkit.settings for trial in setting.trials if "preset" in trial]
    assert len(presets) > 5
    for trial in presets:
        objective = trial.get("objective", next(iter(toolkit.presets)))
        native = getattr(ra, name.lower()).native_objective(toolkit.presets[objective](**trial["preset"]))
        assert native.items() >= {"objective": objective, **trial["preset"]}.items()


@pytest.mark.parametrize("name", TOOLKITS)
def test_each_setting_changes_the_built_in_model_unless_it_is_idle(name):
    toolkit = load_toolkit(name)
    unchanged = toolkit.train({}, False)
    for setting in toolkit.settings:
        changed = [not np.array_equal(toolkit.train(trial, False), unchanged) for trial in setting.trials]
        assert any(changed) == (not setting.no_effect), setting.name
