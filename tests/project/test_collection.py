"""A test module that cannot be imported is an error, although the search for doctests skips it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.helpers.checkout import CHECKOUT

OPTIONS = ("--import-mode=importlib", "--doctest-modules", "--doctest-ignore-import-errors", "-p", "no:rankadapters")


@pytest.mark.parametrize(("first_line", "code"), [("from rankadapters import nothing", 2), ("import rankadapters", 0)])
def test_a_test_module_that_cannot_be_imported_is_an_error(tmp_path, first_line, code):
    (tmp_path / "test_one.py").write_text(f"{first_line}\n\n\ndef test():\n    pass\n")
    pytest_of_the_checkout = (sys.executable, "-m", "pytest", "-p", "tests.conftest", "-c", os.devnull)
    process = subprocess.run(
        [*pytest_of_the_checkout, "--rootdir", tmp_path, *OPTIONS, tmp_path],
        cwd=CHECKOUT,
        capture_output=True,
        check=False,
    )
    assert process.returncode == code, process.stdout.decode()
