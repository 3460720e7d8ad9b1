"""How much of the package a first evaluation of little data calls: what a reader has to follow."""

from __future__ import annotations

import json
import subprocess
import sys

COUNT = """
import json, sys
import numpy as np
import rankadapters as ra
package = ra.__file__.removesuffix("__init__.py")
convention, evaluate, calls = ra.presets.lightgbm(10), ra.evaluate, []
def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(package) and not code.co_name.startswith("<"):
        calls.append(code.co_filename)
labels, scores, sizes = np.array([2, 0, 1, 0, 1, 0]), np.array([0.5, 0.2, 0.1, 0.4, 0.3, 0.6]), np.array([2, 2, 2])
sys.setprofile(note)
evaluate(labels, scores, convention, group_sizes=sizes)
sys.setprofile(None)
print(json.dumps([len(calls), len(set(calls))]))
"""
MOST_CALLS, MOST_FILES = 184, 32


def test_a_first_evaluation_calls_few_functions_in_few_files():
    done = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True)
    n_calls, n_files = json.loads(done.stdout)
    assert n_calls <= MOST_CALLS
    assert n_files <= MOST_FILES
