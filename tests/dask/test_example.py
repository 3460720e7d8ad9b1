"""The example of Dask runs in a separate process and prints equal values."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.engines import worker_environment

pytest.importorskip("dask")
pytest.importorskip("distributed")
EXAMPLE = Path(__file__).parents[2] / "examples" / "scale" / "dask_evaluate.py"


@pytest.mark.long
def test_whole_queries_and_shuffled_rows_have_the_value_of_one_process():
    with worker_environment():
        command = [sys.executable, str(EXAMPLE), "--queries", "60"]
        completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not completed.returncode, completed.stderr
    head, _, *lines = completed.stdout.splitlines()
    assert head.endswith("rows of 60 queries in 7 partitions")
    assert len(lines) == 3
    for line in lines:
        _, one_process, whole, shuffled = line.split()
        assert one_process == whole == shuffled
