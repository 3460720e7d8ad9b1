"""The example of Spark runs in the session of the tests and prints equal values."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import rankadapters as ra

pytest.importorskip("pyspark")
pytestmark = pytest.mark.long
EXAMPLE = Path(__file__).parents[2] / "examples" / "scale" / "spark_evaluate.py"


def test_each_kind_of_partitions_has_the_value_of_one_process(spark, capsys):
    example = runpy.run_path(str(EXAMPLE))
    example["run"](spark, 30)
    head, one_process, *lines, worst = capsys.readouterr().out.splitlines()
    table = example["rows"](30)
    assert head == f"{table['query'].size} rows under ndcg@10/textbook"
    assert [line.split() for line in lines] == [[name, one_process.split()[-1]] for name in ("shuffle", "whole")]
    values = ra.Evaluator(table["grade"], example["CONVENTION"], qid=table["query"]).per_query(table["model"])
    assert worst == f"worst query: {np.argmin(values)}"
