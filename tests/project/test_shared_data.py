"""The folder of shared data is found, and without it only the tests on MQ2008 are skipped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers import shared_data
from tests.helpers.checkout import CHECKOUT
from tests.helpers.shared_data import VARIABLE, shared_folder

TESTS = Path(__file__).parent.parent


def test_the_shared_folder_is_beside_the_checkout_or_named_by_the_variable(monkeypatch, tmp_path):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert shared_folder() == CHECKOUT.parent / "shared"
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert shared_folder() == tmp_path


def test_a_variable_that_names_a_missing_folder_raises(monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "gone"))
    with pytest.raises(NotADirectoryError, match=rf"{VARIABLE}='.*gone' is not a folder\.\nHint: name the folder"):
        shared_folder()


def test_without_shared_data_golden_files_are_read_and_mq2008_is_skipped(monkeypatch, tmp_path):
    monkeypatch.setattr(shared_data, "SHARED", tmp_path)
    monkeypatch.setattr(shared_data, "MQ2008", tmp_path / "data" / "MQ2008")
    assert shared_data.shared_records("toolkits/xgboost_metrics") == []
    with pytest.raises(pytest.skip.Exception, match="MQ2008 is not there"):
        shared_data.mq2008_files()


def test_only_one_module_knows_the_path_of_the_shared_folder():
    pattern = re.compile("""["']shared["']""")  # as a part of a path
    files = [file.name for file in TESTS.rglob("*.py") if pattern.search(file.read_text(encoding="utf-8"))]
    assert sorted(files) == ["shared_data.py", Path(__file__).name]


@pytest.mark.parametrize("file", sorted(TESTS.glob("golden/*.json")), ids=lambda file: file.stem)
def test_every_golden_file_is_small_and_described_in_the_readme(file):
    assert file.stat().st_size < 800_000
    assert f"`{file.name}`" in (TESTS / "golden" / "README.md").read_text(encoding="utf-8")
