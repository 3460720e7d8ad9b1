"""A file that we write is either complete or unchanged, whatever fails."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import rankadapters as ra
from rankadapters.io.writing import write_text
from tests.helpers.checkout import CHECKOUT
from tests.helpers.command import error_of
from tests.helpers.python_processes import needs_posix, run_python, start_python

WRITE = "import sys; from rankadapters.io.writing import write_text; write_text(sys.argv[1], sys.argv[2] * 100_000)"
# Writes half of the temporary file, prints "half" and waits to be killed.
WRITE_HALF = """
import sys
from pathlib import Path
def write_half(path, data):
    with path.open("wb") as file:
        file.write(data[: len(data) // 2])
        file.flush()
        print("half", flush=True)
        sys.stdin.read()
Path.write_bytes = write_half
"""


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


def permissions(path):
    return path.stat().st_mode & 0o777


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_writing_replaces_a_file_and_makes_missing_folders(tmp_path):
    path = tmp_path / "new" / "folder" / "page.html"
    for text in ("first é", "second"):
        write_text(path, text)
        assert path.read_text(encoding="utf-8") == text
    assert names(path.parent) == ["page.html"]


@needs_posix
def test_a_new_file_follows_the_umask_and_a_replaced_file_keeps_its_permissions(tmp_path):
    new, old = tmp_path / "new", tmp_path / "old"
    old.touch()
    old.chmod(0o640)
    umask = os.umask(0o027)
    try:
        write_text(new, "")
        write_text(old, "")
    finally:
        os.umask(umask)
    assert (permissions(new), permissions(old)) == (0o640, 0o640)
    old.chmod(0o604)
    write_text(old, "again")
    assert permissions(old) == 0o604


@needs_posix
def test_a_link_stays_a_link_and_its_target_is_written(tmp_path):
    target, link, dangling = tmp_path / "folder" / "page.html", tmp_path / "link", tmp_path / "dangling"
    target.parent.mkdir()
    target.write_text("old")
    link.symlink_to("folder/page.html")
    dangling.symlink_to("folder/new.html")
    write_text(link, "by a link")
    write_text(dangling, "by another")
    assert (target.read_text(encoding="utf-8"), link.is_symlink()) == ("by a link", True)
    assert ((target.parent / "new.html").read_text(encoding="utf-8"), dangling.is_symlink()) == ("by another", True)
    assert names(target.parent) == ["new.html", "page.html"]


@needs_posix
def test_a_pipe_can_be_written_to(tmp_path):
    pipe, texts = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: texts.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    write_text(pipe, "by a pipe")
    reader.join()
    assert (texts, pipe.is_fifo()) == (["by a pipe"], True)


@pytest.mark.long
@needs_posix
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "link"])
def test_redirected_standard_output_is_written_in_place(tmp_path, name):
    """If the file were replaced, the shell would go on writing to the old, renamed one."""
    path = tmp_path / "out"
    (tmp_path / "link").symlink_to("/dev/stdout")
    with path.open("w") as out:
        command = [sys.executable, "-c", WRITE, name if name.startswith("/") else str(tmp_path / name), "a"]
        subprocess.run(command, stdout=out, check=True, cwd=CHECKOUT)
        assert os.fstat(out.fileno()).st_ino == path.stat().st_ino
    assert path.read_text(encoding="utf-8") == 100_000 * "a"


@pytest.mark.long
@needs_posix
@pytest.mark.parametrize(
    ("signal_name", "content"),
    [("SIGKILL", "old"), ("SIGINT", None), ("SIGTERM", "old")],  # Windows has no SIGKILL
)
def test_a_process_that_ends_while_it_writes_changes_no_file(default_sigint, tmp_path, signal_name, content):
    path = tmp_path / "page.html"
    if content is not None:
        path.write_text(content)
    with start_python("-c", WRITE_HALF + WRITE, path, "a") as process:
        assert process.stdout.readline() == "half\n"
        process.send_signal(signal.Signals[signal_name])
        process.wait()
    assert (path.read_text(encoding="utf-8") if path.exists() else None) == content
    if signal_name == "SIGINT":
        assert names(tmp_path) == ["page.html"] * (content is not None)


@pytest.mark.parametrize("content", [None, "old"])
def test_a_full_disk_raises_and_changes_no_file(small_disk, content):
    path = small_disk / "page.html"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ra.InputError, match=rf"^{path} cannot be written: No space left on device\.\nHint: "):
        write_text(path, 100_000 * "a")
    assert names(small_disk) == ["page.html"] * (content is not None)
    assert (path.read_text(encoding="utf-8") if content else None) == content


@pytest.mark.long
@needs_posix
def test_a_read_only_folder_raises(tmp_path):
    path = tmp_path / "folder" / "page.html"
    path.parent.mkdir(0o555)
    stderr = run_python("-c", WRITE, path, "a", without_root=True, code=1).stderr
    assert f"InputError: {path} cannot be written: Permission denied.\n" in stderr
    assert names(path.parent) == []


@pytest.mark.long
@needs_posix
def test_a_read_only_file_is_not_replaced(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    path.chmod(0o444)
    stderr = run_python("-c", WRITE, path, "a", without_root=True, code=1).stderr
    assert f"InputError: {path} cannot be written: Permission denied.\n" in stderr
    assert (path.read_text(encoding="utf-8"), names(tmp_path)) == ("old", ["page.html"])


@pytest.mark.long
@needs_posix
def test_a_writable_file_in_a_read_only_folder_is_written_in_place(tmp_path):
    path = tmp_path / "folder" / "page.html"
    path.parent.mkdir()
    path.write_text("old")
    path.parent.chmod(0o555)
    run_python("-c", WRITE, path, "a", without_root=True)
    path.parent.chmod(0o755)
    assert path.read_text(encoding="utf-8") == 100_000 * "a"


def test_a_lone_surrogate_is_written_as_an_escape(tmp_path):
    write_text(tmp_path / "page.html", "a title of bytes: \udcff")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == "a title of bytes: \\udcff"


@needs_posix
def test_a_cycle_of_links_raises(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(ra.InputError, match="cannot be written: Too many levels of symbolic links"):
        write_text(tmp_path / "a", "text")
    assert names(tmp_path) == ["a", "b"]


RESULTS = "method,dataset,measure,value\nA,d1,letor4@10,0.5\nB,d1,letor4@10,0.25\n"
ROWS = "label,score,qid\n1,0.5,1\n0,0.25,1\n"
COLUMNS = ("--label", "label", "--score", "score", "--qid", "qid")


@pytest.mark.long
@pytest.mark.parametrize(
    ("table", "command"),
    [(ROWS, ("order", "--convention", "letor4@10", *COLUMNS, "--table")), (RESULTS, ("compare",))],
    ids=["order", "compare"],
)
def test_a_command_reports_a_full_disk_in_one_line(capsys, small_disk, write, table, command):
    pytest.importorskip("matplotlib")
    out = small_disk / "page.html"
    (small_disk / "filling").write_bytes(bytes(60_000))
    line = error_of(capsys, *command, write(table, "table.csv"), "--out", out)
    assert line.startswith(f"rankadapters: error: {out} cannot be written: No space left on device. Hint: ")
    assert names(small_disk) == ["filling"]


@pytest.mark.long
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_command_reports_a_full_standard_output_in_one_line(write):
    command = ["evaluate", "--convention", "letor4@10", "--format", "json", "--table", str(write(ROWS, "table.csv"))]
    with Path("/dev/full").open("w") as full_device:
        process = subprocess.run(
            [sys.executable, "-m", "rankadapters", *command, *COLUMNS],
            stdout=full_device, stderr=subprocess.PIPE, text=True, check=False, cwd=CHECKOUT,
        )  # fmt: skip
    assert (process.returncode, process.stderr.count("\n")) == (2, 1)
    assert process.stderr.startswith("rankadapters: error: the result cannot be written: ")
    assert "No space left on device" in process.stderr


def test_a_full_temporary_folder_stops_a_sort_with_a_hint(small_disk, monkeypatch):
    pytest.importorskip("duckdb")
    monkeypatch.setattr("tempfile.tempdir", str(small_disk))
    monkeypatch.setattr("rankadapters.io.sorting.MEMORY", "20MB")
    rows = 100_000
    qid = [f"a query of a long name {i % 977}" for i in range(2 * rows)]
    batch = {"label": [1, 0] * rows, "score": list(range(2 * rows)), "qid": qid}
    with pytest.raises(ra.InputError, match=r"sorting failed: .*\nHint: TMPDIR names a folder that has room"):
        ra.evaluate_table(20 * [batch], "lightgbm@10", unsorted=True)
    assert names(small_disk) == []
