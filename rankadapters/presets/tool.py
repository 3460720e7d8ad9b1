"""The base classes of tools, whose methods and parameters have the names of the tool's own metrics and options."""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, NoReturn, TypeVar, Unpack

from rankadapters.core.declaration.convention import Convention, as_convention
from rankadapters.core.declaration.fields import Field
from rankadapters.core.declaration.spelling import as_number, as_whole, number
from rankadapters.core.errors import ConventionError, UnsupportedConventionError, choices
from rankadapters.core.measures import NDCG
from rankadapters.presets.options import Fields, Options
from rankadapters.presets.preset import preset, presets_of

Make = Callable[..., Convention]
Evidence = Literal["run", "read"]
Spelling = TypeVar("Spelling")  # type in which a toolkit writes a metric: a string, or a dict of parameters


class Tool:
    """A tool that computes ranking metrics: a call with a cutoff returns its NDCG; methods return other measures.

    The `__call__` of a tool without NDCG raises an error.

    Class arguments declare the fields that all presets of the tool share, `class Ranx(Tool, name="ranx",
    ties="input")`. Each preset uses those that its measure has.

    Attributes
    ----------
    name : str
        The tool's name in texts such as `letor4@10`.
    defaults : Fields
        Fields of all presets of the tool, which a preset may override.
    options : dict of str to Option
        By argument of the presets, the fields that it changes.
    package : str
        Name of the package for pip; empty if pip cannot install the tool.
    versions : tuple of str
        The first and the last release for which the presets were confirmed, or the only one.
    evidence : {'run', 'read'}
        Whether numbers of the tool confirm the presets, or only its source (for a definition, the paper).
    """

    name: ClassVar[str]
    package: ClassVar[str] = ""
    versions: ClassVar[tuple[str, ...]] = ()
    evidence: ClassVar[Evidence] = "read"
    defaults: ClassVar[Fields] = {}
    options: ClassVar[Options] = {}

    def __init_subclass__(
        cls, *, name: str = "", package: str | None = None, versions: tuple[str, ...] = (),
        evidence: Evidence = "read", **defaults: Unpack[Fields],
    ) -> None:  # fmt: skip
        """Store the class arguments; fields are added to those of the parent class."""
        super().__init_subclass__()
        cls.name, cls.versions, cls.evidence = name, versions, evidence
        cls.package = cls.package if package is None else package
        cls.defaults = {**cls.defaults, **defaults}

    @preset(NDCG)
    def __call__(self, k: int | None) -> NDCG:
        """Return the tool's NDCG at a cutoff."""

    @property
    def __name__(self) -> str:
        """The tool's name, since tools are called like functions."""
        return self.name

    def __repr__(self) -> str:
        return f"presets.{self.name}"

    if not TYPE_CHECKING:  # so that type checkers report unknown names

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(name if name.startswith("_") else str(self._unknown(name)))

    @classmethod
    def measures(cls) -> tuple[str, ...]:
        """Return the names of the methods for measures other than NDCG, such as `recip_rank`."""
        return tuple(name for name in presets_of(cls) if name != "__call__")

    def read(self, text: str, **params: Any) -> Convention:
        """Return the convention of a metric, given the tool's own name for it, such as `map_cut_10`.

        Raises
        ------
        ConventionError
            The metric is unknown.
        """
        for method, declared in presets_of(type(self)).items():
            match = re.fullmatch(declared.reads, text, re.ASCII) if declared.reads and isinstance(text, str) else None
            if match is None:
                continue
            arguments = {name: _argument(value) for name, value in match.groupdict().items() if value is not None}
            parameters = [*(["k"] if declared.takes_k else []), *declared.options]
            refuse_unknown(text, params, tuple(name for name in parameters if name not in arguments))
            k = {"k": None} if declared.takes_k else {}
            convention: Convention = getattr(self, method)(**k | arguments | params)
            return convention
        raise self._unknown(text, params)

    def _unknown(self, text: object, params: Mapping[str, Any] | None = None) -> ConventionError:
        has_ndcg = "__call__" in presets_of(type(self))
        measures = choices([*([self.name] if has_ndcg else []), *self.measures()])
        suffix = f" with {choices(params)}" if params else ""
        return ConventionError(
            f"{text!r:.80}{suffix} is not a known metric of {self.name}; there are presets for {measures}.",
            hint=f"presets.{self.name}(10)" if has_ndcg else f"presets.{self.name}.{self.measures()[0]}()",
        )


