"""Cached machine code survives damaged files, killed and concurrent processes, full disks and read-only folders."""

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
from tests.helpers.checkout import CHECKOUT
from tests.helpers.command import error_of
from tests.helpers.depth import examples
from tests.helpers.one_kernel import result_and_compilations
from tests.helpers.python_processes import TIMEOUT, needs_posix, run_python, start_python

# Hashing ids uses the kernel that compiles fastest.
HASH = "import rankadapters as ra; print(ra.Queries([1], qid=[1]).id_hashes.tolist())"
COUNT_COMPILED = HASH + "; from rankadapters.core.kernels.compiling import compiled; print(*compiled())"
PRINT_FOLDER = HASH + "; from rankadapters.core.kernels.compiling import cache_folder; print(cache_folder())"
NOW = {"RANKADAPTERS_KERNELS": "now"}
with kernels(NEVER):
    HASHES = f"{ra.Queries([1], qid=[1]).id_hashes.tolist()}\n"


def cached_files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_the_next_process_loads_the_cached_machine_code(load_kernel, tmp_path):
    assert [result_and_compilations(load_kernel()), result_and_compilations(load_kernel())] == [(42, 1), (42, 0)]
    assert result_and_compilations(load_kernel(), (41,)) == (42, 1)  # integers
    assert len(cached_files(tmp_path / "cache")) == 2


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
def test_a_damaged_file_is_compiled_again_and_replaced(load_kernel, tmp_path, damage):
    result_and_compilations(load_kernel())
    [file] = cached_files(tmp_path / "cache")
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert result_and_compilations(load_kernel()) == (42, 1)
    assert cached_files(tmp_path / "cache") == [file]
    assert result_and_compilations(load_kernel()) == (42, 0)


def test_a_changed_source_or_release_is_compiled_again(load_kernel, tmp_path, monkeypatch):
    assert result_and_compilations(load_kernel()) == (42, 1)
    assert result_and_compilations(load_kernel(added=2)) == (43, 1)
    assert len(cached_files(tmp_path / "cache")) == 1
    monkeypatch.setattr(kept_code, "__version__", "the next")
    assert result_and_compilations(load_kernel(added=2)) == (43, 1)


@pytest.fixture
def copied(tmp_path):
    """Return a copy of the package, which may be changed."""
    package = tmp_path / "copied" / "rankadapters"
    shutil.copytree(CHECKOUT / "rankadapters", package, ignore=shutil.ignore_patterns("__pycache__"))
    return package


CALLER = """
from rankadapters.core.kernels import kernel
from rankadapters.core.kernels.compiling import compiled
from rankadapters.objectives.kernels.queries import sum_scale
@kernel
def scale(total):
    return sum_scale(total, True)
print(scale(1.0), compiled().compiled)
"""


def test_a_kernel_is_compiled_again_if_a_kernel_that_it_calls_has_changed(copied, tmp_path):
    caller, helper = tmp_path / "caller.py", copied / "objectives" / "kernels" / "queries.py"
    caller.write_text(CALLER)
    environment = {"PYTHONPATH": copied.parent, "PYTHONDONTWRITEBYTECODE": "1", "NUMBA_CACHE_DIR": tmp_path / "cache"}

    def printed():
        return run_python(caller, cwd=tmp_path, **environment).stdout.split()

    assert [printed(), printed()] == [["1.0", "2"], ["1.0", "0"]]  # log2(1 + 1) / 1
    source = helper.read_text(encoding="utf-8")
    changed = source.replace("return np.log2(1.0 + total) / total if by_sum and total > 0.0 else 1.0", "return 7.0")
    assert changed != source
    helper.write_text(changed, encoding="utf-8")
    assert [printed(), printed()] == [["7.0", "2"], ["7.0", "0"]]


def test_every_file_of_kernels_is_part_of_the_key(copied, monkeypatch):
    monkeypatch.setattr(kept_code, "PACKAGE", copied)
    digests = [kept_code.kernel_sources.__wrapped__()]
    files = [path for path in copied.rglob("*.py") if "kernels" in path.relative_to(copied).parts]
    assert {path.parent.parent.name for path in files} >= {"core", "objectives", "learners"}
    for path in files:
        with path.open("a") as file:
            file.write("# changed\n")
        digests.append(kept_code.kernel_sources.__wrapped__())
    assert len(set(digests)) == 1 + len(files)


