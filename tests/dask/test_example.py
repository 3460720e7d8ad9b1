"""The example of Dask, run in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.engines import worker_environment

pytest.importorskip("dask")
pytest.importorskip("distributed")
EXAMPLE = Path(__file__).parents[2] / "examples" / "scale" / "dask_evaluate.py"


def test_each_way_has_the_value_of_one_process():
    with worker_environment():
        command = [sys.executable, str(EXAMPLE), "--queries", "60"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not ran.returncode, ran.stderr
    head, _, *lines = ran.stdout.splitlines()
    assert head.endswith("rows of 60 queries in 7 partitions")
    assert len(lines) == 3
    for line in lines:
        _, one, in_order, shuffled = line.split()
        assert one == in_order == shuffled
