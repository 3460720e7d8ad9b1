"""`Results.read` on mutated CSV, on Parquet of any Arrow type, and on files with changed bytes."""

from __future__ import annotations

import math
import tempfile
from decimal import Decimal
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import rankadapters as ra
from rankadapters.compare import Results
from tests.fuzz.arrow_columns import ANY, FLOATS, LARGE, parquet_bytes, typed_columns
from tests.fuzz.budget import bits, compare_readers, share
from tests.fuzz.mutations import changed_bytes, mutated_bytes
from tests.fuzz.plain_results import NEEDED, Cell, cells_of, joined_cells, number_of
from tests.fuzz.plain_text import refuse_unless

RESULTS = [
    "method,dataset,measure,value,source,higher_is_better\na,MQ2007,MAP,0.450,paper,True\nb,MQ2007,MAP,.5e-1,,true\n",
    'method,dataset,measure,value\r\n"a, b",D1,letor4@10,0.4612\r\nb,"D ""1""",letor4@10,5.\r\nb,D1,yahoo.err,1E-3\r\n',
    "value,higher_is_better,measure,dataset,method\n\n12,False,RMSE,D1,a\n+1e2,FALSE,RMSE,D2,a\n9007199254740993,False,RMSE,D,a\n",
    "\nmethod,dataset,measure,value,higher_is_better\ra,D1,NDCG@10,-0.0,TRUE\ra,D1,ndcg@10,1e-400,True\r",
]
PIECES = [
    "MAP", "map", "letor4@10", "letor4@5", "yahoo@10", "NDCG@10", "True", "False", "value", "a", "D1", '"a', 'b"', ",,",
]  # fmt: skip
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - deleted on closing


def read(data):
    with tempfile.NamedTemporaryFile(dir=MEMORY) as file:
        file.write(data)
        file.flush()
        return Results.read(file.name)


def cells_in(results):
    higher = dict(zip(results.measures, results.higher, strict=True))
    return [
        Cell(method, dataset, measure, *bits(value), decimals, source, higher[measure])
        for method, dataset, measure, value, decimals, source in results.frame.itertuples(index=False)
    ]


@share(0.03)
@given(mutated_bytes(RESULTS, PIECES))
def test_results(data):
    compare_readers(lambda: cells_in(read(data)), lambda: cells_of(data))


TEXT = dict.fromkeys(
    ("string", "large_string", "string_view"), st.sampled_from(["a", "b", "a, b", "é", "x\0", " ", ""])
)
MEASURES = st.sampled_from(["MAP", "map", "letor4@10", "ndcg@10/letor4", "letor4@5", "yahoo@10", "NDCG@10", "a", ""])
SPELLED = st.sampled_from(["0.450", ".5e-1", "5.", "1E-3", "-0", "1e-400", "1e400", "0x1", "", "nan", "1_0", "٣"])
COLUMNS = {
    "method": TEXT, "dataset": TEXT, "measure": {"string": MEASURES, "string_view": MEASURES},
    "value": {
        "float64": FLOATS, "float32": st.sampled_from([0.5, 0.25]), "int64": LARGE, "uint8": st.just(7),
        "string": SPELLED, "decimal": st.sampled_from([Decimal("0.500"), Decimal("-1.250")]),
    },
    "source": {**TEXT, "null": st.none()},
    "higher_is_better": {"bool": st.booleans(), "string": st.sampled_from(["True", "false", "", "yes"])},
    "more": {"int64": LARGE},
}  # fmt: skip
# Probability that a file lacks the column.
ABSENT = {name: 1 / 12 if name in NEEDED else 1 / 3 for name in COLUMNS} | {"more": 15 / 16}


@st.composite
def tables(draw):
    """Draw an Arrow type and Python values for each column."""
    usual = {name: kinds for name, kinds in COLUMNS.items() if draw(st.floats(0, 1)) >= ABSENT[name]}
    return draw(typed_columns(usual, ANY | {"int64": LARGE, "float64": FLOATS}, max_rows=4))


def value_of(value):
    """Read a number, whose decimal places are unknown (-1), or a text or Decimal, whose places are printed."""
    if isinstance(value, str | Decimal):
        return number_of(str(value))
    refuse_unless(isinstance(value, int | float) and not isinstance(value, bool), "not a number")
    refuse_unless(math.isfinite(value), "not finite")
    return float(value).hex(), -1


def direction_of(value):
    """Return a direction as CSV spells it."""
    refuse_unless(missing(value) or isinstance(value, str | bool), "not a direction")
    return "" if missing(value) else str(value)


def missing(value):
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def plain_cells(columns):
    refuse_unless(set(NEEDED) <= set(columns) <= set(COLUMNS) - {"more"}, "other columns")
    values = {name: values for name, (_, values) in columns.items()}
    for name in NEEDED[:3]:
        refuse_unless(all(isinstance(text, str) and text.strip() for text in values[name]), "not a name")
    none = [None] * len(values["value"])
    return joined_cells(
        *(values[name] for name in NEEDED[:3]),
        [value_of(value) for value in values["value"]],
        [None if missing(value) else str(value) for value in values.get("source", none)],
        [direction_of(value) for value in values.get("higher_is_better", none)],
    )


@share(0.02)
@given(tables())
def test_results_parquet(columns):
    if columns:
        data = parquet_bytes(columns)
        compare_readers(lambda: cells_in(read(data)), lambda: plain_cells(columns))


GOOD = {
    "method": ("string", ["a", "b"]), "dataset": ("string", ["D", "D"]), "measure": ("string", ["letor4@10"] * 2),
    "value": ("float64", [0.5, 0.25]),
}  # fmt: skip


@share(0.01)
@given(st.deferred(lambda: changed_bytes(parquet_bytes(GOOD))))
def test_results_parquet_with_other_bytes(data):
    try:
        results = read(data)
    except ra.RankAdaptersError as error:
        assert str(error).strip()
    else:
        assert np.isfinite(results.frame["value"]).all()
