"""The keywords of `Queries`: which there are, and what other libraries call them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import wraps
from inspect import CO_VARKEYWORDS, unwrap
from typing import Any, ParamSpec, TypedDict, TypeVar

from rankadapters.core.errors import InputError, choices

P = ParamSpec("P")
T = TypeVar("T")

ROWS = ("qid", "row_weight", "docid", "retrieved", "judged")  # one entry per row

# What other libraries call our columns.
_OTHERS = {
    "group": "group_sizes= takes the rows of each query, qid= one id per row",
    "groups": "qid= takes one id per row, group_sizes= the rows of each query",
    "qids": "qid= takes one id per row",
    "query_id": "qid= takes one id per row",
    "group_id": "qid= takes one id per row",
    "sample_weight": "row_weight= takes one weight per row, query_weight= one per query",
    "weight": "row_weight= takes one weight per row, query_weight= one per query",
    "weights": "row_weight= takes one weight per row, query_weight= one per query",
    "group_weight": "query_weight= takes one weight per query",
    "docids": "docid= takes one string per row",
}


class Columns(TypedDict, total=False):
    """The keywords of `Queries`, which other functions pass on."""

    qid: Any
    group_sizes: Any
    query_weight: Any
    row_weight: Any
    pairs: Any
    docid: Any
    retrieved: Any
    judged: Any


GROUPS = ("qid", "group_sizes", "query_weight")  # those that say how rows form queries, and what each weighs


def refuse_other_names(columns: Mapping[str, object], taken: Collection[str] = tuple(Columns.__annotations__)) -> None:
    """Refuse a keyword that is not one of the columns taken, with what we call it."""
    unknown = [name for name in columns if name not in taken]
    if unknown:
        hint = f"\nHint: {_OTHERS[unknown[0]]}." if unknown[0] in _OTHERS else ""
        raise InputError(f"{unknown[0]!r} is not an accepted column; allowed are {choices(taken)}.{hint}")


def by_name(function: Callable[P, T]) -> Callable[P, T]:
    """Say how to name the columns where one was given by position, which Python's own message does not.

    >>> @by_name
    ... def count(labels, *, qid): ...
    >>> count([1, 0], [7, 7])
    Traceback (most recent call last):
    ...
    TypeError: count takes 1 argument by position (labels), but 2 were given.
    Hint: name the others: count(labels, qid=...).
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    named_only = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    example = "qid" if code.co_flags & CO_VARKEYWORDS or not named_only else named_only[0]

    @wraps(function)
    def call(*given: P.args, **named: P.kwargs) -> T:
        if len(given) > len(names):
            taken = [name for name in names if name != "self"]
            raise _unnamed(function.__qualname__, taken, len(given) - len(names), example)
        return function(*given, **named)

    return call


def needs(**hints: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Say what to write where an argument is left out, which Python's own message does not.

    >>> @needs(rounds="rounds=50, the rounds without improvement")
    ... def early_stopping(convention, rounds): ...
    >>> early_stopping("letor4@10")
    Traceback (most recent call last):
    ...
    rankadapters.core.errors.InputError: early_stopping needs rounds, which was left out.
    Hint: rounds=50, the rounds without improvement.
    """

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        code = unwrap(function).__code__
        positional = code.co_varnames[: code.co_argcount]

        @wraps(function)
        def call(*given: P.args, **named: P.kwargs) -> T:
            for name, hint in hints.items():
                if name not in named and name not in positional[: len(given)]:
                    raise InputError(f"{function.__name__} needs {name}, which was left out.", hint=hint)
            return function(*given, **named)

        return call

    return decorated


def _unnamed(qualname: str, names: list[str], more: int, example: str) -> TypeError:
    name = qualname.removesuffix(".__init__").rpartition(".")[2]
    taken, several = ", ".join(names), "s" if len(names) > 1 else ""
    return TypeError(
        f"{name} takes {len(names)} argument{several} by position ({taken}), but {len(names) + more} were given.\n"
        f"Hint: name the others: {name}({taken}, {example}=...)."
    )
