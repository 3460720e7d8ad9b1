"""Scores: each carries its convention and compares only under equal conventions and queries; results by convention."""

from __future__ import annotations

import json
import operator
import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import wraps
from itertools import chain
from numbers import Number, Real
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, cast

from rankadapters.core.classes import frozen_class, lazy_property
from rankadapters.core.declaration.arguments import number, refusal, text, whole
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.errors import (
    ConventionError,
    IncomparableScoresError,
    InputError,
    NotAskedError,
    RankAdaptersError,
    brief,
    choices,
)
from rankadapters.evaluation.table import Cell, Table, Written, distinct_decimals, fixed
from rankadapters.presets.texts import as_convention, as_conventions, is_one, parse


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member is repeated")
    return members


COUNTS = ("n_queries", "n_scored", "n_empty", "n_short")
MEMBERS = ("value", "name", "convention", *COUNTS, "digest")  # of `Score.to_dict`
HEAD = ("value", *(name.removeprefix("n_") for name in COUNTS))  # column heads of `cells`
_WIDEST = 7  # most columns of a printed table of models


_ORDER = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}  # a float's methods by their operators
_ARITHMETIC = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "divmod": "divmod"
}  # fmt: skip


class _ShownScores(Written):
    """Scores that are shown as a table: a line for each convention, or for each model with a column per convention."""

    __slots__ = ()

    @abstractmethod
    def _scores(self) -> Collection[tuple[Convention, Any]]:
        """Return each convention with its score, or with a dict of the scores of models."""

    def table(self) -> Table:
        """Return a table with a line for each convention, or, of models, with a column for each convention."""
        scores = self._scores()
        n_conventions = f"{len(scores)} convention{'s' * (len(scores) != 1)}"
        models = dict.fromkeys(model for _, result in scores if isinstance(result, dict) for model in result)
        if not models:
            decimals = distinct_decimals(score.value for _, score in scores)
            lines = [(convention.name, *cells(score, decimals)) for convention, score in scores]
            return Table.of(n_conventions, ("name", *HEAD), lines)
        decimals = max(distinct_decimals(score.value for score in of_models.values()) for _, of_models in scores)
        columns = [
            {model: cells(score, decimals, contest=number) for model, score in of_models.items()}
            for number, (_, of_models) in enumerate(scores)
        ]
        counts, n_shown = (HEAD[1:], None) if len(scores) == 1 else ((), 1)  # there is room for one convention's counts
        none = ("-",) * len(HEAD)
        lines = [(str(model), *chain(*(column.get(model, none)[:n_shown] for column in columns))) for model in models]
        head = ("model", *(convention.name for convention, _ in scores), *counts)
        return Table.of(f"{len(models)} model{'s' * (len(models) != 1)}, {n_conventions}", head, lines)

    def blocks(self) -> list[str | Table]:
        """Return the table, and the signature of each convention."""
        return [self.table(), signatures(convention for convention, _ in self._scores())]

    def _frame_rows(self) -> list[dict[str, Any]]:
        rows = []
        for convention, result in self._scores():
            if isinstance(result, dict):
                rows += [frame_row(score, convention, model=model) for model, score in result.items()]
            else:
                rows.append(frame_row(result, convention))
        return rows


