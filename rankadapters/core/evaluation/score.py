"""Scores: each carries its convention and compares only under equal conventions and queries; results by convention."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain
from numbers import Number, Real
from typing import Any, ClassVar, NoReturn, TypeVar, cast

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
from rankadapters.core.evaluation.table import Cell, Table, Written, distinct_decimals
from rankadapters.presets.texts import as_convention, parse


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member is repeated")
    return members


COUNTS = ("n_queries", "n_scored", "n_empty", "n_short")
MEMBERS = ("value", "name", "convention", *COUNTS, "digest")  # of `Score.to_dict`
HEAD = ("value", *(name.removeprefix("n_") for name in COUNTS))  # column heads of `cells`
_WIDEST = 7  # most columns of a printed table of models


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


@Real.register  # so that `pytest.approx` and others take it for a number
@dataclass(frozen=True, slots=True, repr=False)
class Score(_ShownScores):
    """A number and the convention that made it.

    Scores with the same value and convention are equal. Only scores of the same convention and queries can be ordered
    or subtracted. A plain number or `pytest.approx` is compared with the value. So 0.5 equals two scores of 0.5 under
    different conventions, which do not equal each other; the hash is that of the value.

    Attributes
    ----------
    value : float
        Mean over the scored queries.
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
    >>> f"{score:.3f}", round(score, 3), score > 0.6
    ('0.631', 0.631, True)
    >>> score
    Score(0.6309297535714575, 'textbook@2', n_queries=1, n_scored=1, n_empty=0, n_short=0)
    >>> Score.from_dict(score.to_dict()) == Score.from_json(score.to_json()) == score
    True
    """

    value: float
    convention: Convention
    n_queries: int = field(compare=False)
    n_scored: int = field(compare=False)
    n_empty: int = field(compare=False)
    n_short: int = field(compare=False)
    digest: int = field(compare=False, repr=False)
    imag: ClassVar[float] = 0.0  # fractions and `pytest.approx` ask numbers for `real` and `imag`

    def __repr__(self) -> str:
        """Show the exact value, the shortest text of the convention, and the counts."""
        counts = ", ".join(f"{name}={getattr(self, name)}" for name in COUNTS)
        return f"Score({self.value!r}, {self.convention.short_name!r}, {counts})"

    def __str__(self) -> str:
        """Return the value to four decimals and the signature."""
        return f"{self.value:.4f}  {self.convention}"

    def _repr_html_(self) -> str:
        """Show the value, the signature and the counts in a notebook."""
        from html import escape

        signature = escape(str(self.convention))
        return f"<p><b>{self.value:.4f}</b> <code>{signature}</code><br><small>{self._counts()}</small></p>"

    def _repr_markdown_(self) -> str:
        """Show the value, the signature and the counts in Markdown."""
        return f"**{self.value:.4f}** `{self.convention}`  \n{self._counts()}"

    def _counts(self) -> str:
        return ", ".join(f"{name.removeprefix('n_')} {getattr(self, name)}" for name in COUNTS)

    def _scores(self) -> Collection[tuple[Convention, Any]]:
        return [(self.convention, self)]

    def __format__(self, spec: str) -> str:
        """Format the value; without a format specification, return `str(self)`."""
        return format(self.value, spec) if spec else str(self)

    def __float__(self) -> float:
        """Return the value."""
        return self.value

    def __round__(self, ndigits: int | None = None) -> float:
        """Round the value."""
        return round(self.value, ndigits)

    def to_dict(self) -> dict[str, Any]:
        """Return exact plain JSON types: value, convention name and signature, counts, and the queries' digest."""
        counts = {name: getattr(self, name) for name in COUNTS}
        named = {"value": self.value, "name": self.convention.name, "convention": str(self.convention)}
        return {**named, **counts, "digest": hex(self.digest)}

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
            text("name", data["name"], hint=hint)
            convention = parse(text("convention", data["convention"], hint=hint))
            if str(convention) != data["convention"]:  # other texts may change their meaning
                raise refusal("convention", data["convention"], "signatures", hint)
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

    def __eq__(self, other: object) -> bool:
        """Compare value and convention with another score, and the value alone with a number."""
        if isinstance(other, Score):
            return self.value == other.value and self.convention == other.convention
        return self.value == cast("float", other) if isinstance(other, Number) else NotImplemented

    def __hash__(self) -> int:
        """Hash the value alone, since a score equals the number that is its value."""
        return hash(self.value)

    @property
    def real(self) -> float:
        """The value, as a real number has it."""
        return self.value

    def __abs__(self) -> float:
        """Return the absolute value."""
        return abs(self.value)

    def __sub__(self, other: Score | float) -> float:
        """Return the difference from a score of the same convention and queries, or from a number."""
        return self.value - self._comparable(other, "-")

    def __rsub__(self, other: float) -> float:
        """Return the difference of a number from the value."""
        return self._comparable(other, "-") - self.value

    def __add__(self, other: object) -> NoReturn:
        """Refuse: a sum or mean of scores, such as of folds, is not a score."""
        msg = "scores are not added up, since a sum or a mean of them is not a score under a convention"
        raise IncomparableScoresError(f"{msg}.", hint="numpy.mean([score.value for score in scores])")

    __radd__ = __add__

    def __lt__(self, other: Score | float) -> bool:
        """Compare with a score of the same convention and queries, or with a number."""
        return self.value < self._comparable(other, "<")

    def __le__(self, other: Score | float) -> bool:
        """Compare with a score of the same convention and queries, or with a number."""
        return self.value <= self._comparable(other, "<=")

    def __gt__(self, other: Score | float) -> bool:
        """Compare with a score of the same convention and queries, or with a number."""
        return self.value > self._comparable(other, ">")

    def __ge__(self, other: Score | float) -> bool:
        """Compare with a score of the same convention and queries, or with a number."""
        return self.value >= self._comparable(other, ">=")

    def _comparable(self, other: object, operator: str) -> float:
        if not isinstance(other, Score):
            if isinstance(other, (Real, Decimal)):
                return float(other) if operator == "-" else cast("float", other)
            message = f"a Score and a {type(other).__name__} have no {operator!r}."
            raise IncomparableScoresError(message, hint="a number, or a score of the same convention and queries")
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


