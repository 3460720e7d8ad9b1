"""The tables of docs/objectives.md say what training gives, for every setting that a toolkit has."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.helpers.replayed_settings import PAGE, outcome, row, section
from tests.helpers.tables import for_each

pytest.importorskip("pandas")
TABLED = {"LightGBM": "4.7", "XGBoost": "3.2"}  # the versions whose parameters the tables list


@cache
def toolkit(name):
    """Return a toolkit that trains each trial of its settings once."""
    if name == "LightGBM":
        pytest.importorskip("lightgbm")
        from tests.helpers.replayed_lightgbm import LIGHTGBM as FOUND
    else:
        pytest.importorskip("xgboost")
        from tests.helpers.replayed_xgboost import XGBOOST as FOUND
    models = {}

    def train(trial, ours):
        if (id(trial), ours) not in models:
            models[id(trial), ours] = FOUND.train(trial, ours), trial  # kept, so that no other trial gets its id
        return models[id(trial), ours][0]

    return FOUND._replace(train=train)


def lines(name):
    return section(PAGE.read_text(encoding="utf-8"), name)


@pytest.fixture(params=TABLED)
def trained(request):
    return toolkit(request.param)


@for_each(("name", "line"), [(name, line) for name in TABLED for line in lines(name)])
def test_a_line_of_the_tables_is_what_training_gives(name, line):
    found = toolkit(name)
    settings = {setting.name: setting for setting in found.settings}
    setting = settings.get(line.split(" | ")[0].removeprefix("| "))
    if setting is None and "from 3.4 on one generator draws all this" in line:
        pytest.skip("tests/xgboost/test_pair_draws.py says what XGBoost 3.4 does")
    assert line == row(setting, outcome(found, setting))


def test_the_tables_hold_every_setting(trained):
    assert {setting.name for setting in trained.settings} <= {
        line.split(" | ")[0].removeprefix("| ") for line in lines(trained.name)
    }


def test_each_setting_changes_the_built_in_model_unless_it_is_idle(trained):
    plain = trained.train({}, False)
    for setting in trained.settings:
        changed = [not np.array_equal(trained.train(trial, False), plain) for trial in setting.trials]
        assert any(changed) == (not setting.idle), setting.name


def test_every_parameter_of_the_toolkit_is_tried_or_stands_elsewhere(trained):
    version = __import__(trained.name.lower()).__version__
    if not version.startswith(TABLED[trained.name]):
        pytest.skip(f"{trained.name} {version} may have other parameters")
    tried = {
        name for setting in trained.settings for trial in setting.trials for name in trial | trial.get("preset", {})
    }
    elsewhere = set(" ".join(trained.elsewhere.values()).split())
    assert trained.parameters() - tried == elsewhere - tried