@frozen_class
class Score(_ShownScores, float):
    """A number and the convention that made it.

    With a plain number, array or column a score behaves as its value, a float: in arithmetic, numpy, pandas, polars and
    pyarrow. So does a list of scores, such as `numpy.mean(scores)`: the mean of folds is a number, not a score. Two
    scores can only be ordered or subtracted, under the same convention and over the same queries.

    Scores with the same value and convention are equal. So 0.5 equals two scores of 0.5 under different conventions,
    which do not equal each other; the hash is that of the value.

    Attributes
    ----------
    convention : Convention
        The convention that defines the value.
    n_queries, n_scored, n_empty, n_short : int
        Numbers of queries: all, in the mean, with nothing to find, with fewer than `k` retrieved rows.
    digest : int
        Hash of the queries, their rows and weights; equal digests mean the same queries.

    Examples
    --------
    >>> import rankadapters as ra
    >>> score = ra.evaluate([1, 0], [0.2, 0.9], ra.presets.textbook(2), group_sizes=[2])
    >>> f"{score:.3f}", round(score, 3), score > 0.6, 2 * score
    ('0.631', 0.631, True, 1.261859507142915)
    >>> score
    Score(0.6309297535714575, 'textbook@2', n_queries=1, n_scored=1, n_empty=0, n_short=0)
    >>> Score.from_dict(score.to_dict()) == Score.from_json(score.to_json()) == score
    True
    """

    __slots__ = ("convention", *COUNTS, "digest")

    convention: Convention
    n_queries: int
    n_scored: int
    n_empty: int
    n_short: int
    digest: int
    _changed_copy: ClassVar[str] = "score.value is its number"

    def __new__(  # noqa: PLR0917 - its parts in order
        cls, value: float, convention: Convention, n_queries: int, n_scored: int, n_empty: int, n_short: int,
        digest: int,
    ) -> Self:  # fmt: skip
        """Make a score; `ra.evaluate` computes one."""
        score = float.__new__(cls, value)
        parts = (convention, n_queries, n_scored, n_empty, n_short, digest)
        for name, part in zip(cls.__slots__, parts, strict=True):
            object.__setattr__(score, name, part)
        return score

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle all parts; a float pickles its value alone."""
        return Score, (self.value, *(getattr(self, name) for name in self.__slots__))

    @property
    def value(self) -> float:
        """Mean over the scored queries, as a plain float."""
        return float(self)

    def __repr__(self) -> str:
        """Show the exact value, the shortest text of the convention, and the counts."""
        counts = ", ".join(f"{name}={getattr(self, name)}" for name in COUNTS)
        return f"Score({self.value!r}, {self.convention.short_name!r}, {counts})"

    def __str__(self) -> str:
        """Return the value to four decimals and the signature."""
        return f"{fixed(self.value, 4)}  {self.convention}"

    def _repr_html_(self) -> str:
        """Show the value, the signature and the counts in a notebook."""
        from html import escape

        signature = escape(str(self.convention))
        return f"<p><b>{fixed(self.value, 4)}</b> <code>{signature}</code><br><small>{self._counts()}</small></p>"

    def _repr_markdown_(self) -> str:
        """Show the value, the signature and the counts in Markdown."""
        return f"**{fixed(self.value, 4)}** `{self.convention}`  \n{self._counts()}"

    def _counts(self) -> str:
        return ", ".join(f"{name.removeprefix('n_')} {getattr(self, name)}" for name in COUNTS)

    def _scores(self) -> Collection[tuple[Convention, Any]]:
        return [(self.convention, self)]

    def __format__(self, spec: str) -> str:
        """Format the value; without a format specification, return `str(self)`."""
        return format(self.value, spec) if spec else str(self)

    def to_dict(self) -> dict[str, Any]:
        """Return exact plain JSON types: value, convention name and signature, counts, and the queries' digest."""
        named = {"value": self.value, "name": self.convention.name, "convention": str(self.convention)}
        return {**named, **{name: getattr(self, name) for name in COUNTS}, "digest": hex(self.digest)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Score:
        """Read a score that `to_dict` wrote, to compare it with later scores.

        Raises
        ------
        InputError, ConventionError
            `data` is not from `to_dict`: a member is missing or unknown, has a wrong type, is not what
            `score.schema.json` allows, or is a value or count that no data can have.
        """
        hint = "pass what Score.to_dict() returned"
        try:
            if not isinstance(data, Mapping) or set(data) != set(MEMBERS):
                kind = f"its members are {choices(data)}" if isinstance(data, Mapping) else f"it is {brief(data)}"
                raise InputError(f"{kind}, but those of a score are {choices(MEMBERS)}.", hint=hint)
            convention = parse(text("convention", data["convention"], hint=hint))
            if str(convention) != data["convention"]:  # other texts may change their meaning
                raise refusal("convention", data["convention"], "signatures", hint)
            convention = as_convention({text("name", data["name"], hint=hint): convention})
            value = number("value", data["value"], hint=hint)
            low, high = convention.limits()
            number("value", round(value, 9), least=low, most=high, hint=hint)  # tolerates rounding errors
            n_queries = whole("n_queries", _as_whole(data["n_queries"]), least=0, hint=hint)
            counts = {n: whole(n, _as_whole(data[n]), least=0, most=n_queries, hint=hint) for n in COUNTS}
            digest = text("digest", data["digest"], hint=hint)
            if not re.fullmatch("0x[0-9a-f]+", digest):
                raise refusal("digest", digest, "hexadecimal numbers such as '0xf'", hint)
        except RankAdaptersError as error:
            raise error.about("this is not a score") from None
        return cls(value, convention, **counts, digest=int(digest, 16))

    def to_json(self) -> str:
        """Return `to_dict` as JSON in one line, valid under `score.schema.json`."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Score:
        """Read a score that `to_json` wrote.

        Raises
        ------
        InputError
            `text` is not from `to_json`.
        """
        try:
            data = json.loads(text, object_pairs_hook=_members)
        except (TypeError, ValueError, RecursionError) as error:
            msg = f"{brief(text)} is not the JSON text of a score: {error}."
            raise InputError(msg, hint="pass what Score.to_json() returned") from None
        return cls.from_dict(data)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: object, **options: Any) -> Any:
        """Let numpy compute with the value; beside float32 it would take a subclass of float for a float64."""
        values = [self._comparable(array, "-") if isinstance(array, Score) else array for array in inputs]
        return getattr(ufunc, method)(*values, **options)

    def __eq__(self, other: object) -> bool:
        """Compare value and convention with another score, and the value alone with a number."""
        if isinstance(other, Score):
            return self.value == other.value and self.convention == other.convention
        return self.value == cast("float", other) if isinstance(other, Number) else NotImplemented

    def __ne__(self, other: object) -> bool:
        """Return the opposite of `==`; a float would compare the values of two scores alone."""
        if isinstance(other, Score):
            return not self == other
        return self.value != cast("float", other) if isinstance(other, Number) else NotImplemented

    __hash__ = float.__hash__  # of the value alone, since a score equals the number that is its value

    def _operand(self, other: object, symbol: str) -> Any:
        """Return the other operand; a type of another library decides by itself what a float means to it."""
        if isinstance(other, Score):
            return self._comparable(other, symbol)
        if isinstance(other, Decimal) and symbol not in _ORDER:
            return float(other)
        kinds = (Real, Decimal) if symbol in _ORDER else (Number,)
        if not isinstance(other, kinds) and type(other).__module__ == "builtins":
            message = f"a Score and a {type(other).__name__} have no {symbol!r}."
            raise IncomparableScoresError(message, hint="a number, or a score of the same convention and queries")
        return other

    def _comparable(self, other: Score, symbol: str) -> float:
        """Return the value of a score that may be ordered with, or subtracted from, this one."""
        if symbol == "+":
            msg = "scores are not added up, since a sum or a mean of them is not a score under a convention"
            raise IncomparableScoresError(f"{msg}.", hint="numpy.mean([score.value for score in scores])")
        if symbol not in {"-", *_ORDER}:
            msg = f"two scores have no {symbol!r}: they are only ordered and subtracted."
            raise IncomparableScoresError(msg, hint=".value gives the bare numbers")
        hint = ".value gives the bare numbers, if you must"
        if self.convention != other.convention:
            different = self.convention.diff(other.convention).items()
            fields = ", ".join(f"{name}={ours!r} against {theirs!r}" for name, (ours, theirs) in different)
            reason = f"the conventions differ in {fields or 'their class'}"
        elif (self.n_queries, self.digest) != (other.n_queries, other.digest):
            reason = "the scores were computed over different queries (ids, labels or weights)"
            if (self.n_queries, self.n_empty) == (other.n_queries, other.n_empty):  # perhaps one data set in two files
                hint = f"ids of a CSV are texts, and '7' is not the 7 of a Parquet file; {hint}"
        else:
            return other.value
        raise IncomparableScoresError(f"{reason}.", hint=hint)


def _operator(symbol: str, name: str) -> Callable[[Score, object], Any]:
    """Return a method of `Score` that computes with its value, under our rules for two scores."""
    operate: Callable[[Any, Any], Any] = getattr(operator, name, divmod)

    @wraps(getattr(float, f"__{name}__"))
    def method(self: Score, other: object) -> Any:
        return operate(self.value, self._operand(other, symbol))

    return method


def _reflected(symbol: str, name: str) -> Callable[[Score, object], Any]:
    """Return the method for a score as the second operand."""
    operate: Callable[[Any, Any], Any] = getattr(operator, name, divmod)

    @wraps(getattr(float, f"__r{name}__"))
    def method(self: Score, other: object) -> Any:
        return operate(self._operand(other, symbol), self.value)

    return method


for _symbol, _name in (_ORDER | _ARITHMETIC).items():
    setattr(Score, f"__{_name}__", _operator(_symbol, _name))
for _symbol, _name in _ARITHMETIC.items():
    setattr(Score, f"__r{_name}__", _reflected(_symbol, _name))


def renamed(score: Score, convention: Convention) -> Score:
    """Return a score with the display name of an equal convention."""
    counts = (score.n_queries, score.n_scored, score.n_empty, score.n_short)
    return Score(score.value, convention, *counts, digest=score.digest)


def _as_whole(count: object) -> object:
    """Return a float such as 2.0, which is a whole number in JSON, as an int."""
    return int(count) if isinstance(count, float) and count.is_integer() else count


Result = TypeVar("Result")  # such as a Score, or a dict of Scores by model


def _key(convention: Convention) -> str:
    """Return a text by which the result of a convention is looked up: the caller's name for it, or the shortest."""
    return convention.label or convention.short_name


class ByConvention(Mapping[Convention, Result]):
    """Results in the order of the requested conventions.

    Iteration yields every requested entry, even if two conventions are equal. A look-up accepts a convention, any text
    of it, or the name that it has in a mapping that the caller passed; it prefers the entry with the same name.

    Parameters
    ----------
    entries : iterable of (Convention, result)
        The entries in the requested order.

    Examples
    --------
    >>> import rankadapters as ra
    >>> texts = ["letor3@2", "letor4@2"]
    >>> scores = ra.evaluate([1, 0], [0.9, 0.2], texts, group_sizes=[2])
    >>> [convention.short_name for convention in scores]
    ['letor3@2', 'letor4@2']
    >>> scores["letor4@2"].value
    1.0
    >>> scores["letor4@5"]
    Traceback (most recent call last):
    ...
    rankadapters.core.errors.NotAskedError: letor4@5 was not asked for.
    Hint: this result holds 'letor3@2', 'letor4@2'.
    """

    def __init__(self, entries: Iterable[tuple[Convention, Result]]) -> None:
        self.entries = tuple(entries)
        # If equal conventions are requested, the first one's result comes first.
        self._results = dict(reversed(self.entries))

    @lazy_property
    def _results_by_name(self) -> dict[tuple[Convention, str], Result]:
        return {(convention, convention.name): result for convention, result in reversed(self.entries)}

    @lazy_property
    def _results_by_label(self) -> dict[str, Result]:
        return {key.label: result for key, result in reversed(self.entries) if key.label is not None}

    def __getitem__(self, key: Convention | str) -> Result:
        """Return the result for a convention, the name that the caller gave to it, or a text that parses to it."""
        if isinstance(key, str) and key in self._results_by_label:
            return self._results_by_label[key]
        try:
            convention = key if isinstance(key, Convention) else as_convention(key)
        except ConventionError as error:
            if self._results_by_label:
                raise NotAskedError(
                    f"{key!r:.80} was not asked for.", hint=f"this result holds {self._keys()}"
                ) from None
            if any(isinstance(result, dict) and key in result for _, result in self.entries if isinstance(key, str)):
                hint = f"first the convention, then the model: scores[{_key(self.entries[0][0])!r}][{key!r}]"
                raise NotAskedError(f"{key!r} is a model, not a convention.", hint=hint) from None
            raise NotAskedError(str(error)) from None
        if convention not in self._results:
            raise NotAskedError(f"{_key(convention)} was not asked for.", hint=f"this result holds {self._keys()}")
        if len(self._results) < len(self.entries) and (convention, convention.name) in self._results_by_name:
            return self._results_by_name[convention, convention.name]
        return self._results[convention]

    def _keys(self) -> str:
        return choices(map(_key, self))

    def __iter__(self) -> Iterator[Convention]:
        """Iterate over the conventions in the requested order."""
        return (convention for convention, _ in self.entries)

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.entries)

    def __repr__(self) -> str:
        """Show each result by its convention's shortest text."""
        entries = ", ".join(f"{_key(convention)!r}: {result!r}" for convention, result in self.entries)
        return f"{type(self).__name__}({{{entries}}})"


