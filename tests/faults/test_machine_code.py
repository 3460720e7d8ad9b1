"""Machine code on disk: whole, or compiled again, whatever happens to its files, its folder and who writes them."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import time
import warnings
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

import rankadapters as ra
from rankadapters.cli import warmup
from rankadapters.core.kernels import compiling, kept_code
from rankadapters.core.kernels.dispatch import NEVER, kernels
from tests.helpers.command import refused
from tests.helpers.depth import examples
from tests.helpers.one_kernel import answer
from tests.helpers.python_processes import PATIENCE, ROOT, posix, python, started

# Hashing ids is the kernel that compiles in the shortest time.
HASH = "import rankadapters as ra; print(ra.Queries([1], qid=[1]).id_hashes.tolist())"
COUNTED = HASH + "; from rankadapters.core.kernels.compiling import compiled; print(*compiled())"
FOLDER = HASH + "; from rankadapters.core.kernels.compiling import cache_folder; print(cache_folder())"
NOW = {"RANKADAPTERS_KERNELS": "now"}
with kernels(NEVER):
    HASHES = f"{ra.Queries([1], qid=[1]).id_hashes.tolist()}\n"


def cached(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_machine_code_is_found_by_the_next_process(made, tmp_path):
    assert [answer(made()), answer(made())] == [(42, 1), (42, 0)]
    assert answer(made(), (41,)) == (42, 1)  # integers
    assert len(cached(tmp_path / "cache")) == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1],
        lambda content: content[:4000] + b"\0" * 500 + content[4500:],
        lambda content: content + b"\0",
        lambda content: kept_code._signed(b"cno_module\nGone\n."),
        lambda content: kept_code._signed(content[:-40]),
    ],
    ids=["empty", "half", "a byte short", "zeros inside", "a byte more", "a class that is gone", "half a pickle"],
)
def test_a_file_that_cannot_be_read_is_compiled_again_and_replaced(made, tmp_path, damage):
    answer(made())
    [file] = cached(tmp_path / "cache")
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert answer(made()) == (42, 1)
    assert cached(tmp_path / "cache") == [file]
    assert answer(made()) == (42, 0)


def test_machine_code_of_other_sources_is_neither_run_nor_kept(made, tmp_path, monkeypatch):
    assert answer(made()) == (42, 1)
    assert answer(made(added=2)) == (43, 1)
    assert len(cached(tmp_path / "cache")) == 1
    monkeypatch.setattr(kept_code, "__version__", "the next")
    assert answer(made(added=2)) == (43, 1)


def test_code_that_numba_does_not_give_away_is_run_all_the_same(made, monkeypatch):
    """Ctrl-C inside LLVM's call of numba is lost, and with it the copy that numba would keep."""
    monkeypatch.setattr(kept_code, "FAILURES", [])

    def refuse(self):
        msg = "no compiled object yet"
        raise RuntimeError(msg)

    monkeypatch.setattr("numba.core.codegen.CPUCodeLibrary._get_compiled_object", refuse)
    assert answer(made()) == (42, 1)
    [error] = kept_code.FAILURES
    assert "no compiled object" in str(error)


def test_what_was_left_of_writing_is_removed_when_it_is_old(made, tmp_path):
    answer(made())
    [file] = cached(tmp_path / "cache")
    old, new, numbas = (file.with_name(file.name + end) for end in (".tmp.1", ".tmp.2", ".nbi"))
    index = file.with_name(file.name.split(".py3")[0] + ".py311.nbi")
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 100,) * 2)
    answer(made(), (41,))
    assert (old.exists(), new.exists()) == (False, True)
    assert not numbas.exists()
    assert not index.exists()


