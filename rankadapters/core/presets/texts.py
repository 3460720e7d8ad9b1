"""Parsing of texts of conventions: signatures, display names and short forms."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, TypeGuard, cast

from rankadapters.core import presets
from rankadapters.core.declaration.convention import Convention, as_convention
from rankadapters.core.declaration.declared import read_signature
from rankadapters.core.errors import ConventionError, choices
from rankadapters.core.measures import MEASURES
from rankadapters.core.presets.tool import takes_k

__all__ = ["as_convention", "as_conventions", "is_one", "parse"]

_CUTOFF = r"all|0|[1-9][0-9]{0,18}"  # 0 matches so that it gets the message on cutoffs
_PRESET = rf"(?P<tool>[a-z][a-z0-9_]*)(\.(?P<measure>[a-zA-Z][a-zA-Z0-9_]*))?(@(?P<k>{_CUTOFF}))?"
_DISPLAY = re.compile(rf"(?P<head>[a-z-]+)(@(?P<cut>{_CUTOFF}))?/(?P<preset>[^/]+)")
_BARE = re.compile(rf"(?P<word>[A-Za-z-]+)(?P<at>@({_CUTOFF}))?")  # a measure without a tool
_HEX = re.compile(r"[0-9a-f]{7}")
_CHANGE = re.compile(r"\+(?=[a-z_]+=)")  # a plus may also be part of a number

_HINT = "Hint: 'letor4@10', 'lightgbm.map@5', 'lightgbm@10+empty=0', or a signature, which str(convention) prints."


def parse(text: str) -> Convention:
    """Return the convention that a text describes. It reads what `str(convention)` prints, and the names of presets.

    Parameters
    ----------
    text : str
        A signature (`ndcg@10/gain=exp2/.../v1`), a display name (`ndcg@10/letor4`, `ap@10/lightgbm.map`) or the short
        form: a preset, its cutoff, and changed fields (`letor4@10`, `lightgbm.map@5`, `trec_eval_9.recip_rank`,
        `yahoo@10+empty=0`).

    Returns
    -------
    Convention
        Its name has the preset of the text, or 7 digits of the signature's SHA-256.

    Raises
    ------
    ConventionError
        The text is truncated, names no preset, repeats or misspells a field, or has an unknown measure or version.

    Examples
    --------
    >>> from rankadapters import presets
    >>> parse(str(presets.yahoo(5))) == parse("yahoo@5") == parse("ndcg@5/yahoo") == presets.yahoo(5)
    True
    >>> parse("yahoo@5+empty=0").empty
    0.0
    """
    if not isinstance(text, str):
        msg = f"a convention's text is a string, not {type(text).__name__}.\n{_HINT}"
        raise ConventionError(msg)
    display = _DISPLAY.fullmatch(text)
    if display is not None and "=" not in display["preset"].partition("+")[0] and not _is_version(display["preset"]):
        return _read_display(text, display)
    if "/" in text:
        return cast("Convention", read_signature(text, MEASURES, "measure"))
    preset, *changes = _CHANGE.split(text)
    match = re.fullmatch(_PRESET, preset)
    if match is None:
        raise _unknown(text)
    return _with_changes(text, _from_preset(text, match["tool"], match["measure"], match["k"]), changes)


def is_one(convention: object) -> TypeGuard[Convention | str]:
    """Return whether an argument is a single value, valid or not, rather than a collection of conventions."""
    single = isinstance(convention, (str, bytes)) or hasattr(convention, "shape")  # an array, passed by mistake
    return single or not isinstance(convention, Iterable)


def as_conventions(values: object) -> list[Convention]:
    """Return a list of conventions, given a single convention or text or an iterable of them.

    Raises
    ------
    ConventionError
        The iterable is empty, or an item is neither a convention nor the text of one.
    """
    conventions = [as_convention(value) for value in ([values] if is_one(values) else cast("Iterable[Any]", values))]
    if not conventions:
        raise ConventionError("no convention was given.", hint="[ra.presets.textbook(10)]")
    return conventions


def _is_version(text: str) -> bool:
    return re.fullmatch("v[0-9]+", text) is not None


def _read_display(text: str, display: re.Match[str]) -> Convention:
    preset, *changes = _CHANGE.split(display["preset"])
    if _HEX.fullmatch(preset):
        raise ConventionError(
            f"{text!r} ends with digits of a hash, which cannot be read back.", hint="the signature, str(convention)"
        )
    match = re.fullmatch(_PRESET, preset)
    if match is None or match["k"]:
        raise _unknown(text)
    convention = _with_changes(text, _from_preset(text, match["tool"], match["measure"], display["cut"]), changes)
    if convention.measure != display["head"]:
        msg = f"{text!r} begins with {display['head']!r}, but {preset!r} is {convention.measure!r}."
        raise ConventionError(msg, hint=f"{convention.name!r}")
    return convention


def _from_preset(text: str, tool: str, measure: str | None, cutoff: str | None) -> Convention:
    make = presets.maker(tool if measure is None else f"{tool}.{measure}")
    if make is None:
        raise _unknown(text, tool)
    if cutoff is None and takes_k(make):
        preset = tool if measure is None else f"{tool}.{measure}"
        raise ConventionError(f"{text!r} has no cutoff.", hint=f"'{preset}@10', or '@all' for all ranks")
    k = None if cutoff in {None, "all"} else int(str(cutoff))
    convention = make(k) if takes_k(make) else make()
    if getattr(convention, "k", None) != k:
        raise ConventionError(f"{text!r} has a cutoff, but {tool}.{measure} has none.", hint=f"'{tool}.{measure}'")
    return convention


def _with_changes(text: str, preset: Convention, changes: list[str]) -> Convention:
    fields: dict[str, Any] = {}
    kinds = preset.declared()
    for change in changes:
        name, _, value = change.partition("=")
        if name in fields or name == "k":
            msg = f"{change!r} in {text!r} is not a field=value pair that occurs once.\n{_HINT}"
            raise ConventionError(msg)
        fields[name] = kinds[name].read(value) if name in kinds else value
    return preset.replace(**fields) if fields else preset


def _unknown(text: str, tool: str = "") -> ConventionError:
    bare = _BARE.fullmatch(text)
    if bare is not None and (examples := _presets_of(bare["word"].lower(), bare["at"] or "@10")):
        hint = ", ".join(map(repr, examples))
        return ConventionError(
            f"{text!r:.80} does not say whose {bare['word']} it is, and tools differ.",
            hint=f"{hint}, ...; `rankadapters conventions` prints them; or a whole signature, up to '/v1'",
        )
    problem = f"{text!r:.80} is neither a preset@k such as 'letor4@10' nor a signature"
    preset = re.split("[^A-Za-z0-9_.]", text, maxsplit=1)[0]
    near = _nearest(preset.lower())
    if near not in {"", preset}:
        corrected = text.replace(preset, near, 1)
        hint = f"did you mean {corrected!r:.80}? `rankadapters conventions` prints all"
        return ConventionError(f"{problem}.", hint=hint)
    names = presets.names()
    if tool in presets.TOOLS:
        names = tuple(name for name in presets.names(None) if name.partition(".")[0] == tool)
    return ConventionError(f"{problem}; the presets are {choices(names)}.\n{_HINT}")


def _nearest(preset: str) -> str:
    """Return the preset whose name is most similar to a misspelled one, from the same tool if it exists, or ""."""
    tool, dot, measure = preset.partition(".")
    if dot and tool in presets.TOOLS:
        return "".join(f"{tool}.{near}" for near in get_close_matches(measure, presets.TOOLS[tool].measures(), 1))
    return "".join(get_close_matches(preset, presets.names(None), 1))


def _presets_of(word: str, cutoff: str) -> list[str]:
    """Return the texts of up to three presets of a measure, given the measure's name here or in a tool."""
    by_measure = presets.names(word) if word in MEASURES else ()
    names = [*by_measure, *(name for name in presets.names(None) if name.partition(".")[2] == word)]
    return [f"{name}{cutoff}" if hasattr(presets.make(name, 10), "k") else name for name in names[:3]]