class PresetCall(NamedTuple):
    """A call of a preset: the tool's own name of the metric, the arguments, and the resulting convention."""

    metric: str
    arguments: dict[str, Any]
    convention: Convention


class Vocabulary(Tool, ABC, Generic[Spelling]):
    """A tool with translations between conventions and its own metric names and parameters, in both directions.

    Attributes
    ----------
    title : str
        The tool's name in prose.
    all_retrieved : bool
        Whether the tool regards every row as judged and retrieved, as toolkits do.
    """

    title: ClassVar[str]
    all_retrieved: ClassVar[bool] = True

    def calls(self, convention: Convention) -> Iterator[PresetCall]:
        """Yield calls of the measure's presets, one for each choice of options that could give the convention."""
        for method, declared in presets_of(type(self)).items():
            if declared.measure is not type(convention):
                continue
            near = {name: declared.option(self, name).near(convention) for name in declared.options}
            k = {"k": self._cutoff(convention)} if declared.takes_k else {}
            for values in product(*near.values()):
                arguments = {**k, **dict(zip(near, values, strict=True))}
                yield PresetCall(declared.reads, arguments, getattr(self, method)(**arguments))

    def _call(self, convention: Convention) -> PresetCall:
        """Return the call whose convention differs in the fewest fields; an NDCG if the tool lacks the measure."""
        return _nearest_call(self, convention)

    def nearest(self, convention: Convention) -> Convention:
        """Return the nearest convention that the tool can compute, which may be the same one."""
        return self._call(as_convention(convention)).convention

    def fallback(self, convention: Any) -> Convention:
        """Return the convention to use if the tool lacks the measure; by default, an NDCG at the same cutoff."""
        return self(getattr(convention, "k", None))

    def _cutoff(self, convention: Any) -> int | None:
        """Return the nearest cutoff that the tool accepts."""
        return getattr(convention, "k", None)

    @abstractmethod
    def spell(self, convention: Any) -> Spelling:
        """Return the tool's name or parameters for a convention that it can compute."""

    def write(self, convention: Convention | str) -> Spelling:
        """Return the tool's name or parameters for a convention or for its text; `read` is the inverse.

        Raises
        ------
        UnsupportedConventionError
            The tool cannot express a field; the message names all such fields and the nearest possible convention.
        """
        convention = as_convention(convention)
        nearest = self.nearest(convention)
        require_expressible(self.title, convention, nearest, all_retrieved=self.all_retrieved)
        return self.spell(nearest)


@lru_cache(maxsize=256)
def _nearest_call(vocabulary: Vocabulary[Any], convention: Convention) -> PresetCall:
    calls = vocabulary.calls(convention)
    nearest = min(calls, key=lambda call: len(call.convention.diff(convention)), default=None)
    return nearest or PresetCall("", {}, vocabulary.fallback(convention))


def _argument(text: str) -> float | bool:
    """Parse an argument in a metric's name: a number, or True if it is a word that may be left out."""
    value = as_number(text)
    whole = as_whole(text)
    return whole if whole is not None else True if value is None else value


def takes_k(make: Make) -> bool:
    """Return whether a preset needs a cutoff."""
    k = inspect.signature(make).parameters.get("k")
    return k is not None and k.default is inspect.Parameter.empty