class Scores(ByConvention[Result], _ShownScores):
    r"""The scores of each convention, printed and drawn as a table.

    Examples
    --------
    >>> import rankadapters as ra
    >>> models = {"up": [1, 2, 3], "down": [3, 2, 1]}
    >>> scores = ra.evaluate([0, 1, 2], models, ["textbook@2", "catboost.query_rmse"], group_sizes=[3])
    >>> print(scores)
    2 models, 2 conventions
    model  ndcg@2/textbook  query-rmse/catboost.query_rmse
    up              1.0000                          0.0000
    down            0.1738                          1.6330
    >>> print(scores.to_latex(decimals=2).partition("\n\n")[0])
    % 2 models, 2 conventions
    \begin{tabular}{lrr}
    \toprule
    model & ndcg@2/textbook & query-rmse/catboost.query\_rmse \\
    \midrule
    up & \textbf{1.00} & \textbf{0.00} \\
    down & 0.17 & 1.63 \\
    \bottomrule
    \end{tabular}
    """

    def __str__(self) -> str:
        """Return the table as text; many conventions become lines, since such a table is too wide for most windows."""
        table = self.table()
        return str(table.transposed("name") if len(table.head) > _WIDEST and table.head[0] == "model" else table)

    def _scores(self) -> Collection[tuple[Convention, Any]]:
        return self.entries