@contextmanager
def forked(function):
    """Run a function in a process of its own, which is killed at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads: it uses none of them
        child = os.fork()
    if child == 0:
        with suppress(BaseException):
            function()
        os._exit(0)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def die(*given):
    os.kill(os.getpid(), signal.SIGKILL)


@posix
@pytest.mark.parametrize(
    ("dies_in", "left"),
    [("_save_data", []), ("_dump", []), ("os.replace", ["half"]), ("glob", ["whole"])],
    ids=["before it writes", "while it collects", "before it renames", "when it has written"],
)
def test_a_process_killed_while_it_keeps_machine_code_leaves_none_that_is_broken(made, tmp_path, dies_in, left):
    kernel = made()

    def compile_and_die():
        if dies_in == "os.replace":
            os.replace = die
        elif dies_in == "glob":
            Path.glob = die
        else:
            setattr(kept_code.CheckedFiles, dies_in, die)
        answer(kernel)

    with forked(compile_and_die):
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    files = cached(tmp_path / "cache")
    assert ["half" if ".tmp." in path.name else "whole" for path in files] == left
    assert answer(made()) == (42, int(left != ["whole"]))
    assert answer(made()) == (42, 0)


@posix
def test_a_process_killed_at_any_time_while_it_compiles_harms_no_other(made, tmp_path):
    start = time.monotonic()
    answer(made())
    took = time.monotonic() - start
    n_times = examples(6)
    for number in range(n_times):
        shutil.rmtree(tmp_path / "cache")
        kernel = made()
        with forked(lambda kernel=kernel: answer(kernel)):
            time.sleep(number / (n_times - 1) * took)
        assert answer(made())[0] == 42
        assert answer(made()) == (42, 0)


def test_processes_that_compile_at_once_say_the_same_and_leave_whole_files(tmp_path):
    folder = {"NUMBA_CACHE_DIR": tmp_path, **NOW}
    with started("-c", COUNTED, **folder) as one, started("-c", COUNTED, **folder) as other:
        said = [process.communicate(timeout=PATIENCE)[0] for process in (one, other)]
    assert {text.splitlines()[0] + "\n" for text in said} == {HASHES}
    assert len(cached(tmp_path)) == 1
    assert python("-c", COUNTED, **folder).stdout == f"{HASHES}0 1\n"


def test_two_types_compiled_at_once_are_not_taken_for_each_other(made, monkeypatch):
    """numba numbers its files by an index, which both read before either has written."""
    floats, integers = made(), made()
    save = kept_code.CheckedFiles.save

    def save_after_the_other(self, key, data):
        monkeypatch.setattr(kept_code.CheckedFiles, "save", save)
        assert answer(integers, (2**60 + 1,)) == (2**60 + 2, 1)
        save(self, key, data)

    monkeypatch.setattr(kept_code.CheckedFiles, "save", save_after_the_other)
    assert answer(floats, (0.25,)) == (1.25, 1)
    again = made()
    assert [answer(again, (0.25,)), answer(again, (2**60 + 1,))] == [(1.25, 0), (2**60 + 2, 0)]


@pytest.mark.parametrize("path", ["somewhere", None])
def test_the_first_kernel_of_ours_is_announced_on_a_terminal(path, capsys, monkeypatch):
    def compiles(notice, module):
        named = SimpleNamespace(py_func=SimpleNamespace(__module__=module), stats=SimpleNamespace(cache_path=path))
        notice.on_start(SimpleNamespace(data={"dispatcher": named}))
        return capsys.readouterr().err

    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    notice = compiling.CompilingNotice()
    modules = ["numpy", None, "rankadapters.core", "rankadapters.core", "numpy"]
    line = compiling.EVERY_TIME if path is None else compiling.ONCE
    assert [compiles(notice, module) for module in modules] == ["", "", f"{line}\n", "", ""]
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    assert compiles(compiling.CompilingNotice(), "rankadapters") == ""


def test_the_notice_is_registered_once_for_many_kernels(made, monkeypatch):
    registered, register = [], compiling.event.register

    def note(kind, listener):
        (registered.append if isinstance(listener, compiling.CompilingNotice) else partial(register, kind))(listener)

    monkeypatch.setattr(compiling.event, "register", note)
    compiling.announce_compiling.cache_clear()
    assert [answer(made(added=number))[0] for number in (1, 2)] == [42, 43]
    assert len(registered) == 1


def test_a_disk_without_room_for_machine_code_ends_nothing(small_disk):
    (small_disk / "filling").write_bytes(bytes(60_000))
    told = "import sys; sys.stderr.isatty = lambda: True; "
    done = python("-c", told + COUNTED, NUMBA_CACHE_DIR=small_disk, **NOW)
    assert done.stdout == f"{HASHES}1 0\n"
    first, second = done.stderr.splitlines()
    assert first == "rankadapters: compiling, once on this machine"
    assert second.startswith("rankadapters: machine code cannot be kept: [Errno 28] No space left on device")
    assert [path.name for path in cached(small_disk)] == ["filling"]


def test_a_warmup_on_a_disk_without_room_says_so(capsys, monkeypatch):
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(kept_code, "FAILURES", [])
    monkeypatch.setattr(warmup, "declared", lambda: {"a kernel": [[]]})
    monkeypatch.setattr(warmup, "named", lambda name: name)
    monkeypatch.setattr(compiling, "compile_for", lambda kernel, arguments: kept_code.FAILURES.append(full))
    line = refused(capsys, "warmup")
    assert line.startswith("rankadapters: error: cannot write to ")
    assert line.endswith(": [Errno 28] No space left on device. Hint: free disk space, or set NUMBA_CACHE_DIR.\n")


@pytest.fixture
def installed_read_only(tmp_path):
    """The package in a folder that nobody may write."""
    folder = tmp_path / "installed"
    shutil.copytree(ROOT / "rankadapters", folder / "rankadapters", ignore=shutil.ignore_patterns("__pycache__"))
    folders = [path for path in folder.rglob("*") if path.is_dir()]
    for path in folders:
        path.chmod(0o555)
    yield folder
    for path in folders:
        path.chmod(0o755)


@posix
@pytest.mark.parametrize("home", ["read-only", "unset"])
def test_where_no_folder_can_be_written_it_evaluates(installed_read_only, read_only, home):
    changed = {"HOME": None if home == "unset" else read_only, "NUMBA_CACHE_DIR": None, "XDG_CACHE_HOME": None}
    done = python("-c", FOLDER, cwd=installed_read_only, held=True, PYTHONPATH=installed_read_only, **changed, **NOW)
    hashes, folder = done.stdout.splitlines()
    assert (hashes + "\n", done.stderr) == (HASHES, "")
    assert cached(read_only) == []
    if home == "unset" and folder != "None":  # the system knows a home
        shutil.rmtree(folder)
    else:
        assert folder == "None"


@posix
def test_where_the_system_knows_no_home_no_folder_of_another_name_is_made(tmp_path, monkeypatch):
    import pwd

    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)  # KeyError, as for a user whom the system does not list
    assert kept_code.HomeLocator.from_function(cached, __file__) is None
    assert kept_code.HomeLocator in kept_code.CacheLocations._locator_classes
    assert list(tmp_path.iterdir()) == []


@posix
def test_a_cache_folder_that_cannot_be_written_is_no_reason_to_stop(read_only):
    done = python("-c", COUNTED, held=True, NUMBA_CACHE_DIR=read_only, **NOW)
    assert done.stdout.startswith(HASHES)
    assert cached(read_only) == []
