"""The keywords of `Queries`, the names that other libraries use for them, and better messages for wrong calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import wraps
from inspect import CO_VARKEYWORDS, unwrap
from typing import Any, ParamSpec, TypedDict, TypeVar

from rankadapters.core.errors import InputError, choices

P = ParamSpec("P")
T = TypeVar("T")

ROWS = ("qid", "row_weight", "docid", "retrieved", "judged")  # one entry per row

# Names that other libraries use, each with a hint at ours.
_FOREIGN_NAMES = {
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
    """The keywords of `Queries`, for functions that pass them on."""

    qid: Any
    group_sizes: Any
    query_weight: Any
    row_weight: Any
    pairs: Any
    docid: Any
    retrieved: Any
    judged: Any


GROUPS = ("qid", "group_sizes", "query_weight")  # the columns that group rows into queries and weight the queries


def refuse_other_names(
    columns: Mapping[str, object], allowed: Collection[str] = tuple(Columns.__annotations__)
) -> None:
    """Raise InputError for a keyword that is not an allowed column, with a hint at our name for it."""
    unknown = [name for name in columns if name not in allowed]
    if unknown:
        msg = f"{unknown[0]!r} is not an accepted column; allowed are {choices(allowed)}."
        raise InputError(msg, hint=_FOREIGN_NAMES.get(unknown[0], ""))


def by_name(function: Callable[P, T]) -> Callable[P, T]:
    """Replace Python's TypeError for too many positional arguments by one that shows the keyword to use.

    >>> @by_name
    ... def count(labels, *, qid): ...
    >>> count([1, 0], [7, 7])
    Traceback (most recent call last):
    ...
    TypeError: count takes 1 argument by position (labels), but 2 were given.
    Hint: name the others: count(labels, qid=...).
    """
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    named_only = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    example = "qid" if code.co_flags & CO_VARKEYWORDS or not named_only else named_only[0]

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        if len(args) > len(positional):
            names = [name for name in positional if name != "self"]
            raise _too_many(function.__qualname__, names, len(args) - len(positional), example)
        return function(*args, **kwargs)

    return call


def needs(**hints: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Replace Python's TypeError for a missing argument by an InputError with a hint; it names a misspelled one too.

    >>> @needs(rounds="rounds=50, the rounds without improvement")
    ... def early_stopping(convention, rounds): ...
    >>> early_stopping("letor4@10", stopping_rounds=50)
    Traceback (most recent call last):
    ...
    rankadapters.core.errors.InputError: early_stopping has no argument 'stopping_rounds'; it needs rounds.
    Hint: rounds=50, the rounds without improvement.
    """

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        code = unwrap(function).__code__
        positional = code.co_varnames[: code.co_argcount]
        takes_any = bool(code.co_flags & CO_VARKEYWORDS)
        words = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            for name, hint in hints.items():
                if name not in kwargs and name not in positional[: len(args)]:
                    unknown = [] if takes_any else [word for word in kwargs if word not in words]
                    problem = f"needs {name}, which was left out"
                    if unknown:
                        problem = f"has no argument {unknown[0]!r}; it needs {name}"
                    raise InputError(f"{function.__name__} {problem}.", hint=hint)
            return function(*args, **kwargs)

        return call

    return decorated


def _too_many(qualname: str, names: list[str], n_extra: int, example: str) -> TypeError:
    name = qualname.removesuffix(".__init__").rpartition(".")[2]
    listed, plural = ", ".join(names), "s" if len(names) > 1 else ""
    return TypeError(
        f"{name} takes {len(names)} argument{plural} by position ({listed}), but {len(names) + n_extra} were given.\n"
        f"Hint: name the others: {name}({listed}, {example}=...)."
    )
