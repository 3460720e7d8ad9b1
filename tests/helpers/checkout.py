"""The files of this checkout, and shared data that is not part of it: whole golden files and MQ2008.

The environment variable RANKADAPTERS_SHARED names the folder of the shared data; its default is `../shared`, beside the
checkout. The checkout has a selection of every golden file, so without shared data only the tests on MQ2008 skip. Whole
golden files are read on request only (`tests/helpers/parameters.py`).
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.parameters import WHOLE

CHECKOUT = Path(__file__).parents[2]
VARIABLE = "RANKADAPTERS_SHARED"
GOLDEN = CHECKOUT / "tests" / "golden"


def shared_folder() -> Path:
    """Return the folder of shared data; it must exist if the variable names it."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return CHECKOUT.parent / "shared"
    if not Path(folder).is_dir():
        raise NotADirectoryError(f"{VARIABLE}={folder!r} is not a folder.\nHint: name that of golden/, or unset it.")
    return Path(folder)


SHARED = shared_folder()
MQ2008 = SHARED / "data" / "MQ2008"


def mq2008_files(*parts: int) -> list[Path]:
    """Return the files of some parts of MQ2008 (LETOR 4.0), or of all five; skip where they are missing."""
    if not MQ2008.is_dir():
        pytest.skip("MQ2008 is not there, and we may not redistribute it")
    return [MQ2008 / f"S{part}.txt" for part in parts or range(1, 6)]


def golden_file(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return content


def shared_records(name: str) -> list[dict[str, Any]]:
    """Return all records of a shared golden file (`toolkits/xgboost_metrics`); none in a quick run or without it."""
    file = SHARED / "golden" / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8"))["records"] if WHOLE and file.is_file() else []


def shared_losses() -> dict[str, Any]:
    """Return all recorded losses and models under position bias; empty in a quick run or without the file."""
    file = SHARED / "golden" / "losses" / "losses.json"
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if WHOLE and file.is_file() else {}
    return content
