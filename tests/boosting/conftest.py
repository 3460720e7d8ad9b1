"""LightGBM and XGBoost, one at a time."""

from __future__ import annotations

import pytest

from tests.helpers.boosting import LightGBM, XGBoost


@pytest.fixture(params=[LightGBM, XGBoost], ids=["lightgbm", "xgboost"])
def toolkit(request):
    return request.param()
