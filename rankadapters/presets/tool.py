"""Tools, their presets and their options.

A preset is a method of a tool without a body, whose decorator declares the convention. Methods and parameters have the
names of the tool's own metrics and options. An option maps its value to fields of a convention, and a convention back
to values.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from inspect import cleandoc
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, ParamSpec, Protocol, TypeVar, cast

from rankadapters.core.classes import frozen_class
from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import as_number, as_whole, is_whole
from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.measures import MEASURES, NDCG
from rankadapters.presets.inexpressible import inexpressible

ANY_WEIGHTS = dict.fromkeys(("query", "row", None))  # values of `weights` for a metric that ignores them

Fields = Mapping[str, Any]  # fields of conventions by name


@frozen_class
@dataclass(frozen=True, slots=True)
class Option:
    """An option of presets.

    Attributes
    ----------
    changes : callable
        Returns the changed fields, or a whole convention to use instead of the preset's, given the option's name and
        its value.
    near : callable
        Returns the option's values that could give a convention; only tools that write conventions need it.
    words : mapping
        The changes by word, for an option with a few words.
    """

    changes: Callable[[str, Any], Fields | Convention]
    near: Callable[[Any], Iterable[Any]] = lambda _: ()
    words: Mapping[Any, Fields | Convention] = field(default_factory=dict)


Options = Mapping[str, Option]  # options by argument name


def choice(words: Mapping[Any, Fields | Convention], near: Callable[[Any], object] | None = None) -> Option:
    """Return an option with a few words, which may also be True, False or None, and the fields that each changes.

    `near` returns the word that comes nearest to a convention; by default, all words are tried.
    """
    return Option(
        lambda name, value: one_of(name, value, words),
        lambda convention: words if near is None else (near(convention),),
        words,
    )


def if_true(**fields: Any) -> Option:
    """Return an option that changes these fields if True, and nothing if False."""
    return choice({True: fields, False: {}})


def same_as(name: str) -> Option:
    """Return an option that sets a field to the option's value."""
    return Option(lambda _, value: {name: value}, lambda convention: (getattr(convention, name),))


def least_grade(name: str, form: str = "from_{}") -> Option:
    """Return an option for the lowest grade that is relevant or that has a gain."""

    def check(option: str, level: object) -> int:
        if not is_whole(level):
            raise ConventionError(f"{option}={level!r}; allowed are whole numbers, the lowest relevant grade.")
        return level

    return in_word(name, form, check, as_whole, near=(1,))


def in_word(
    name: str, form: str, check: Callable[[str, Any], object], read: Callable[[str], Any] = as_number,
    near: tuple[float, ...] = (),
) -> Option:  # fmt: skip
    """Return an option for the number in a field's word, such as `above_0.5`; `near` is for words of another form."""

    def values(convention: Any) -> tuple[float, ...]:
        value = read(str(getattr(convention, name, "")).removeprefix(form.format("")))
        return near if value is None else (value,)

    return Option(lambda option, value: {name: form.format(check(option, value))}, values)


def one_of(name: str, value: object, allowed: Mapping[Any, Any]) -> Any:
    """Return the entry of a value in a mapping, or raise ConventionError if the value is not allowed."""
    if not isinstance(value, (str, bool, NoneType)) or value not in allowed:
        raise ConventionError(f"{name}={value!r}; allowed are {choices(allowed)}.")
    return allowed[value]


def as_bool(name: str, value: object) -> bool:
    """Return a bool, or raise ConventionError."""
    return bool(one_of(name, value, {True: True, False: False}))


C = TypeVar("C", bound=Convention)
P = ParamSpec("P")

K = r"(?P<k>[1-9]\d*)"  # the cutoff in a tool's own name of a metric


@frozen_class
@dataclass(frozen=True, slots=True)
class Preset:
    """A preset: a measure, the tool's name for it, and fields that add to the tool's defaults or replace them.

    Attributes
    ----------
    measure : type
        The measure.
    reads : str
        The tool's own name, a regular expression whose groups are arguments; empty if the tool has no name for it.
    takes_k : bool
        Whether the cutoff is an argument.
    default_k : int or None
        The cutoff if the tool's own name has none.
    options : dict of str to Option or None
        The option of each argument; None if the tool's `options` define it.
    fields : Fields
        Fields that override the tool's defaults.
    evidence : str
        As in `Tool`; empty if it is that of the tool.
    """

    measure: type[Convention]
    reads: str
    takes_k: bool
    default_k: int | None
    options: Mapping[str, Option | None]
    fields: Fields
    evidence: str

    def option(self, tool: Any, name: str) -> Option:
        """Return the option for an argument, from the preset or else from the preset's tool."""
        option: Option = self.options[name] or tool.options[name]
        return option

    def convention(self, tool: Any, name: str, arguments: Mapping[str, Any]) -> Convention:
        """Return the convention for the arguments of a call, with the name of the preset."""
        kinds = self.measure.declared()
        defaults = {field: value for field, value in tool.defaults.items() if field in kinds}
        k = {"k": arguments["k"]} if self.takes_k else {}
        named = self.measure(**{**defaults, **self.fields, **k}).named(name)
        changes: dict[str, Any] = {}
        for option in self.options:
            if option in arguments:
                changed = self.option(tool, option).changes(option, arguments[option])
                if isinstance(changed, Convention):
                    return changed
                changes.update(changed)
        return named.replace(**changes) if changes else named