def _as_whole(count: object) -> object:
    """Return a float such as 2.0, which is a whole number in JSON, as an int."""
    return int(count) if isinstance(count, float) and count.is_integer() else count


Result = TypeVar("Result")  # such as a Score, or a dict of Scores by model


class ByConvention(Mapping[Convention, Result]):
    """Results in the order of the requested conventions.

    Iteration yields every requested entry, even if two conventions are equal. A look-up accepts a convention or any
    text of it, and prefers the entry with the same name.

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
        self._entries = tuple(entries)
        self._indices: dict[Convention, list[int]] = {}
        for index, (convention, _) in enumerate(self._entries):
            self._indices.setdefault(convention, []).append(index)

    def __getitem__(self, key: Convention | str) -> Result:
        """Return the result for a convention, or for a text that parses to it."""
        try:
            convention = key if isinstance(key, Convention) else as_convention(key)
        except ConventionError as error:
            if any(isinstance(result, dict) and key in result for _, result in self._entries if isinstance(key, str)):
                hint = f"first the convention, then the model: scores[{self._entries[0][0].short_name!r}][{key!r}]"
                raise NotAskedError(f"{key!r} is a model, not a convention.", hint=hint) from None
            raise NotAskedError(str(error)) from None
        indices = self._indices.get(convention)
        if indices is None:
            names = choices(convention.short_name for convention in self)
            raise NotAskedError(f"{convention.short_name} was not asked for.", hint=f"this result holds {names}")
        if len(indices) > 1:
            indices = [index for index in indices if self._entries[index][0].name == convention.name] or indices
        return self._entries[indices[0]][1]

    def __iter__(self) -> Iterator[Convention]:
        """Iterate over the conventions in the requested order."""
        return (convention for convention, _ in self._entries)

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    def __repr__(self) -> str:
        """Show each result by its convention's shortest text."""
        entries = ", ".join(f"{convention.short_name!r}: {result!r}" for convention, result in self._entries)
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
        return self._entries


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


def shape_results(
    conventions: Sequence[Convention], models: Mapping[Any, ByConvention[Any]], *, is_one: bool, one_model: bool
) -> Any:
    """Return results by convention, then model; leave out a level if the caller passed a single object for it."""
    first = next(iter(models.values()))
    kind = ScoresOfModels if isinstance(first, Scores) else dict
    by_model = ((key, kind({name: results[key] for name, results in models.items()})) for key in conventions)
    results = first if one_model else type(first)(by_model)
    return results[conventions[0]] if is_one else results


def signatures(conventions: Iterable[Convention]) -> str:
    """Return one line with name and signature for each convention."""
    return "\n".join(dict.fromkeys(f"{convention.name}: {convention}" for convention in conventions))
