"""Text files are decompressed, checked and counted by line, whichever reader reads them."""

from __future__ import annotations

import bz2
import gzip
import os
import sys
import threading

import pytest

import rankadapters as ra
from rankadapters.io import text
from rankadapters.io.text import lines, open_text

LINES = "first\n\n second é \r\nthird"
READ = [(1, b"first"), (3, " second é ".encode()), (4, b"third")]


def zstd(data):
    return pytest.importorskip("pyarrow").compress(data, codec="zstd", asbytes=True)


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, zstd])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("block", [4, 7, 1 << 20])
def test_lines_are_decompressed_and_numbered(write, monkeypatch, compress, mark, block):
    path = write(compress((mark + LINES).encode()), "file")
    monkeypatch.setattr(text, "_BLOCK", block)
    assert list(lines(path)) == READ
    with open_text(path) as stream:
        assert stream.read() == LINES.encode()


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, zstd])
def test_archives_that_were_joined_are_read_to_the_end(write, compress):
    path = write(compress(b"1\n" * 1000) + compress(b"2\n") + compress(b"3"), "file")
    assert list(lines(path))[-2:] == [(1001, b"2"), (1002, b"3")]


def test_a_file_of_zstd_needs_pyarrow(write, monkeypatch):
    path = write(zstd(b"1\n"), "file")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ra.core.errors.MissingToolkitError, match=r'pip install "rankadapters\[files\]"'):
        list(lines(path))


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, zstd])
def test_a_broken_archive_is_refused(write, compress):
    data = compress(os.urandom(5000).hex().encode())
    for broken in (data[:100], data[:-9], data[:20] + b"0000" + data[24:]):
        with pytest.raises(ra.InputError, match=r"file: .*\nHint: give the path of a readable file"):
            list(lines(write(broken, "file")))


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "file is empty"),
        (b"\n \r\n\t", "file holds no lines"),
        (b"a\nb\rc\n", "file, line 2 holds a carriage return within the line"),
        (b"a\n\nb \xe9\n", "file, line 3, byte 3 of the line: 0xe9 is not UTF-8 text"),
    ],
)
def test_an_error_names_the_file_and_line(write, content, match):
    with pytest.raises(ra.InputError, match=match):
        list(lines(write(content, "file")))


def test_a_pipe_is_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(gzip.compress(LINES.encode()),))
    writer.start()
    assert list(lines(pipe, pytest.fail)) == READ
    writer.join()


def test_progress_is_reported_in_bytes_of_the_file(write, monkeypatch):
    monkeypatch.setattr(text, "_BLOCK", 1000)
    path, steps = write(gzip.compress(os.urandom(5000).hex().encode()), "file"), []
    list(lines(path, lambda done, total: steps.append((done, total))))
    size = path.stat().st_size
    assert len(steps) > 4
    assert steps == sorted(steps)
    assert steps[-1] == (size, size)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, zstd])
def test_what_follows_a_stream_is_a_stream(write, compress):
    """`bz2.open` would drop everything from a damaged stream on."""
    first, second = compress(b"1\n" * 1000), compress(b"2\n")
    damaged = bytes([second[0] ^ 1]) + second[1:]
    for data in (first + damaged, first + second[:1], first + second[:-1], first + b"x", first + second + b"x"):
        with pytest.raises(ra.InputError, match=r"file: .*\nHint: give the path of a readable file"):
            list(lines(write(data, "file")))


@pytest.mark.parametrize(
    ("number", "exact"),
    [
        ("9007199254740992", True),
        ("9007199254740993", False),
        ("-9007199254740994", False),  # an integer beyond 2^53, as in arrays and Parquet
        ("9007199254740994.0", True),
        ("9007199254740993.0", False),
        ("0009007199254740993.00", False),
        ("9.007199254740993e15", False),
        ("9.007199254740994E+15", True),
        ("1e23", True),
        (repr(float(2**70 + 2**20)), True),
        (f"{2.0**70:.25e}", True),
        (repr(1.7976931348623157e308), True),
        ("0.1000000000000000055511151231257827", True),  # below 2^53
    ],
)
def test_a_number_beyond_two_to_the_53_keeps_its_digits(number, exact):
    assert text.is_exact(number) is exact
    assert text.is_finite(number.encode())
    if exact:
        assert text.finite(number.encode()) == float(number)
    else:
        with pytest.raises(ValueError, match=r"is beyond 2\^53, where float64 would merge neighbors into ties"):
            text.finite(number.encode())