class Make(Protocol):
    """A method that makes a preset's convention."""

    preset: Preset

    def __call__(self, *args: Any, **kwargs: Any) -> Convention:
        """Return the convention for a cutoff and options."""


def preset(
    measure: type[C], reads: str = "", *, default_k: int | None = None, options: Options | None = None,
    evidence: str = "", **fields: Any,
) -> Callable[[Callable[P, C]], Callable[P, C]]:  # fmt: skip
    """Turn a method into a preset; its body is only a docstring.

    The method's arguments are the cutoff and options. The convention starts from the tool's defaults; these fields
    override them, and the options of a call override both.

    Parameters
    ----------
    measure : type
        The measure.
    reads : str
        The tool's own name of the measure, a regular expression whose groups are arguments.
    default_k : int, optional
        The cutoff if the tool's own name has none.
    options : dict of str to Option, optional
        Options of arguments that differ from the tool's `options`.
    evidence : str
        `read` if only the source was read although other presets of the tool were run.
    **fields
        Fields that override the tool's defaults.
    """

    def declare(method: Callable[P, C]) -> Callable[P, C]:
        arguments = dict.fromkeys(name for name in inspect.signature(method).parameters if name != "self").keys()
        by_name = {name: (options or {}).get(name) for name in arguments if name != "k"}
        declared = Preset(measure, reads, "k" in arguments, default_k, by_name, fields, evidence)

        @wraps(method)
        def make(*args: P.args, **kwargs: P.kwargs) -> C:
            tool, *cutoff = cast("tuple[Any, ...]", args)
            name = tool.name if method.__name__ == "__call__" else f"{tool.name}.{method.__name__}"
            if declared.takes_k and not cutoff and "k" not in kwargs:
                msg = f"the preset {name} needs k, which was left out: a whole number from 1 on, or None for all ranks."
                raise ConventionError(msg, hint=f"presets.{name}(10)")
            if len(cutoff) + ("k" in kwargs) != declared.takes_k or not kwargs.keys() <= arguments:
                method(*args, **kwargs)  # raises Python's error for wrong arguments
            return cast("C", declared.convention(tool, name, kwargs | dict(zip(["k"], cutoff, strict=False))))

        make.preset = declared  # type: ignore[attr-defined]
        return make

    return declare


_PARAMETERS = "\n\nParameters\n----------\n"
_ENTRY = re.compile(r"^(\w+)\n((?:    .+\n?)+)", re.MULTILINE)  # name and text


def _entries(text: str) -> dict[str, str]:
    """Return the descriptions of parameters in a docstring, by name."""
    return dict(_ENTRY.findall(text.partition(_PARAMETERS)[2]))


