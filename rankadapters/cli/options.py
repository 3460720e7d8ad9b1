"""Parts that the subcommands share: the layout of their help, and the types of their options."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable
from itertools import chain
from textwrap import TextWrapper, fill

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import ConventionError, InputError
from rankadapters.core.measures import MEASURES
from rankadapters.presets.texts import measure_called, metric_called, parse

LARGEST = 2**31 - 1  # every toolkit accepts cutoffs and seeds up to this
UNKNOWN = "unknown"  # cutoff
WIDTH = 79  # columns of a help


def describe(parser: argparse.ArgumentParser, about: str, *lines: str, status: str = "0, or 2 on bad input") -> None:
    """Give the help of a command a description, example commands and the meanings of its exit status."""
    parser.description = fill(about, WIDTH)
    parser.epilog = f"{examples(*lines)}\n\nexit status:\n  {status}"


def examples(*lines: str) -> str:
    """Return example commands, runnable except for file names, whose long lines end in a backslash.

    >>> examples("order --help").splitlines()
    ['examples:', '  rankadapters order --help']
    """
    wrapper = TextWrapper(WIDTH - 2, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)
    return "\n".join(["examples:", *(" \\\n".join(wrapper.wrap(f"rankadapters {line}")) for line in lines)])


def whole_from(least: int, allowed: str = "") -> Callable[[str], int]:
    """Return an argparse type for whole numbers of at least `least`; its error says what is allowed."""

    def whole(text: str) -> int:
        if not (text.isascii() and text.isdigit() and least <= int(text) <= LARGEST):
            msg = f"{text!r} is not {allowed or f'a whole number from {least} to {LARGEST}'}"
            raise argparse.ArgumentTypeError(msg)
        return int(text)

    return whole


def cutoff(text: str) -> int | None:
    """Argparse type of a cutoff; `all` becomes None."""
    return None if text == "all" else whole_from(1, "a cutoff; allowed are whole numbers from 1 on, and 'all'")(text)


def cutoff_or_unknown(text: str) -> str | int | None:
    """Argparse type of a cutoff or the word `unknown`."""
    return text if text == UNKNOWN else cutoff(text)


def convention(text: str) -> Convention:
    """Argparse type of a convention, in any form that `ra.parse` accepts."""
    try:
        return parse(text)
    except ConventionError as error:
        raise _refused(text, error) from None


def _refused(text: str, error: ConventionError) -> argparse.ArgumentTypeError:
    """Return the error of a text that is no convention; a file among them was named too late."""
    if os.path.isfile(text):  # noqa: PTH113 - False for a too long text
        return argparse.ArgumentTypeError(f"{text!r} is a file.\nHint: name files before the options.")
    return argparse.ArgumentTypeError(str(error))


def metrics(text: str) -> list[Convention]:
    """Argparse type of metrics by their tools' names, with more than one cutoff as `trec_eval -m` has it.

    >>> [convention.short_name for convention in metrics("P.5,10")]
    ['trec_eval_9.P@5', 'trec_eval_9.P@10']
    """
    several = re.fullmatch(r"(.+[._])(\d+(?:,\d+)+)", text, re.ASCII)
    texts = [f"{several[1]}{k}" for k in several[2].split(",")] if several else [text]
    try:
        return [metric_called(name) for name in texts]
    except ConventionError as error:
        raise _refused(text, error) from None


def add_conventions(parser: argparse.ArgumentParser, about: str) -> None:
    """Add the option `--convention`."""
    parser.add_argument(
        "--convention", type=convention, nargs="+", action="extend", default=None, metavar="SPEC", help=about
    )


def add_metrics(parser: argparse.ArgumentParser) -> None:
    """Add the option `--measure`, which names conventions too; `conventions_of` returns both."""
    parser.add_argument(
        "--measure", type=metrics, nargs="+", action="extend", default=[], metavar="NAME",
        help="measures as trec_eval calls them, such as map, ndcg_cut.10, recip_rank or P.5,10; as ir_measures does, "
        "such as nDCG@10 or AP(rel=2)@10; or after another tool's name, as in lgbm.map@5",
    )  # fmt: skip


def conventions_of(arguments: argparse.Namespace) -> list[Convention]:
    """Return the conventions of `--convention`, then those of `--measure`.

    Raises
    ------
    InputError
        There is none.
    """
    conventions = [*(arguments.convention or ()), *chain.from_iterable(arguments.measure)]
    if not conventions:
        msg = "neither --convention nor --measure was given."
        raise InputError(msg, hint="--convention lightgbm@10, or --measure map ndcg_cut.10")
    return conventions


def add_measure(parser: argparse.ArgumentParser, role: str, *others: str) -> None:
    """Add the option `--measure`; its help says the measure's role in the command. `others` are allowed besides."""
    names = (*MEASURES, *others)
    about = f"{role}: {', '.join(names)}; or a tool's own word, such as map or mrr (default: ndcg)"
    parser.add_argument("--measure", type=_measure, choices=names, metavar="NAME", default="ndcg", help=about)


def _measure(word: str) -> str:
    return measure_called(word) or word
