"""Declared values: frozen, with keyword-only fields that have no defaults, and with a signature that can be parsed."""

from __future__ import annotations

import dataclasses
import re
from abc import ABC
from collections.abc import Iterable, Mapping
from functools import cache, partial
from inspect import cleandoc, get_annotations
from typing import Any, ClassVar, NoReturn, Self, get_args

from rankadapters.core.classes import frozen_class
from rankadapters.core.declaration.fields import GROUPS, Field
from rankadapters.core.errors import ConventionError, RankAdaptersError, choices

VERSION = 1

_HEAD = re.compile(r"(?P<word>[a-z-]+)(@(?P<k>all|[1-9][0-9]{0,18}))?")
_END = re.compile(r"(?P<fields>.*?)/v(?P<version>[0-9]+)(?:/(?P<tail>.+))?", re.DOTALL)
_SECTION = re.compile(r"^(?=[A-Z][a-z]+\n-{3,}$)", re.MULTILINE)  # of a docstring
_REMARK = re.compile(r"^(\w+)\n((?:    .+\n?)+)", re.MULTILINE)

# The annotations of a class itself; `get_type_hints` would evaluate those of the base classes again.
_annotations = cache(partial(get_annotations, eval_str=True))

RAISES = """Raises
------
ConventionError
    A field is missing, unknown, or has a value that is not allowed, or two fields contradict each other."""


class RefusedScore:
    """What a declared value returns to scikit-learn, which called it as a scorer; reading a number raises the error.

    A search turns an error that a scorer raises into NaN, and picks the first candidate in the end.
    """

    def __init__(self, error: RankAdaptersError) -> None:
        self._error = error

    def item(self, *_: object) -> NoReturn:
        """Raise the error."""
        raise self._error

    __float__ = __array__ = __sub__ = __rsub__ = item


