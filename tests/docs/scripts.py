"""The scripts of docs/, which import each other by their names."""

from __future__ import annotations

import importlib

import pytest

from tests.helpers.checkout import CHECKOUT

DOCS = CHECKOUT / "docs"


def script(name):
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(DOCS))
        return importlib.import_module(name)
