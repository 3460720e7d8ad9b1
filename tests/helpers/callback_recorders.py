"""Callbacks of scikit-learn that record their calls, and the values that a ScoringMonitor has recorded."""

from __future__ import annotations


class Recorder:
    """Record the tasks of a fit; ask to stop after `stop_after` rounds."""

    def __init__(self, stop_after=None):
        self.begun, self.ended, self.records, self.stop_after = [], [], [], stop_after
        self.n_open = 0  # fits that were set up but not torn down

    def setup(self, estimator, context):
        self.n_open += 1

    def teardown(self, estimator, context):
        self.n_open -= 1

    def on_fit_task_begin(self, estimator, context):
        self.begun.append((context.task_name, context.task_id, context.max_subtasks))

    def on_fit_task_end(self, estimator, context):
        self.ended.append((context.task_name, context.task_id))
        return self.stop_after is not None and context.task_name == "round" and context.task_id + 1 >= self.stop_after


class ModelRecorder(Recorder):
    """Record also the rows and the model of each task."""

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None):
        if fitted_estimator is not None:
            self.records.append((context.task_name, X, y, metadata, fitted_estimator))
        return super().on_fit_task_end(estimator, context)


def recorded_values(monitor, name="score"):
    """Return the values that a ScoringMonitor has recorded of each round, and its value of the whole fit."""
    rows = monitor.get_logs().data
    [fit] = [row[name] for row in rows if row["task_name"] == "fit"]
    return [row[name] for row in rows if row["task_name"] == "round"], fit
