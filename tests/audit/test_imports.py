"""Each audit is a function of the module `ra.audit`, whose folders have different names."""

from __future__ import annotations

import pickle
import subprocess
import sys
from types import ModuleType

import pytest

import rankadapters as ra
from tests.helpers.graded_queries import small_queries

AUDITS = ("explain", "identify", "order", "page", "profile")
FOLDERS = ("explanation", "identification", "ordering", "profiling", "web_page")


@pytest.mark.parametrize("folder", FOLDERS)
def test_an_audit_is_a_function_whichever_folder_is_imported_first(folder):
    code = f"import types, rankadapters.audit.{folder}; import rankadapters as ra\n"
    code += f"assert all(isinstance(getattr(ra.audit, name), types.FunctionType) for name in {AUDITS})"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_ra_audit_is_a_plain_module():
    assert type(ra.audit) is ModuleType


def test_an_audit_can_be_monkeypatched(monkeypatch):
    monkeypatch.setattr(ra.audit, "order", len)
    assert ra.audit.order is len


def test_a_report_can_be_pickled():
    queries, scores = small_queries()
    report = ra.audit.profile(queries, k=5, scores=scores)
    assert pickle.loads(pickle.dumps(report)) == report