class Declared(ABC):
    """A value whose fields are all declared: a convention or an objective.

    Values compare and hash by their fields. A field that cannot matter is set to a fixed value.

    Attributes
    ----------
    noun : str
        Name of the class variable that is the first word of the signature, such as 'measure'.
    start : str
        An easier starting point than writing every field, as suggested in messages.
    uses : str
        What takes such a value, as suggested where a program calls it like a function.
    """

    # Slots rather than fields, so that equality, `dataclasses.asdict` and `fields` ignore them; empty without a value.
    __slots__ = ("_label", "_preset")

    noun: ClassVar[str]
    start: ClassVar[str]
    uses: ClassVar[str]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Add a description of every field to the docstring of a dataclass with slots."""
        super().__init_subclass__(**kwargs)
        if "__dataclass_fields__" in vars(cls):  # slots=True creates each class twice; dataclass keeps this one
            cls.__doc__ = with_fields(cls.__doc__ or "", cls.declared())
            frozen_class(cls)

    def __new__(cls, *args: object, **fields: object) -> Self:
        """Raise our own errors for positional arguments and missing fields, before the generated __init__ does."""
        if not hasattr(cls, cls.noun):
            raise ConventionError(f"{cls.__name__} is abstract.", hint=f"{cls.start}")
        if args:
            raise cls._refuse_positional()
        if fields.keys() != cls.declared().keys():
            cls._refuse_unknown(fields)
            missing = {name: kind for name, kind in cls.declared().items() if name not in fields}
            lines = [f"  {name}: {kind.allowed}" for name, kind in missing.items() if kind.implied is None]
            if lines:
                msg = "\n".join([f"{cls.__name__} needs every field declared; left out:", *lines])
                raise ConventionError(msg, hint=f"start from {cls.start}")
        return object.__new__(cls)

    def __call__(self, *data: object, **named: object) -> RefusedScore:  # noqa: ARG002 - whatever a toolkit passes
        """Refuse to be a function; toolkits call what they are given as a metric, an objective or a scorer."""
        msg = f"{type(self).__name__} declares fields; it is no function."
        if data and hasattr(data[0], "get_params"):  # an estimator of scikit-learn
            return RefusedScore(RankAdaptersError(msg, hint=self.uses))  # not a ValueError, which it suppresses
        raise ConventionError(msg, hint=self.uses)

    @property
    def _changed_copy(self) -> str:
        """The hint in the error about a change of a field."""
        return f".replace(...) returns a changed copy; {self.uses}"

    def __post_init__(self) -> None:
        """Check every field, then set each field that cannot matter to a fixed value."""
        self._check(self.declared())

    def _check(self, names: Iterable[str]) -> None:
        """Check these fields, then set each field that cannot matter to a fixed value."""
        kinds = self.declared()
        for name in names:
            value = getattr(self, name)
            if not (isinstance(value, str) and value in kinds[name].words):
                object.__setattr__(self, name, kinds[name].check(name, value))
        self.unify()

    def unify(self) -> None:  # noqa: B027 - most classes need no such hook
        """Set each field that cannot matter to a fixed value; raise ConventionError for contradictory fields."""

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @classmethod
    @cache
    def declared(cls) -> Mapping[str, Field]:
        """Return the fields by name, in the order of the signature."""
        bases = [base for base in reversed(cls.__mro__) if dataclasses.is_dataclass(base)]
        annotations = {name: value for base in bases for name, value in _annotations(base).items()}
        names = [field.name for field in dataclasses.fields(cls) if field.init]  # type: ignore[arg-type]
        kinds = {
            name: annotations[name].__metadata__[-1].narrowed(get_args(annotations[name].__origin__)) for name in names
        }
        return dict(sorted(kinds.items(), key=lambda pair: GROUPS.index(pair[1].group)))

    @classmethod
    def fields(cls) -> tuple[str, ...]:
        """Return the names of the fields in the order of the signature."""
        return tuple(cls.declared())

    def to_dict(self) -> dict[str, Any]:
        """Return the values by field name, in the order of the signature."""
        return {name: getattr(self, name) for name in self.declared()}

    def replace(self, **fields: object) -> Self:
        """Return a copy with some fields changed."""
        self._refuse_unknown(fields)
        changed = self._copy(fields)
        # A search replaces fields 100,000 times, so the others are not checked again.
        changed._check(fields)  # noqa: SLF001 - of the same class
        return changed

    def _copy(self, fields: Mapping[str, object]) -> Self:
        """Return a copy with some fields changed, without any check."""
        copy = object.__new__(type(self))
        for name in self.declared():
            object.__setattr__(copy, name, fields[name] if name in fields else getattr(self, name))
        return copy

    def diff(self, other: Declared) -> dict[str, tuple[Any, Any]]:
        """Return the fields that differ, with both values; None where `self` or `other` lacks the field."""
        own, others = ({value.noun: getattr(value, value.noun), **value.to_dict()} for value in (self, other))
        kinds = {**self.declared(), **other.declared()}
        names = [self.noun, *sorted(kinds, key=lambda name: GROUPS.index(kinds[name].group))]
        pairs = {name: (own.get(name), others.get(name)) for name in names}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}

    def __str__(self) -> str:
        """Return the signature: first word, fields that are not implied, version, and an objective's convention."""
        kinds, head, parts, tail = self.declared(), str(getattr(self, self.noun)), list[str](), list[str]()
        for name, value in self.to_dict().items():
            if value is not None and value == kinds[name].implied:
                continue
            text = kinds[name].spell(value)
            if kinds[name].group == "head":
                head = f"{head}@{text}"
            elif kinds[name].group == "tail":
                tail.append(text)
            else:
                parts.append(f"{name}={text}")
        return "/".join([head, *parts, f"v{VERSION}", *tail])

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the fields, the preset and the label, so that unpickling checks them again."""
        return restore, (type(self), self.to_dict(), self.preset, self.label)

    @property
    def preset(self) -> tuple[str, Any] | None:
        """Name of the preset that a convention was made from, and that preset at the same cutoff; None if none."""
        return getattr(self, "_preset", None)

    @property
    def label(self) -> str | None:
        """The name that a caller gave to a convention, in a mapping of names to conventions; None if none."""
        return getattr(self, "_label", None)

    @classmethod
    def _refuse_positional(cls) -> ConventionError:
        return ConventionError(f"{cls.__name__} takes its fields as keywords: {choices(cls.fields())}.")

    @classmethod
    def _refuse_unknown(cls, fields: Mapping[str, object]) -> None:
        unknown = [name for name in fields if name not in cls.declared()]
        if unknown:
            msg = f"{cls.__name__} has no field {unknown[0]!r}; its fields are {choices(cls.fields())}."
            raise ConventionError(msg)


def restore(cls: type[Declared], fields: dict[str, Any], preset: object = None, label: object = None) -> Declared:
    """Return a value from its pickled fields and, for a convention, the preset that it was made from and its label."""
    value = cls(**fields)
    for slot, content in (("_preset", preset), ("_label", label)):
        if content is not None:
            value._set(slot, content)
    return value


def read_signature(text: str, registry: Mapping[str, type[Declared]], noun: str) -> Declared:
    """Return the declared value that a signature describes: `read_signature(str(value), ...) == value`.

    The registry has the classes by the first word of their signatures; `noun` is the name of that word in messages. A
    signature that is truncated, repeats or misspells a field, or has an unknown first word or version, raises
    ConventionError.
    """
    head, _, rest = text.partition("/")
    match = _HEAD.fullmatch(head)
    cls = registry.get(match["word"]) if match else None
    if match is None or cls is None or (match["k"] is not None) != ("k" in cls.fields()):
        example, first = next(iter(registry.items()))
        example, cutoff = (f"{example}@10", " and its cutoff") if "k" in first.fields() else (example, "")
        raise ConventionError(
            f"{text!r} does not start with a {noun}{cutoff}, such as {example!r}.",
            hint=f"the {noun}s are {choices(registry)}; a signature is what str() prints",
        )
    end = _END.fullmatch(f"/{rest}")
    if end is None:
        raise ConventionError(
            f"{text!r} has no version at its end: it is truncated.", hint=f"copy it up to '/v{VERSION}'"
        )
    if end["version"] != str(VERSION):
        version = f"{text!r} has version 'v{end['version']}'"
        raise ConventionError(f"{version}; this rankadapters knows 'v{VERSION}'.", hint="upgrade it")
    fields = read_fields(cls, end["fields"].split("/")[1:], text)
    fields |= {"k": cls.declared()["k"].read(match["k"])} if match["k"] is not None else {}
    tails = [name for name, kind in cls.declared().items() if kind.group == "tail"]
    if (end["tail"] is not None) != bool(tails):
        problem = f"has no {tails[0]} after its version" if tails else "continues after its version"
        raise ConventionError(f"{text!r} {problem}.", hint="copy what str() prints")
    return cls(**fields, **{name: cls.declared()[name].read(end["tail"]) for name in tails})


def read_fields(cls: type[Declared], parts: list[str], text: str) -> dict[str, Any]:
    """Return the values of parts such as `empty=0` of a text, for the check of the class."""
    kinds, values = cls.declared(), dict[str, Any]()
    for part in parts:
        name, equals, value = part.partition("=")
        if not equals or name in values or name == "k":
            raise ConventionError(f"{part!r} in {text!r} is not a field=value pair that occurs once.")
        values[name] = kinds[name].read(value) if name in kinds else value
    return values


def with_fields(text: str, fields: Mapping[str, Field]) -> str:
    """Return a docstring with a numpydoc entry for every field, and a section on the error for wrong fields.

    In the source of the class, the section "Parameters" holds only remarks, each below the name of a field: its
    additional meaning in this class.
    """
    formula, *parts = map(str.rstrip, _SECTION.split(cleandoc(text)))
    sections = {part.partition("\n")[0]: part for part in parts}
    remarks = dict(_REMARK.findall(sections.pop("Parameters", "")))
    lines = ["Parameters\n----------"]
    for name, field in fields.items():
        lines += [f"{name} : {field.type_name}", f"    {field.about}", *filter(None, [remarks.get(name, "").rstrip()])]
        meanings = [f"    - `{value}`: {meaning}" for value, meaning in field.meanings().items()]
        lines += ["", *meanings] if meanings else [f"    Allowed: {field.allowed}."]
    raises = "\n".join([RAISES, *sections.pop("Raises", "").splitlines()[2:]])
    return "\n\n".join([formula, "\n".join(lines), raises, *sections.values()]) + "\n"
