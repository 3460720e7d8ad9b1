"""Call a program like a function: it starts once, and reads and writes one JSON line per call."""

from __future__ import annotations

import json
import os
import queue
import shlex
import signal
import subprocess
import tempfile
import threading
from contextlib import suppress
from typing import IO, Any, Self

from rankadapters.core.declaration.arguments import number, whole_or_none
from rankadapters.core.errors import InputError, brief
from rankadapters.statistics.probing.answers import NoAnswer
from rankadapters.statistics.probing.cases import Case

MOST_TIME_OUTS = 3  # after this many time-outs, a program is not called again
MOST_STARTS = 20  # after so many starts in a row without an answer, a program is not started again
MOST_SECONDS = 10**6  # longest time-out; much longer ones overflow
MOST_ERROR_BYTES, MOST_ERROR_CHARACTERS = 4096, 200  # of the error output that are read, and that are shown


class Program:
    r"""A program that computes a metric, as a function of labels, scores and the rows of each query.

    It reads a line for each question, `{"id": 1, "k": 10, "queries": [{"labels": [1, 0], "scores": [0.3, 0.2]}]}`, and
    writes a line for each answer, `{"id": 1, "value": 0.63}` or `{"id": 1, "error": "why there is none"}`. It must
    flush each line. Use it in a `with` statement, which ends the program. If the program ends earlier, it is restarted,
    but not after 3 time-outs, nor after 20 starts in a row without an answer.

    Parameters
    ----------
    command : str
        The command line, without a shell.
    k : int, optional
        The cutoff that is sent with each question.
    timeout : float, default 10
        Seconds to wait for an answer, at most 1,000,000.

    Raises
    ------
    InputError
        An argument is wrong, or, on entering the `with` statement, the program cannot be started.

    Examples
    --------
    >>> import sys
    >>> answer = 'import json; print(json.dumps({"id": json.loads(input())["id"], "value": 0.5}))'
    >>> with Program(f"{sys.executable} -c '{answer}'") as program:
    ...     program([1, 0], [0.3, 0.2], [2])
    0.5
    """

    def __init__(self, command: str, *, k: int | None = None, timeout: float = 10) -> None:
        try:
            self._arguments = shlex.split(command) if isinstance(command, str) else []
        except ValueError:
            self._arguments = []
        if not self._arguments:
            raise InputError(f"command={brief(command)}; allowed are command lines.", hint="command='node ndcg.js'")
        self._k = whole_or_none("k", k, "all ranks")
        self._timeout = number("timeout", timeout, least=0, most=MOST_SECONDS, above=True)
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._errors: IO[bytes] | None = None
        self._id = self._time_outs = self._starts = 0

    def __call__(self, labels: Any, scores: Any, group_sizes: Any = None) -> Any:
        """Return the value that the program computes for one query, or for several queries."""
        if self._time_outs >= MOST_TIME_OUTS:
            raise NoAnswer(f"was not called again after {MOST_TIME_OUTS} time-outs")
        if self._process is None and self._starts >= MOST_STARTS:
            raise NoAnswer(f"was not called again after {MOST_STARTS} starts without an answer")
        self._id += 1
        queries = Case.of(labels, scores, sizes=group_sizes).as_queries()
        process = self._running()
        try:
            process.stdin.write(json.dumps({"id": self._id, "k": self._k, "queries": queries}) + "\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
        except OSError:
            raise self._crash() from None
        return self._answer()

    def __enter__(self) -> Self:
        """Start the program."""
        self._running()
        return self

    def __exit__(self, *_: object) -> None:
        """End the program."""
        self._end()

    def _running(self) -> subprocess.Popen[str]:
        """Return the running process, starting it if necessary."""
        if self._process is None:
            self._starts += 1
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in _end
            try:
                self._process = subprocess.Popen(  # noqa: S603 - the user's own command
                    self._arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
                    encoding="utf-8", errors="replace", start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                self._errors.close()
                msg = f"command={shlex.join(self._arguments)!r} cannot be started: {error.strerror}."
                raise InputError(msg, hint="pass a program and its arguments, such as 'node ndcg.js'") from None
            self._lines = queue.SimpleQueue()
            threading.Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True).start()
        return self._process

    def _answer(self) -> Any:
        """Wait for the program's answer to the current question, and return its value."""
        try:
            line = self._lines.get(timeout=self._timeout)
        except queue.Empty:
            self._time_outs += 1
            self._end()
            raise NoAnswer(f"gave no answer in {self._timeout:g} s") from None
        if not line:
            raise self._crash()
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict) or answer.get("id") != self._id or not {"value", "error"} & set(answer):
            self._end()  # later lines might answer an earlier question
            raise NoAnswer(f"wrote {brief(line.strip())}, which does not answer the question with the id {self._id}")
        self._starts = 0
        if answer.get("error") is not None:
            raise NoAnswer(f"said: {brief(answer['error'])}")
        return answer.get("value")

    def _crash(self) -> NoAnswer:
        """Return an error with the program's exit status and the last line of its standard error."""
        try:
            ended = f"ended with the exit status {self._process.wait(self._timeout) if self._process else None}"
        except subprocess.TimeoutExpired:
            ended = "closed its output, but did not end"
            self._time_outs += 1
        last_line = ""
        if self._errors is not None:
            self._errors.seek(max(self._errors.seek(0, os.SEEK_END) - MOST_ERROR_BYTES, 0))
            last_line = self._errors.read().decode(errors="replace").strip().rpartition("\n")[2]
        self._end()
        return NoAnswer(f"{ended}: {last_line[-MOST_ERROR_CHARACTERS:]}" if last_line else ended)

    def _end(self) -> None:
        """End the program and the processes that it has started."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(OSError, AttributeError):  # it has ended with its processes, or this is Windows
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
            process.wait()
            for stream in (process.stdin, self._errors):
                with suppress(OSError):  # the program ended without reading all of its input
                    stream.close()  # type: ignore[union-attr]


def _read(stream: IO[str], lines: queue.SimpleQueue[str]) -> None:
    """Put the lines of a stream into a queue, and an empty line at the end."""
    with stream:
        for line in stream:
            lines.put(line)
    lines.put("")
