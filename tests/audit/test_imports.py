"""Each audit is a function of the module `ra.audit`, whose modules have different names."""

from __future__ import annotations

import pickle
import subprocess
import sys
from types import ModuleType

import pytest

import rankadapters as ra
from tests.helpers.graded_queries import small_queries

AUDITS = ("explain", "identify", "order", "page", "profile")
MODULES = ("explanation", "identification", "ordering", "profiling", "web_page")


@pytest.mark.parametrize("module", MODULES)
def test_an_audit_is_a_function_whichever_module_is_imported_first(module):
    code = f"import types, rankadapters.audit.{module}; import rankadapters as ra\n"
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
