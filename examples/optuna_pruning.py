"""Tune XGBRanker with Optuna: cross_val_score is the objective, and poor trials are pruned during training.

After every round of every fold, the declared metric of held-out queries is reported to the trial. Needs optuna.
"""

import itertools

import optuna
import sklearn
import xgboost as xgb
from sklearn.model_selection import cross_val_score

import rankadapters as ra

TRIALS, ROUNDS, FOLDS = 12, 10, 3

conv = ra.presets.textbook(10)
train, test = ra.datasets.mq2008_like(random_state=0, n_train_queries=90, n_test_queries=45)
splitter = ra.sklearn.QueryShuffleSplit(1, test_size=0.2, random_state=0)
[(fit_rows, held_out_rows)] = splitter.split(train.X, train.labels, train.qid)
held_out = (train.X[held_out_rows], train.labels[held_out_rows], train.qid[held_out_rows])


class Prune(xgb.callback.TrainingCallback):
    """Report the metric that EvalCallback logged for each round, and prune the trial if Optuna asks for it."""

    def __init__(self, trial, steps):
        super().__init__()
        self.trial, self.steps = trial, steps  # steps are counted across folds

    def __deepcopy__(self, memo):  # scikit-learn clones the ranker for every fold, but all folds report to one trial
        return type(self)(self.trial, self.steps)

    def after_iteration(self, model, epoch, evals_log):  # noqa: ARG002 - XGBoost's signature
        self.trial.report(evals_log["held out"][conv.name][-1], next(self.steps))
        if self.trial.should_prune():
            raise optuna.TrialPruned
        return False


def objective(trial):
    ranker = xgb.XGBRanker(
        n_estimators=ROUNDS,
        max_depth=trial.suggest_int("max_depth", 1, 6),
        learning_rate=trial.suggest_float("learning_rate", 0.001, 0.5, log=True),
        n_jobs=1,
        callbacks=[ra.xgboost.EvalCallback(conv, [(held_out, "held out")]), Prune(trial, itertools.count())],
    ).set_fit_request(qid=True)
    scores = cross_val_score(
        ranker,
        train.X[fit_rows],
        train.labels[fit_rows],
        params={"qid": train.qid[fit_rows]},
        cv=ra.sklearn.StratifiedQueryKFold(FOLDS),
        scoring=ra.sklearn.query_scorer(conv),
        error_score="raise",  # otherwise scikit-learn counts a pruned trial as a failed fold
    )
    return scores.mean()


optuna.logging.set_verbosity(optuna.logging.WARNING)
study = optuna.create_study(
    direction="maximize" if conv.higher_is_better else "minimize",
    sampler=optuna.samplers.TPESampler(seed=0),
    pruner=optuna.pruners.MedianPruner(n_startup_trials=3, n_warmup_steps=2),
)
with sklearn.config_context(enable_metadata_routing=True):
    study.optimize(objective, n_trials=TRIALS)

completed = study.get_trials(states=[optuna.trial.TrialState.COMPLETE])
print(f"{len(completed)} of {TRIALS} trials ran to the end; the others were pruned")
ranker = xgb.XGBRanker(n_estimators=ROUNDS, n_jobs=1, **study.best_params).fit(train.X, train.labels, qid=train.qid)
print(f"best in cross-validation: {study.best_value:.4f} with {study.best_params}")
print(f"on the test queries: {ra.evaluate(test.labels, ranker.predict(test.X), conv, qid=test.qid)}")
