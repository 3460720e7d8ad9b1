"""What a tool is: a vocabulary, whose words are the tool's own measures and options."""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import product
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, Unpack

from rankadapters.core.declaration.convention import Convention, as_convention
from rankadapters.core.declaration.spelling import as_number, as_whole, number
from rankadapters.core.errors import ConventionError, UnsupportedConventionError, choices
from rankadapters.core.measures import NDCG
from rankadapters.core.presets.options import Fields, Options
from rankadapters.core.presets.preset import preset, presets_of

Make = Callable[..., Convention]
Evidence = Literal["run", "read"]
Spelled = TypeVar("Spelled")  # what a toolkit's own words are: a string, or parameters


class Tool:
    """A tool: called with a cutoff it gives the tool's NDCG, and its methods give the tool's other measures.

    A tool without NDCG has a `__call__` that is no preset.

    What all its presets declare is written beside the class: `class Ranx(Tool, name="ranx", ties="input")`. A preset
    takes from it the fields that its measure has.

    Attributes
    ----------
    name : str
        As in texts, `letor4@10`.
    defaults : Fields
        What the tool's presets declare, unless they say something else.
    options : dict of str to Option
        What the arguments of its presets change.
    package : str
        What pip installs it as; empty where pip does not.
    versions : tuple of str
        The first and the last release for which its presets were confirmed, or the only one.
    evidence : {'run', 'read'}
        Whether numbers of the tool confirm them, or only its source (of the definition, the paper).
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
        """Take the name, the evidence and the fields that the tool declares, after those of its parent."""
        super().__init_subclass__()
        cls.name, cls.versions, cls.evidence = name, versions, evidence
        cls.package = cls.package if package is None else package
        cls.defaults = {**cls.defaults, **defaults}

    @preset(NDCG)
    def __call__(self, k: int | None) -> NDCG:
        """Give the tool's NDCG at a cutoff."""

    @property
    def __name__(self) -> str:
        """Name as a function has it."""
        return self.name

    def __repr__(self) -> str:
        """Show where it is found."""
        return f"presets.{self.name}"

    @classmethod
    def measures(cls) -> tuple[str, ...]:
        """Name the methods that give other measures, as `trec_eval_9.recip_rank` is written."""
        return tuple(name for name in presets_of(cls) if name != "__call__")

    def read(self, text: str, **params: Any) -> Convention:
        """Read what the tool computes for its own name of a metric, such as `map_cut_10`.

        Raises
        ------
        ConventionError
            No metric that is known here.
        """
        for method, declared in presets_of(type(self)).items():
            match = re.fullmatch(declared.reads, text, re.ASCII) if declared.reads and isinstance(text, str) else None
            if match is None:
                continue
            named = {name: _argument(value) for name, value in match.groupdict().items() if value is not None}
            arguments = [*(["k"] if declared.takes_k else []), *declared.options]
            no_others(text, params, tuple(name for name in arguments if name not in named))
            k = {"k": None} if declared.takes_k else {}
            convention: Convention = getattr(self, method)(**k | named | params)
            return convention
        raise self._unknown(text, params)

    def _unknown(self, text: object, params: Mapping[str, Any] | None = None) -> ConventionError:
        has_ndcg = "__call__" in presets_of(type(self))
        known = choices([*([self.name] if has_ndcg else []), *self.measures()])
        given = f" with {choices(params)}" if params else ""
        return ConventionError(
            f"{text!r:.80}{given} is not a metric of {self.name} that is known here; there are presets for {known}.",
            hint=f"presets.{self.name}(10)" if has_ndcg else f"presets.{self.name}.{self.measures()[0]}()",
        )


class PresetCall(NamedTuple):
    """A call of a preset: the tool's own name of the metric, the arguments, and the convention that they make."""

    metric: str
    arguments: dict[str, Any]
    convention: Convention


class Vocabulary(Tool, ABC, Generic[Spelled]):
    """A tool whose metrics are read and written: conventions to its own names and parameters, and back.

    Attributes
    ----------
    title : str
        The tool's name in prose.
    all_retrieved : bool
        Whether every row is judged and retrieved, as inside a toolkit.
    """

    title: ClassVar[str]
    all_retrieved: ClassVar[bool] = True

    def calls(self, convention: Convention) -> Iterator[PresetCall]:
        """Call every preset of a convention's measure with the options that come near the convention."""
        for method, declared in presets_of(type(self)).items():
            if declared.measure is not type(convention):
                continue
            near = {name: declared.option(self, name).near(convention) for name in declared.options}
            k = {"k": self._cutoff(convention)} if declared.takes_k else {}
            for values in product(*near.values()):
                arguments = {**k, **dict(zip(near, values, strict=True))}
                yield PresetCall(declared.reads, arguments, getattr(self, method)(**arguments))

    def _call(self, convention: Convention) -> PresetCall:
        """Find the call whose convention differs in the fewest fields; its NDCG where the tool has not the measure."""
        return _nearest_call(self, convention)

    def nearest(self, convention: Convention) -> Convention:
        """Give the nearest convention that the tool computes: the same one where it can."""
        return self._call(as_convention(convention)).convention

    def ndcg_beside(self, convention: Any) -> Convention:
        """Give the NDCG that is nearest to a measure that the tool has not."""
        return self(getattr(convention, "k", None))

    def _cutoff(self, convention: Any) -> int | None:
        """Give the nearest cutoff that the tool takes."""
        return getattr(convention, "k", None)

    @abstractmethod
    def spell(self, convention: Any) -> Spelled:
        """Write a convention that the tool computes in its own words."""

    def write(self, convention: Convention | str) -> Spelled:
        """Write a convention, or the text of one, in the tool's own words; `read` reads them back.

        Raises
        ------
        UnsupportedConventionError
            The tool cannot express a field; the message names all such fields and the nearest that it can express.
        """
        convention = as_convention(convention)
        nearest = self.nearest(convention)
        require_expressible(self.title, convention, nearest, all_retrieved=self.all_retrieved)
        return self.spell(nearest)


