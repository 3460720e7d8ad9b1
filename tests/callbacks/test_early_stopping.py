"""Early stopping in LightGBM and XGBoost: one callback serves trainings in several threads."""

import pickle
from concurrent.futures import ThreadPoolExecutor

from tests.helpers.metric_trainings import TEXTBOOK
from tests.helpers.rankings import ranking

DATA = {"train": ranking(20, 60), "valid": ranking(21, 40)}
RATES = (0.1, 0.3, 0.5, 1.0)


def trained(toolkit, metric, stop, rate):
    sets = {name: toolkit.dataset(part) for name, part in DATA.items()}
    callbacks = [metric, stop] if toolkit.name == "xgboost" else [stop]
    log = {}
    booster = toolkit.train(metric, sets, rounds=40, log=log, eta=rate, callbacks=callbacks)
    return toolkit.best(booster)[0], len(log["valid"][TEXTBOOK.name])


def test_trainings_in_threads_stop_as_one_after_another(toolkit):
    options = {"verbose": False} if toolkit.name == "lightgbm" else {}
    metric, stop = toolkit.metric(TEXTBOOK), toolkit.adapter.early_stopping(TEXTBOOK, 3, data_name="valid", **options)
    alone = [trained(toolkit, toolkit.metric(TEXTBOOK), pickle.loads(pickle.dumps(stop)), rate) for rate in RATES]
    assert len({rounds for _, rounds in alone}) > 1
    assert min(rounds for _, rounds in alone) < 40
    with ThreadPoolExecutor(len(RATES)) as pool:
        for _ in range(3):
            assert list(pool.map(lambda rate: trained(toolkit, metric, stop, rate), RATES)) == alone
