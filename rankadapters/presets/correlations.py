"""Libraries with correlations: scipy, pandas and polars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures import Kendall, Pearson, Spearman
from rankadapters.presets.tool import (
    Options,
    ToolWithoutNDCG,
    choice,
    one_of,
    preset,
    refuse_unknown,
    same_as,
    split_spec,
)
from rankadapters.presets.vocabulary import Vocabulary

Pool = Literal["queries", "rows"]


class Correlations(
    ToolWithoutNDCG, Vocabulary[dict[str, Any]], ties="mean-rank", precision="float64", empty="skip", constant=0,
    missing="error", unjudged="error", pool="queries", average="uniform",
):  # fmt: skip
    """A library with correlations: functions of two columns, called for each query or once for all rows.

    Parameters
    ----------
    pool
        One call for each query and their mean, or one call for all rows.
    """

    options: ClassVar[Options] = {"pool": choice({"queries": {}, "rows": {"pool": "rows"}})}

    def read(self, text: str | Mapping[str, Any], **params: Any) -> Convention:
        """Return the convention of a function, given its name, parameters and `pool`, or given a result of `write`."""
        name, options = split_spec(text, "metric", params)
        return super().read(name, **options)

    def fallback(self, convention: Any) -> Convention:
        """Return Pearson's correlation, for a measure that the library lacks."""
        del convention
        [name] = (name for name, declared in self.presets.items() if declared.measure is Pearson)
        pearson: Convention = getattr(self, name)()
        return pearson

    def spell(self, convention: Any) -> dict[str, Any]:
        """Return the function's name and its parameters."""
        call = self._call(convention)
        return {"metric": call.metric, **call.arguments}


class SciPy(Correlations, name="scipy", package="scipy", versions=("1.15.3", "1.17.1"), evidence="run 1.17.1"):
    """scipy.stats `spearmanr`, `kendalltau`, `pearsonr` of labels and scores. Run against 1.17.1: equal within 1e-14.

    The mean over queries is `numpy.nanmean`. scipy returns NaN for a query whose labels or scores are all equal. This
    preset also leaves out queries with equal labels, but counts those with equal scores as 0: see `inexpressible`. For
    two equal rows `pearsonr` returns 0 in 1.14.1 and NaN in 1.15.3 (run).

    Parameters
    ----------
    variant
        scipy's parameter: tau-b or tau-c.
    """

    title: ClassVar[str] = "scipy"
    options: ClassVar[Options] = {**Correlations.options, "variant": same_as("variant")}

    @preset(Spearman, "spearmanr")
    def spearmanr(self, *, pool: Pool = "queries") -> Spearman:
        """`spearmanr`, stats/_stats_py.py. Run: equal within 1e-14."""

    @preset(Kendall, "kendalltau", variant="b")
    def kendalltau(self, *, variant: Literal["b", "c"] = "b", pool: Pool = "queries") -> Kendall:
        """`kendalltau`, stats/_stats_py.py. Run: equal within 1e-14."""

    @preset(Pearson, "pearsonr")
    def pearsonr(self, *, pool: Pool = "queries") -> Pearson:
        """`pearsonr`, stats/_stats_py.py. Run: equal within 1e-14."""


class Frames(Correlations):
    """A library of data frames: it has one function `corr`, whose parameter `method` names the correlation.

    With `pool="queries"` the value is the mean of a call for each query; `pool="rows"` is a single call for all rows.
    """

    @preset(Pearson, "pearson")
    def pearson(self, *, pool: Pool = "queries") -> Pearson:
        """`corr(method="pearson")`, the default. Run: equal within 1e-14 except on constants (see `inexpressible`)."""

    @preset(Spearman, "spearman")
    def spearman(self, *, pool: Pool = "queries") -> Spearman:
        """`corr(method="spearman")`. Run against pandas and polars: equal within 1e-14."""

    def read(self, text: str | Mapping[str, Any], **params: Any) -> Convention:
        """Return the convention of `corr`, given its parameter `method`, pearson by default, and `pool`.

        Examples
        --------
        >>> polars.read("corr", method="spearman") == pandas.spearman()
        True
        """
        name, options = split_spec(text, "metric", params)
        if not isinstance(name, str) or name != "corr":
            raise self._unknown(text, params)
        refuse_unknown(name, options, ("method", *self.options))
        methods = {word: word for word in self.measures()}
        return super().read(one_of("method", options.pop("method", "pearson"), methods), **options)

    def spell(self, convention: Any) -> dict[str, Any]:
        """Return the function's name and its parameters."""
        call = self._call(convention)
        return {"metric": "corr", "method": call.metric, **call.arguments}


class Pandas(Frames, name="pandas", package="pandas", versions=("2.2.3", "3.1.1"), evidence="run 3.1.1"):
    """pandas `corr` of groups and `Series.corr`, core/frame.py, core/series.py. Run against 3.1.1: equal within 1e-14.

    The mean over queries is `mean` of the groups' correlations, which ignores NaN. This preset also leaves out groups
    with equal labels, but counts those with equal scores as 0: see `inexpressible`. In pandas, Pearson's correlation of
    groups loses digits for numbers far from 0: it is off by 6e-12 for scores around 1000 with a deviation of 0.05.
    """

    title: ClassVar[str] = "pandas"

    @preset(Kendall, "kendall", variant="b")
    def kendall(self, *, pool: Pool = "queries") -> Kendall:
        """`corr(method="kendall")`. Run: equal within 1e-14."""


class Polars(Frames, name="polars", package="polars", versions=("1.20.0", "2.1.0"), evidence="run 2.1.0"):
    """polars `corr(a, b)` in `group_by(...).agg(...)`. Run against 2.1.0: equal within 1e-14.

    The mean over queries is `drop_nans().mean()`; without `drop_nans`, one NaN makes the mean NaN. This preset also
    leaves out groups with equal labels, but counts those with equal scores as 0: see `inexpressible`. polars has no
    Kendall. Early versions lose digits of Pearson's correlation for numbers far from 0 (run: 4e-6 in 1.0.0 and 1.7.1,
    nothing in 1.20.0).
    """

    title: ClassVar[str] = "polars"


scipy, pandas, polars = SciPy(), Pandas(), Polars()
