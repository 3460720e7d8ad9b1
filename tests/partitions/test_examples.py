"""The examples of Dask and Spark print the values of one process for each kind of partitions."""

import runpy
import subprocess
import sys

import numpy as np
import pytest

import rankadapters as ra
from tests.helpers.checkout import CHECKOUT
from tests.helpers.engines import worker_environment

pytestmark = pytest.mark.long
EXAMPLES = CHECKOUT / "examples" / "scale"


def test_the_example_of_dask_prints_equal_values():
    pytest.importorskip("distributed")
    with worker_environment():
        command = [sys.executable, str(EXAMPLES / "dask_evaluate.py"), "--queries", "60"]
        completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not completed.returncode, completed.stderr
    head, _, *lines = completed.stdout.splitlines()
    assert head.endswith("rows of 60 queries in 7 partitions")
    assert len(lines) == 3
    for line in lines:
        _, one_process, whole, shuffled = line.split()
        assert one_process == whole == shuffled


def test_the_example_of_spark_prints_equal_values(spark, capsys):
    example = runpy.run_path(str(EXAMPLES / "spark_evaluate.py"))
    example["run"](spark, 30)
    head, one_process, *lines, worst = capsys.readouterr().out.splitlines()
    table = example["rows"](30)
    assert head == f"{table['query'].size} rows under ndcg@10/textbook"
    assert [line.split() for line in lines] == [[name, one_process.split()[-1]] for name in ("shuffle", "whole")]
    values = ra.Evaluator(table["grade"], example["CONVENTION"], qid=table["query"]).per_query(table["model"])
    assert worst == f"worst query: {np.argmin(values)}"
