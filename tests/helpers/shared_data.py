"""Where tests find what is not in the checkout: the whole golden files, and data sets that are not ours to pass on.

They lie in the folder that the environment variable RANKADAPTERS_SHARED names, or else in `../shared`, beside the
checkout. `golden/` has a selection of every golden file, so that without the folder only the tests on MQ2008 skip. The
whole golden files are read on request only (`tests/helpers/depth.py`).
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.depth import WHOLE

VARIABLE = "RANKADAPTERS_SHARED"
CHECKOUT = Path(__file__).parent.parent.parent
KEPT = Path(__file__).parent.parent / "golden"


def shared_folder() -> Path:
    """The folder of shared data, which need not be there unless the variable names it."""
    named = os.environ.get(VARIABLE)
    if not named:
        return CHECKOUT.parent / "shared"
    if not Path(named).is_dir():
        message = (
            f"{VARIABLE}={named!r} is not a folder.\nHint: name the folder that holds golden/ and data/, or unset it."
        )
        raise NotADirectoryError(message)
    return Path(named)


SHARED = shared_folder()
MQ2008 = SHARED / "data" / "MQ2008"
needs_mq2008 = pytest.mark.skipif(not MQ2008.is_dir(), reason="MQ2008 is not there, and is not ours to pass on")


def mq2008_files(*parts: int) -> list[Path]:
    """Parts 1 to 5 of MQ2008 (LETOR 4.0), or those given; skips where they are not there."""
    if not MQ2008.is_dir():
        pytest.skip(needs_mq2008.kwargs["reason"])
    return [MQ2008 / f"S{part}.txt" for part in parts or range(1, 6)]


def kept(name: str) -> dict[str, Any]:
    """A golden file of this checkout."""
    found: dict[str, Any] = json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8"))
    return found


def shared_records(name: str) -> list[dict[str, Any]]:
    """All records of a shared golden file such as `toolkits/xgboost_metrics`; none in a quick run or without it."""
    file = SHARED / "golden" / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8"))["records"] if WHOLE and file.is_file() else []


def shared_losses() -> dict[str, Any]:
    """Numbers of losses and of models under a position bias; empty in a quick run or without the file."""
    file = SHARED / "golden" / "losses" / "losses.json"
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if WHOLE and file.is_file() else {}
    return found


def tools_data_sets() -> list[dict[str, Any]]:
    """Data sets with what the evaluation tools printed for them: those kept here, and all in a thorough run."""
    return kept("tools")["sets"] + [{**one, "name": f"full-{one['name']}"} for one in shared_tools_data_sets()]


def shared_tools_data_sets() -> list[dict[str, Any]]:
    """All of them; none in a quick run or without the files."""
    files = sorted(SHARED.glob("golden/tools/*.json")) if WHOLE else []
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]