@lru_cache(maxsize=256)
def _nearest_call(vocabulary: Vocabulary[Any], convention: Convention) -> PresetCall:
    calls = vocabulary.calls(convention)
    nearest = min(calls, key=lambda call: len(call.convention.diff(convention)), default=None)
    return nearest or PresetCall("", {}, vocabulary.ndcg_beside(convention))


def _argument(text: str) -> float | bool:
    """Read an argument in a metric's name: a number, or a word that is there."""
    found = as_number(text)
    whole = as_whole(text)
    return whole if whole is not None else True if found is None else found


def takes_k(make: Make) -> bool:
    """Tell whether a preset needs a cutoff."""
    found = inspect.signature(make).parameters.get("k")
    return found is not None and found.default is inspect.Parameter.empty


def spec_of(spec: object, key: str, params: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Split what `read` is given, a name or what `write` returned, into the name and its parameters."""
    if not isinstance(spec, Mapping):
        return spec, dict(params)
    return spec.get(key), {**{name: value for name, value in spec.items() if name != key}, **params}


def no_others(spec: object, params: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
    """Refuse parameters that a metric does not have."""
    other = [name for name in params if name not in allowed]
    if other:
        known = f"; allowed are {choices(allowed)}" if allowed else ""
        raise ConventionError(f"{spec!r:.80} has no parameter {other[0]!r}{known}.")


def cut(text: object, upto: int = 2**31 - 1) -> int | None:
    """Read the digits of a cutoff; None where they are not a cutoff."""
    found = as_whole(text) if isinstance(text, str) and not text.startswith("0") else None
    return found if found is not None and found <= upto else None


def differing(convention: Convention, nearest: Convention, *, all_retrieved: bool = True) -> dict[str, tuple[Any, Any]]:
    """Name the fields in which a toolkit's nearest convention differs, each with the wanted and the nearest value.

    Inside a toolkit every row is judged and retrieved. Hence `missing` and `unjudged` say nothing there, and an ideal
    list cut at the rows retrieved (`ideal="retrieved"`) is one cut at k.

    Parameters
    ----------
    convention : Convention
        What is wanted.
    nearest : Convention
        The nearest that the toolkit can express.
    all_retrieved : bool
        Whether every row is judged and retrieved, as inside a toolkit; False compares every field.

    Returns
    -------
    dict of str to (wanted, nearest)
        Empty where the toolkit expresses the convention.

    Examples
    --------
    >>> from rankadapters import presets
    >>> differing(presets.sklearn(10), presets.catboost(10))
    {'ties': ('average', 'worst'), 'empty': (0.0, 1.0)}
    """
    convention = as_convention(convention)
    kinds = convention.declared().items()
    # Of a convention of another measure, only what the wanted one declares can be missed.
    declared = {"measure", *(name for name, kind in kinds if not (all_retrieved and kind.group == "retrieval"))}
    if all_retrieved:
        convention, nearest = convention.all_retrieved(), nearest.all_retrieved()
    fields_that_differ = convention.diff(nearest)
    return {name: values for name, values in fields_that_differ.items() if name in declared}


def require_expressible(
    toolkit: str, convention: Convention, nearest: Convention, *, all_retrieved: bool = True
) -> None:
    """Refuse a convention that a toolkit cannot express.

    Parameters
    ----------
    toolkit : str
        Its name, as in the message.
    convention, nearest : Convention
        As in `differing`.
    all_retrieved : bool
        As in `differing`.

    Raises
    ------
    UnsupportedConventionError
        The two mean different numbers; the message names every such field and the nearest convention.

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
    """Write what `differing` found.

    >>> spelled({"ties": ("average", "worst"), "empty": (0.0, 1.0)})
    "ties='average', empty=0, only ties='worst', empty=1"
    """
    wanted, nearest = (
        ", ".join(f"{name}={as_text(values[side])}" for name, values in different.items()) for side in (0, 1)
    )
    return f"{wanted}, only {nearest}"


def as_text(value: object) -> str:
    """Write the value of a field, numbers in shortest form."""
    return number(value) if isinstance(value, float) else repr(value)
