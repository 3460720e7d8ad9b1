"""The picture of docs/scale.md: the time of an evaluation by the number of rows, for each way.

`python docs/scale_picture.py` draws `docs/scale.svg` anew from the figures below, which docs/scale.md also lists and
extends; the machines of a cluster are workers of one core each.
"""

from __future__ import annotations

from pathlib import Path

FILE = Path(__file__).parent / "scale.svg"
ROWS = (1e6, 1e11)
# Seconds to start with, nanoseconds a row on all workers together, rows it goes up to; color and style.
WAYS = {
    "ra.evaluate, in memory": (0, 57, 3e8, "C0-"),
    "ra.evaluate_table, one machine": (0, 75, 1e11, "C1-"),
    "ra.dask.evaluate, whole queries, 10 workers": (1, 26, 1e11, "C2-"),
    "ra.dask.evaluate, whole queries, 100 workers": (1, 2.7, 1e11, "C2--"),
    "ra.dask.evaluate, shuffle, 10 workers": (1, 90, 1e11, "C3-"),
    "ra.spark.evaluate, whole queries, 10 workers": (10, 160, 1e11, "C4-"),
    "ra.spark.evaluate, whole queries, 100 workers": (10, 16, 1e11, "C4--"),
}
TIMES = {"1 s": 1, "10 s": 10, "1 min": 60, "10 min": 600, "1 h": 3600, "5 h": 18000}


def draw(file: Path) -> None:
    """Draw a line for each way."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "scale"
    figure = Figure(figsize=(7.5, 4.6), layout="constrained")
    axes = figure.add_subplot()
    for name, (start, each, most, style) in WAYS.items():
        rows = [ROWS[0] * 10 ** (step / 20) for step in range(101) if ROWS[0] * 10 ** (step / 20) <= most * 1.0001]
        axes.plot(rows, [start + each * 1e-9 * n for n in rows], style, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*ROWS)
    axes.set_ylim(0.05, None)
    axes.set_yticks(list(TIMES.values()), list(TIMES))
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.set_xlabel("rows")
    axes.legend(frameon=False, fontsize="small")
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)


if __name__ == "__main__":
    draw(FILE)