def split_spec(spec: object, key: str, params: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Split an argument of `read`, a name or a result of `write`, into the metric's name and its parameters."""
    if not isinstance(spec, Mapping):
        return spec, dict(params)
    return spec.get(key), {**{name: value for name, value in spec.items() if name != key}, **params}


def refuse_unknown(spec: object, params: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
    """Raise ConventionError for a parameter that the metric does not have."""
    unknown = [name for name in params if name not in allowed]
    if unknown:
        listed = f"; allowed are {choices(allowed)}" if allowed else ""
        raise ConventionError(f"{spec!r:.80} has no parameter {unknown[0]!r}{listed}.")


def read_cutoff(text: object, upto: int = 2**31 - 1) -> int | None:
    """Return the cutoff that digits spell; None if the text is not a cutoff."""
    k = as_whole(text) if isinstance(text, str) and not text.startswith("0") else None
    return k if k is not None and k <= upto else None


def differing(convention: Convention, nearest: Convention, *, all_retrieved: bool = True) -> dict[str, tuple[Any, Any]]:
    """Return the fields in which a toolkit's nearest convention differs, with the requested and the nearest value.

    Inside a toolkit every row is judged and retrieved. There `missing` and most words of `unjudged` have no effect, and
    `ideal="retrieved"`, which cuts the ideal list at the number of retrieved rows, means the same as `ideal="cutoff"`.

    Parameters
    ----------
    convention : Convention
        The requested convention.
    nearest : Convention
        The nearest convention that the toolkit can express.
    all_retrieved : bool
        Whether every row is judged and retrieved, as inside a toolkit; False compares every field.

    Returns
    -------
    dict of str to (requested, nearest)
        Empty if the toolkit can express the convention.

    Examples
    --------
    >>> from rankadapters import presets
    >>> differing(presets.sklearn(10), presets.catboost(10))
    {'ties': ('average', 'worst'), 'empty': (0.0, 1.0)}
    """
    convention = as_convention(convention)
    kinds = convention.declared().items()

    def matters(name: str, kind: Field) -> bool:
        values = (getattr(declaration, name, None) for declaration in (convention, nearest))
        return not (all_retrieved and kind.group == "retrieval") or any(value in kind.active for value in values)

    # If the measures differ, only the fields of the requested convention matter.
    declared = {"measure", *(name for name, kind in kinds if matters(name, kind))}
    if all_retrieved:
        convention, nearest = convention.all_retrieved(), nearest.all_retrieved()
    fields_that_differ = convention.diff(nearest)
    return {name: values for name, values in fields_that_differ.items() if name in declared}


def require_expressible(
    toolkit: str, convention: Convention, nearest: Convention, *, all_retrieved: bool = True
) -> None:
    """Raise UnsupportedConventionError for a convention that a toolkit cannot express.

    Parameters
    ----------
    toolkit : str
        The toolkit's name in the message.
    convention, nearest : Convention
        As in `differing`.
    all_retrieved : bool
        As in `differing`.

    Raises
    ------
    UnsupportedConventionError
        The conventions differ in a field that matters; the message names all such fields and the nearest convention.

    Examples
    --------
    >>> from rankadapters import presets
    >>> require_expressible("CatBoost", presets.yahoo(10), presets.catboost(10, type="Exp", use_weights=False))
    Traceback (most recent call last):
    ...
    rankadapters.core.errors.UnsupportedConventionError: CatBoost cannot express ties='input', only ties='worst'.
    Hint: the nearest it can express is ndcg@10/gain=exp2/discount=log2/ideal=cutoff/ties=worst/...
    """
    different = differing(convention, nearest, all_retrieved=all_retrieved)
    if different:
        raise UnsupportedConventionError(
            f"{toolkit} cannot express {spelled(different)}.",
            hint=f"the nearest it can express is {nearest}",
            nearest=nearest,
        )


def spelled(different: dict[str, tuple[Any, Any]]) -> str:
    """Describe the result of `differing` in a message.

    >>> spelled({"ties": ("average", "worst"), "empty": (0.0, 1.0)})
    "ties='average', empty=0, only ties='worst', empty=1"
    """
    requested, nearest = (
        ", ".join(f"{name}={as_text(values[side])}" for name, values in different.items()) for side in (0, 1)
    )
    return f"{requested}, only {nearest}"


def as_text(value: object) -> str:
    """Return the text of a field's value, with numbers in their shortest form."""
    return number(value) if isinstance(value, float) else repr(value)