def test_a_kernel_runs_even_if_numba_does_not_return_its_machine_code(load_kernel, monkeypatch):
    """A Ctrl-C while LLVM calls numba is lost, and so is the copy that numba would cache."""
    monkeypatch.setattr(kept_code, "FAILURES", [])

    def refuse(self):
        msg = "no compiled object yet"
        raise RuntimeError(msg)

    monkeypatch.setattr("numba.core.codegen.CPUCodeLibrary._get_compiled_object", refuse)
    assert result_and_compilations(load_kernel()) == (42, 1)
    [error] = kept_code.FAILURES
    assert "no compiled object" in str(error)


def test_only_old_temporary_files_are_removed(load_kernel, tmp_path):
    result_and_compilations(load_kernel())
    [file] = cached_files(tmp_path / "cache")
    old, new, numba_index = (file.with_name(file.name + end) for end in (".tmp.1", ".tmp.2", ".nbi"))
    numba_index_with_version = file.with_name(file.name.split(".py3")[0] + ".py311.nbi")
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (time.time() - 100,) * 2)
    result_and_compilations(load_kernel(), (41,))
    assert (old.exists(), new.exists()) == (False, True)
    assert not numba_index.exists()
    assert not numba_index_with_version.exists()


@contextmanager
def child_process(function):
    """Run a function in a child process, which is killed at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about forking with threads, which the child does not use
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


def die(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)


@needs_posix
@pytest.mark.parametrize(
    ("dies_in", "expected_files"),
    [("_save_data", []), ("_dump", []), ("os.replace", ["half"]), ("glob", ["whole"])],
    ids=["before it writes", "while it collects", "before it renames", "when it has written"],
)
def test_a_process_killed_while_it_writes_leaves_no_broken_machine_code(load_kernel, tmp_path, dies_in, expected_files):
    kernel = load_kernel()

    def compile_and_die():
        if dies_in == "os.replace":
            os.replace = die
        elif dies_in == "glob":
            Path.glob = die
        else:
            setattr(kept_code.CheckedFiles, dies_in, die)
        result_and_compilations(kernel)

    with child_process(compile_and_die):
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
    files = cached_files(tmp_path / "cache")
    assert ["half" if ".tmp." in path.name else "whole" for path in files] == expected_files
    assert result_and_compilations(load_kernel()) == (42, int(expected_files != ["whole"]))
    assert result_and_compilations(load_kernel()) == (42, 0)


@needs_posix
def test_a_process_killed_while_it_compiles_harms_no_other_process(load_kernel, tmp_path):
    start = time.monotonic()
    result_and_compilations(load_kernel())
    duration = time.monotonic() - start
    n_kills = examples(6)
    for number in range(n_kills):
        shutil.rmtree(tmp_path / "cache")
        kernel = load_kernel()
        with child_process(lambda kernel=kernel: result_and_compilations(kernel)):
            time.sleep(number / (n_kills - 1) * duration)
        assert result_and_compilations(load_kernel())[0] == 42
        assert result_and_compilations(load_kernel()) == (42, 0)


def test_processes_that_compile_at_once_agree_and_leave_whole_files(tmp_path):
    environment = {"NUMBA_CACHE_DIR": tmp_path, **NOW}
    with (
        start_python("-c", COUNT_COMPILED, **environment) as first,
        start_python("-c", COUNT_COMPILED, **environment) as second,
    ):
        outputs = [process.communicate(timeout=TIMEOUT)[0] for process in (first, second)]
    assert {output.splitlines()[0] + "\n" for output in outputs} == {HASHES}
    assert len(cached_files(tmp_path)) == 1
    assert run_python("-c", COUNT_COMPILED, **environment).stdout == f"{HASHES}0 1\n"


def test_two_types_compiled_at_once_are_not_confused(load_kernel, monkeypatch):
    """numba numbers its files by an index, which both processes read before either has written."""
    floats, integers = load_kernel(), load_kernel()
    save = kept_code.CheckedFiles.save

    def save_after_the_integers(self, key, data):
        monkeypatch.setattr(kept_code.CheckedFiles, "save", save)
        assert result_and_compilations(integers, (2**60 + 1,)) == (2**60 + 2, 1)
        save(self, key, data)

    monkeypatch.setattr(kept_code.CheckedFiles, "save", save_after_the_integers)
    assert result_and_compilations(floats, (0.25,)) == (1.25, 1)
    reloaded = load_kernel()
    assert [result_and_compilations(reloaded, (0.25,)), result_and_compilations(reloaded, (2**60 + 1,))] == [
        (1.25, 0),
        (2**60 + 2, 0),
    ]


@pytest.mark.parametrize("path", ["somewhere", None])
def test_the_first_kernel_of_this_package_is_announced_on_a_terminal(path, capsys, monkeypatch):
    def announcement(notice, module):
        dispatcher = SimpleNamespace(py_func=SimpleNamespace(__module__=module), stats=SimpleNamespace(cache_path=path))
        notice.on_start(SimpleNamespace(data={"dispatcher": dispatcher}))
        return capsys.readouterr().err

    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    notice = compiling.CompilingNotice()
    modules = ["numpy", None, "rankadapters.core", "rankadapters.core", "numpy"]
    line = compiling.EVERY_TIME if path is None else compiling.ONCE
    assert [announcement(notice, module) for module in modules] == ["", "", f"{line}\n", "", ""]
    monkeypatch.setattr("sys.stderr.isatty", lambda: False, raising=False)
    assert announcement(compiling.CompilingNotice(), "rankadapters") == ""


def test_the_notice_is_registered_once_for_many_kernels(load_kernel, monkeypatch):
    notices, register = [], compiling.event.register

    def register_or_count(kind, listener):
        (notices.append if isinstance(listener, compiling.CompilingNotice) else partial(register, kind))(listener)

    monkeypatch.setattr(compiling.event, "register", register_or_count)
    compiling.announce_compiling.cache_clear()
    assert [result_and_compilations(load_kernel(added=number))[0] for number in (1, 2)] == [42, 43]
    assert len(notices) == 1


def test_a_full_disk_is_reported_and_the_evaluation_goes_on(small_disk):
    (small_disk / "filling").write_bytes(bytes(60_000))
    terminal = "import sys; sys.stderr.isatty = lambda: True; "
    process = run_python("-c", terminal + COUNT_COMPILED, NUMBA_CACHE_DIR=small_disk, **NOW)
    assert process.stdout == f"{HASHES}1 0\n"
    first, second = process.stderr.splitlines()
    assert first == "rankadapters: compiling, once on this machine"
    assert second.startswith("rankadapters: machine code cannot be kept: [Errno 28] No space left on device")
    assert [path.name for path in cached_files(small_disk)] == ["filling"]


def test_a_warmup_on_a_full_disk_is_refused(capsys, monkeypatch):
    disk_full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(kept_code, "FAILURES", [])
    monkeypatch.setattr(warmup, "declared", lambda: {"a kernel": [[]]})
    monkeypatch.setattr(warmup, "named", lambda name: name)
    monkeypatch.setattr(compiling, "compile_for", lambda kernel, arguments: kept_code.FAILURES.append(disk_full))
    line = error_of(capsys, "warmup")
    assert line.startswith("rankadapters: error: cannot write to ")
    assert line.endswith(": [Errno 28] No space left on device. Hint: free disk space, or set NUMBA_CACHE_DIR.\n")


@pytest.fixture
def installed_read_only(tmp_path):
    """Copy the package into a folder that nobody may write."""
    folder = tmp_path / "installed"
    shutil.copytree(CHECKOUT / "rankadapters", folder / "rankadapters", ignore=shutil.ignore_patterns("__pycache__"))
    folders = [path for path in folder.rglob("*") if path.is_dir()]
    for path in folders:
        path.chmod(0o555)
    yield folder
    for path in folders:
        path.chmod(0o755)


@needs_posix
@pytest.mark.parametrize("home", ["read-only", "unset"])
def test_evaluation_works_where_no_folder_can_be_written(installed_read_only, read_only, home):
    environment = {"HOME": None if home == "unset" else read_only, "NUMBA_CACHE_DIR": None, "XDG_CACHE_HOME": None}
    process = run_python(
        "-c",
        PRINT_FOLDER,
        cwd=installed_read_only,
        without_root=True,
        PYTHONPATH=installed_read_only,
        **environment,
        **NOW,
    )
    hashes, folder = process.stdout.splitlines()
    assert (hashes + "\n", process.stderr) == (HASHES, "")
    assert cached_files(read_only) == []
    if home == "unset" and folder != "None":  # the user database has a home
        shutil.rmtree(folder)
    else:
        assert folder == "None"


@needs_posix
def test_a_user_without_a_home_gets_no_cache_folder(tmp_path, monkeypatch):
    import pwd

    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)  # KeyError, as for a user whom the system does not list
    assert kept_code.HomeLocator.from_function(cached_files, __file__) is None
    assert kept_code.HomeLocator in kept_code.CacheLocations._locator_classes
    assert list(tmp_path.iterdir()) == []


@needs_posix
def test_evaluation_works_with_a_read_only_cache_folder(read_only):
    process = run_python("-c", COUNT_COMPILED, without_root=True, NUMBA_CACHE_DIR=read_only, **NOW)
    assert process.stdout.startswith(HASHES)
    assert cached_files(read_only) == []