class ScoresOfModels(dict[Any, Score], _ShownScores):
    """The score of each model under one convention: a dict, printed and drawn as a table as `Scores` are.

    Examples
    --------
    >>> import rankadapters as ra
    >>> print(ra.evaluate([0, 1, 2], {"up": [1, 2, 3], "down": [3, 2, 1]}, "textbook@2", group_sizes=[3]))
    2 models, 1 convention
    model  ndcg@2/textbook  queries  scored  empty  short
    up              1.0000        1       1      0      0
    down            0.1738        1       1      0      0
    """

    def __str__(self) -> str:
        """Return the table as text; a dict that was given other values is printed as such."""
        return str(self.table()) if self and all(isinstance(score, Score) for score in self.values()) else repr(self)

    def _scores(self) -> Collection[tuple[Convention, Any]]:
        conventions = dict.fromkeys(score.convention for score in self.values())
        return [(c, {model: score for model, score in self.items() if score.convention == c}) for c in conventions]


class Shape(NamedTuple):
    """The conventions of a call, and whether it was about a single one and a single model.

    Results are by convention, then by model, without the level of what the caller passed as a single object.
    """

    conventions: Sequence[Convention]
    one_convention: bool
    one_model: bool = True

    @classmethod
    def of(cls, convention: object, *, one_model: bool = True) -> Self:
        """Read the argument of a call: a convention, its text, a sequence of these, or a mapping of names to them."""
        if is_one(convention):
            return cls([as_convention(convention)], True, one_model)  # noqa: FBT003 - of a tuple
        return cls(as_conventions(convention), False, one_model)  # noqa: FBT003 - as above

    def results(self, by_model: Mapping[Any, ByConvention[Any]]) -> Any:
        """Return the result of the call, given those of each model under all conventions."""
        results = next(iter(by_model.values()))
        if not self.one_model:
            kind = ScoresOfModels if isinstance(results, Scores) else dict
            columns = [[result for _, result in of_model.entries] for of_model in by_model.values()]
            rows = (kind(zip(by_model, row, strict=True)) for row in zip(*columns, strict=True))
            results = type(results)(zip(self.conventions, rows, strict=True))
        return results[self.conventions[0]] if self.one_convention else results

    def model(self, name: Any) -> dict[str, Any]:
        """Return the entry of a model in the row of a table; none if the caller passed a single model."""
        return {} if self.one_model else {"model": name}


def value_cell(score: Score, form: str, *more: float, contest: Hashable = None) -> Cell:
    """Return the value, and more numbers, in a format; the best of the values in a contest is bold."""
    return Cell(form, score.value, *more, contest=contest, worth=score.convention.worth(score.value))


def cells(score: Score, decimals: int, *, contest: Hashable = None) -> tuple[str, ...]:
    """Return the value and the counts as table cells under `HEAD`."""
    value = value_cell(score, f"{{:.{decimals}f}}", contest=contest)
    return (value, *(str(getattr(score, name)) for name in COUNTS))


def frame_row(score: Score, convention: Convention, **names: Any) -> dict[str, Any]:
    """Return the row of a data frame: the convention, further names such as the model, the value and the counts."""
    counts = {name: getattr(score, name) for name in COUNTS}
    return {"name": convention.name, "signature": str(convention), **names, "value": score.value, **counts}


def signatures(conventions: Iterable[Convention]) -> str:
    """Return one line with name and signature for each convention."""
    return "\n".join(dict.fromkeys(f"{convention.name}: {convention}" for convention in conventions))
