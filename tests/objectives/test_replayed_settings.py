"""The tables of docs/reference/objectives.md: each line agrees with trained models, and every setting has a line."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.helpers.replayed_settings import PAGE, outcome, table_row, table_rows
from tests.helpers.tables import for_each

pytest.importorskip("pandas")
VERSIONS = {"LightGBM": "4.7", "XGBoost": "3.2"}  # the tables list the parameters of these versions


@cache
def load_toolkit(name):
    """Return a toolkit that trains each trial of its settings once."""
    if name == "LightGBM":
        pytest.importorskip("lightgbm")
        from tests.helpers.replayed_lightgbm import LIGHTGBM as TOOLKIT
    else:
        pytest.importorskip("xgboost")
        from tests.helpers.replayed_xgboost import XGBOOST as TOOLKIT
    models = {}

    def train(trial, by_our_objective):
        key = id(trial), by_our_objective
        if key not in models:
            models[key] = TOOLKIT.train(trial, by_our_objective), trial  # keeping the trial alive keeps its id unique
        return models[key][0]

    return TOOLKIT._replace(train=train)


def table_lines(name):
    return table_rows(PAGE.read_text(encoding="utf-8"), name)


@pytest.fixture(params=VERSIONS)
def toolkit(request):
    return load_toolkit(request.param)


@for_each(("name", "line"), [(name, line) for name in VERSIONS for line in table_lines(name)])
def test_every_line_of_the_tables_agrees_with_training(name, line):
    toolkit = load_toolkit(name)
    settings = {setting.name: setting for setting in toolkit.settings}
    setting = settings.get(line.split(" | ")[0].removeprefix("| "))
    if setting is None and "from 3.4 on one generator draws all this" in line:
        pytest.skip("tests/xgboost/test_pair_draws.py says what XGBoost 3.4 does")
    assert line == table_row(setting, outcome(toolkit, setting))


def test_the_tables_list_every_setting(toolkit):
    assert {setting.name for setting in toolkit.settings} <= {
        line.split(" | ")[0].removeprefix("| ") for line in table_lines(toolkit.name)
    }


def test_each_setting_changes_the_built_in_model_unless_it_is_idle(toolkit):
    unchanged = toolkit.train({}, False)
    for setting in toolkit.settings:
        changed = [not np.array_equal(toolkit.train(trial, False), unchanged) for trial in setting.trials]
        assert any(changed) == (not setting.no_effect), setting.name


def test_every_parameter_of_the_toolkit_is_tried_or_covered_elsewhere(toolkit):
    version = __import__(toolkit.name.lower()).__version__
    if not version.startswith(VERSIONS[toolkit.name]):
        pytest.skip(f"{toolkit.name} {version} may have other parameters")
    tried = {
        name for setting in toolkit.settings for trial in setting.trials for name in trial | trial.get("preset", {})
    }
    untried = set(" ".join(toolkit.untried.values()).split())
    assert toolkit.parameters() - tried == untried - tried
