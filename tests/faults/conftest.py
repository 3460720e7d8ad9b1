"""A small disk, a read-only folder, and a kernel that is loaded as in a new process."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys

import pytest

SOURCE = """
from rankadapters.core.kernels import kernel
@kernel
def plus(values):
    return values[0] + {added}
"""


@pytest.fixture
def load_kernel(tmp_path, monkeypatch):
    """Import a module with one kernel again, as a new process does, and return the kernel."""
    import numba

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    # Python identifies its compiled copy of a module by size and second of writing, which is too coarse here.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr("rankadapters.core.kernels.compiling.KERNELS", [])
    path = tmp_path / "one_kernel.py"

    def load(added=1):
        source = SOURCE.format(added=added)
        # An unchanged file is not written again, since older releases of numba compare its time.
        if not path.exists() or path.read_text(encoding="utf-8") != source:
            path.write_text(source)
        spec = importlib.util.spec_from_file_location("one_kernel", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, "one_kernel", module)
        spec.loader.exec_module(module)
        return module.plus

    return load


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 64 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def read_only(tmp_path):
    """A folder that nobody may write."""
    folder = tmp_path / "read-only"
    folder.mkdir()
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)
