"""Record correlations of scipy, pandas and polars: `python -m tests.record_correlations` writes their golden file."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FILE = Path(__file__).parent / "golden" / "correlations.json"

Column = NDArray[Any]
Correlate = Callable[[Any, Column, Column], float]  # takes the library's module, labels and scores


def pandas_corr(pd: Any, labels: Column, scores: Column, method: str) -> float:
    """Return the correlation of one group, from `DataFrameGroupBy.corr`."""
    frame = pd.DataFrame({"qid": 0, "label": labels, "score": scores})
    return float(frame.groupby("qid")[["label", "score"]].corr(method=method).iloc[0, 1])


def polars_corr(pl: Any, labels: Column, scores: Column, method: str) -> float:
    """Return the correlation of one group, from an aggregation."""
    frame = pl.DataFrame({"qid": np.zeros(labels.size, int), "label": labels, "score": scores})
    return float(frame.group_by("qid").agg(pl.corr("label", "score", method=method))["label"].item())


def scipy_pearson(scipy_stats: Any, labels: Column, scores: Column) -> float:
    """Return `pearsonr`, or NaN for a single row, which it refuses."""
    return float(scipy_stats.pearsonr(labels, scores)[0]) if labels.size > 1 else math.nan


class Call(NamedTuple):
    """A call of a library that computes the value of one of our presets.

    Attributes
    ----------
    preset : str
        The text of the preset.
    correlate : callable
        Computes the number from the library's module, labels and scores.
    tolerance : float
        Error of the library's number: a few units in the last place, more if it loses digits far from 0.
    """

    preset: str
    correlate: Correlate
    tolerance: float = 4e-15


METHODS = ("spearman", "kendall", "pearson")
CALLS: dict[str, list[Call]] = {  # by the module that a call takes
    "scipy.stats": [
        Call("scipy.spearmanr", lambda st, y, s: float(st.spearmanr(y, s)[0])),
        Call("scipy.kendalltau", lambda st, y, s: float(st.kendalltau(y, s)[0])),
        Call("scipy.kendalltau+variant=c", lambda st, y, s: float(st.kendalltau(y, s, variant="c")[0])),
        Call("scipy.pearsonr", scipy_pearson),
    ],
    "pandas": [
        *(Call(f"pandas.{m}", lambda pd, y, s, m=m: float(pd.Series(y).corr(pd.Series(s), method=m))) for m in METHODS),
        *(Call(f"pandas.{m}", partial(pandas_corr, method=m), 1e-11 if m == "pearson" else 4e-15) for m in METHODS),
    ],
    "polars": [Call(f"polars.{m}", partial(polars_corr, method=m)) for m in ("spearman", "pearson")],
}


def cases() -> dict[str, dict[str, list[float]]]:
    """Return labels, scores and group sizes: returns without ties, grades with ties, constants, and extreme values."""
    rng = np.random.default_rng(5)
    sizes = [1, 2, 2, 3, 7, 12, 25]
    n = sum(sizes)
    returns, grades = rng.normal(0, 0.02, n), rng.integers(0, 4, n).astype(float)
    scores, coarse = returns + rng.normal(0, 0.05, n), rng.integers(-2, 3, n) / 4
    constants = {"labels": [1, 1, 1, 1, 2, 3, -1, 0, 1, 2, 2], "scores": [1, 2, 3, 5, 5, 5, 3, 2, 1, 4, 4]}
    return {
        "returns": {"labels": returns.tolist(), "scores": scores.tolist(), "group_sizes": sizes},
        "grades": {"labels": grades.tolist(), "scores": coarse.tolist(), "group_sizes": sizes},
        "grades, scores without ties": {"labels": grades.tolist(), "scores": scores.tolist(), "group_sizes": sizes},
        "constants": {**constants, "group_sizes": [3, 3, 3, 2]},
        "far from 0": {"labels": (returns + 100).tolist(), "scores": (scores - 1000).tolist(), "group_sizes": sizes},
        "large and small": {
            "labels": (returns * 1e150).tolist(),
            "scores": (coarse * 1e-100).tolist(),
            "group_sizes": sizes,
        },
    }


def computed(module: Any, call: Call, case: dict[str, list[float]]) -> dict[str, Any]:
    """Return the correlation of each query and of all rows, None where it is NaN."""
    labels, scores = np.asarray(case["labels"], float), np.asarray(case["scores"], float)
    ends = np.cumsum(case["group_sizes"])[:-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = zip(np.split(labels, ends), np.split(scores, ends), strict=True)
        values = [call.correlate(module, *part) for part in parts]
        rows = call.correlate(module, labels, scores)
    return {"per_query": [None if math.isnan(value) else value for value in values], "rows": rows}


def main() -> None:
    """Run each library on each case."""
    columns_by_case = cases()
    records = []
    for name, calls in CALLS.items():
        module = import_module(name)
        version = import_module(name.partition(".")[0]).__version__
        for call in calls:
            results = {case: computed(module, call, columns) for case, columns in columns_by_case.items()}
            about = {"library": f"{name} {version}", "preset": call.preset, "tolerance": call.tolerance}
            records.append({**about, "results": results})
    FILE.write_text(json.dumps({"cases": columns_by_case, "records": records}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