class Tool:
    """A tool that computes ranking metrics: a call with a cutoff returns its NDCG; methods return other measures.

    The `__call__` of a tool without NDCG raises an error.

    Class arguments declare the fields that all presets of the tool share, `class Ranx(Tool, name="ranx",
    ties="input")`. Each preset uses those that its measure has. The docstring of the class describes each parameter of
    the presets once, and a preset's own docstring only what differs; then every preset's docstring is completed.

    Attributes
    ----------
    name : str
        The tool's name in texts such as `letor4@10`.
    defaults : Fields
        Fields of all presets of the tool, which a preset may override.
    options : dict of str to Option
        By argument of the presets, the fields that it changes.
    texts : dict of str to str
        By argument of the presets, its description in their docstrings.
    presets : dict of str to Preset
        By method, what its decorator declares; a subclass removes a preset by overriding it with an ordinary method.
    package : str
        Name of the package for pip; empty if pip cannot install the tool.
    versions : tuple of str
        The first and the last release for which the presets were confirmed, or the only one.
    evidence : str
        `run` and the release whose numbers in tests/golden confirm the presets, or `read` if only the source was read
        (for a definition, the paper).
    """

    name: ClassVar[str]
    package: ClassVar[str] = ""
    versions: ClassVar[tuple[str, ...]] = ()
    evidence: ClassVar[str] = "read"
    defaults: ClassVar[Fields] = {}
    options: ClassVar[Options] = {}
    texts: ClassVar[Mapping[str, str]] = {"k": "    The cutoff; None takes all ranks."}
    presets: ClassVar[Mapping[str, Preset]] = {}

    def __init_subclass__(
        cls, *, name: str = "", package: str | None = None, versions: tuple[str, ...] = (),
        evidence: str = "read", **defaults: Any,
    ) -> None:  # fmt: skip
        """Store the class arguments; fields are added to those of the parent class."""
        super().__init_subclass__()
        cls.name, cls.versions, cls.evidence = name, versions, evidence
        cls.package = cls.package if package is None else package
        cls.defaults = {**cls.defaults, **defaults}
        methods = {name: method for kind in reversed(cls.__mro__) for name, method in vars(kind).items()}
        cls.presets = {name: method.preset for name, method in methods.items() if hasattr(method, "preset")}
        cls.texts = {**cls.texts, **_entries(cleandoc(cls.__doc__ or ""))}
        for method in vars(cls).values():
            if hasattr(method, "preset"):
                method.__doc__ = cls._with_parameters(method)

    @classmethod
    def _with_parameters(cls, method: Any) -> str:
        """Return the docstring of a preset with an entry for each parameter."""
        text, entries = cleandoc(method.__doc__ or ""), []
        texts = {**cls.texts, **_entries(text)}
        for name, annotation in method.__annotations__.items():
            if name in texts:
                words = () if name == "k" else method.preset.option(cls, name).words
                kind = str(annotation).replace(" | ", " or ")
                kind = kind if set(words) <= {True, False} else f"{{{choices(words)}}}"
                entries.append(f"{name} : {kind}\n{texts[name].rstrip()}")
        return text.partition(_PARAMETERS)[0] + (_PARAMETERS + "\n".join(entries) if entries else "")

    @preset(NDCG)
    def __call__(self, k: int | None) -> NDCG:
        """Return the tool's NDCG at a cutoff.

        Parameters
        ----------
        k : int or None
            The cutoff; None takes all ranks.
        """

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
        return tuple(name for name in cls.presets if name != "__call__")

    @classmethod
    def evidence_of(cls, method: str) -> str:
        """Return the evidence for a preset, by the name of its method.

        >>> from rankadapters import presets
        >>> presets.ranx.evidence_of("map"), presets.elasticsearch.evidence_of("mrr")
        ('run 0.3.21', 'read')
        """
        return cls.presets[method].evidence or cls.evidence

    def read(self, text: str, **params: Any) -> Convention:
        """Return the convention of a metric, given the tool's own name for it, such as `map_cut_10`.

        Raises
        ------
        ConventionError
            The metric is unknown.
        """
        for method, declared in self.presets.items():
            match = re.fullmatch(declared.reads, text, re.ASCII) if declared.reads and isinstance(text, str) else None
            if match is None:
                continue
            arguments = {name: _argument(value) for name, value in match.groupdict().items() if value is not None}
            parameters = [*(["k"] if declared.takes_k else []), *declared.options]
            refuse_unknown(text, params, tuple(name for name in parameters if name not in arguments))
            k = {"k": declared.default_k} if declared.takes_k else {}
            convention: Convention = getattr(self, method)(**k | arguments | params)
            return convention
        raise self._unknown(text, params)

    def _unknown(self, text: object, params: Mapping[str, Any] | None = None) -> ConventionError:
        if error := without_preset(self, text):
            return error
        has_ndcg = "__call__" in self.presets
        measures = choices([*([self.name] if has_ndcg else []), *self.measures()])
        suffix = f" with {choices(params)}" if params else ""
        return ConventionError(
            f"{text!r:.80}{suffix} is not a known metric of {self.name}; there are presets for {measures}.",
            hint=f"presets.{self.name}(10)" if has_ndcg else f"presets.{self.name}.{self.measures()[0]}()",
        )


def without_preset(tool: Tool, text: object) -> ConventionError | None:
    """Return the error for a metric that a tool has but no convention can express; None if it is not known to be one.

    >>> from rankadapters.presets import xgboost
    >>> str(without_preset(xgboost, "aucpr")).partition(":")[0]
    "'aucpr' of xgboost has no preset"
    """
    word = re.split(r"\W", text, maxsplit=1)[0] if isinstance(text, str) else ""
    if not word or any(declared.reads and re.fullmatch(declared.reads, word) for declared in tool.presets.values()):
        return None
    without_version = re.sub(r"(_\d+)*\Z", "", tool.name, count=1)
    prefix, named = f"{without_version}_", re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")
    for key, entry in inexpressible().items():  # in whose texts the name of a measure, such as recall, is a plain word
        if key == f"{prefix}{word}" or (key.startswith(prefix) and word not in MEASURES and named.search(entry)):
            reason, _, workaround = entry.partition(" Workaround: ")
            hint = workaround.removesuffix(".") or "ra.presets.inexpressible() lists all such metrics"
            return ConventionError(f"{text!r:.80} of {tool.name} has no preset: {reason}", hint=hint)
    return None


class ToolWithoutNDCG(Tool):
    """A tool that computes other ranking metrics, but no NDCG."""

    def __call__(self, k: int | None = None) -> NoReturn:
        """Raise ConventionError, since there is no NDCG."""
        name = self.measures()[0]
        takes = "10" if self.presets[name].takes_k else ""
        del k
        raise ConventionError(f"{self.name} has no NDCG.", hint=f"presets.{self.name}.{name}({takes})")


def _argument(text: str) -> float | bool:
    """Parse an argument in a metric's name: a number, or True if it is a word that may be left out."""
    value = as_number(text)
    whole = as_whole(text)
    return whole if whole is not None else True if value is None else value


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
