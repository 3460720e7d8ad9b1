"""What the tests themselves rely on: broken test modules, golden files and the shared data."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import checkout
from tests.helpers.checkout import CHECKOUT

TESTS = Path(__file__).parent.parent


@pytest.mark.long
@pytest.mark.parametrize(("first_line", "code"), [("from rankadapters import nothing", 2), ("import rankadapters", 0)])
def test_a_test_module_that_cannot_be_imported_is_an_error_although_the_search_for_doctests_skips_it(
    tmp_path, first_line, code
):
    (tmp_path / "test_one.py").write_text(f"{first_line}\n\n\ndef test():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:rankadapters", "-c", os.devnull]
    options = ("--import-mode=importlib", "--doctest-modules", "--doctest-ignore-import-errors", "--rootdir", tmp_path)
    process = subprocess.run([*command, *options, tmp_path], cwd=CHECKOUT, capture_output=True, check=False)
    assert process.returncode == code, process.stdout.decode()


def test_without_shared_data_golden_files_are_read_and_mq2008_is_skipped(monkeypatch, tmp_path):
    monkeypatch.setattr(checkout, "SHARED", tmp_path)
    monkeypatch.setattr(checkout, "MQ2008", tmp_path / "data" / "MQ2008")
    assert checkout.shared_records("toolkits/xgboost_metrics") == []
    with pytest.raises(pytest.skip.Exception, match="MQ2008 is not there"):
        checkout.mq2008_files()


@pytest.mark.parametrize("file", sorted(TESTS.glob("golden/*.json")), ids=lambda file: file.stem)
def test_every_golden_file_is_small_and_described_in_the_readme(file):
    assert file.stat().st_size < 800_000
    assert f"`{file.name}`" in (TESTS / "golden" / "README.md").read_text(encoding="utf-8")
