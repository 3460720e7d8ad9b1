"""The tools by name, and texts of conventions: signatures, display names and short forms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import lru_cache
from itertools import starmap
from typing import Any, TypeGuard, cast

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.declared import read_fields, read_signature
from rankadapters.core.declaration.fields import LARGEST_CUTOFF, read_cutoff
from rankadapters.core.errors import ConventionError, brief, choices
from rankadapters.core.measures import MEASURES
from rankadapters.presets.tool import Make, Tool, without_preset

TOOLS: dict[str, Tool] = {}  # filled by the package, which imports every tool
# A name without a version means the newest release, and moves with it; the name with the version stays.
NEWEST: dict[str, Tool] = {}
# What else tools are called, in lower case and with underscores for hyphens; names and signatures never have it.
ALIASES = {
    "scikit_learn": "sklearn", "skl": "sklearn", "lgbm": "lightgbm", "lgb": "lightgbm", "xgb": "xgboost",
    "cat": "catboost", "cb": "catboost", "irmeasures": "ir_measures", "pytrec_eval_terrier": "pytrec_eval",
    "treceval": "trec_eval_9", "pytreceval": "pytrec_eval", "pyspark": "spark", "sbert": "sentence_transformers",
    "elastic": "elasticsearch", "llamaindex": "llama_index",
}  # fmt: skip

Conventions = Iterable[Convention | str] | Mapping[str, Convention | str]  # several, with or without names

_PRESET = re.compile(r"[a-zA-Z][a-zA-Z0-9_-]*(\.[a-zA-Z][a-zA-Z0-9_]*)?")
# A preset, which is not the version of a signature without fields, and its changed fields.
_DISPLAY = re.compile(r"(?P<head>[a-z-]+)(@(?P<k>[^@/]*))?/(?P<preset>(?!v[0-9]+\Z)(?=[^/])[^/=+]*(\+[^/]*)?)")
_BARE = re.compile("[A-Za-z_-]+(@[^@/]*)?")  # a measure without a tool
_NDCG = re.compile(r"\.ndcg(_score)?\Z", re.IGNORECASE)  # the tool alone means its NDCG
_HEX = re.compile(r"[0-9a-f]{7}")
_CHANGE = re.compile(r"\+(?=[a-z_]+=)")  # a plus may also be part of a number

_EXAMPLES = "'letor4@10', 'lightgbm.map@5', 'lightgbm@10+empty=0', or a signature, which str(convention) prints"


def names(measure: str | None = "ndcg") -> tuple[str, ...]:
    """Return the names of presets, which `ra.parse` can read. A tool's name alone means its NDCG.

    Parameters
    ----------
    measure : str or None
        Return only the presets of this measure, named as in signatures; None returns all.

    Examples
    --------
    >>> "letor4" in names(), "catboost.dcg" in names("dcg")
    (True, True)
    """
    if measure is not None and measure not in MEASURES:
        tool = TOOLS.get(tool_name(measure)) if isinstance(measure, str) else None
        hint = f"{tool!r}.measures() lists those of {tool.name}" if tool else ""
        raise ConventionError(f"measure={measure!r:.80}; allowed are {choices(MEASURES)}, or None for all.", hint=hint)
    return tuple(name for name, kind in _measures().items() if measure in {None, kind})


def make(name: str, k: int | None) -> Convention:
    """Return the convention of a preset at a cutoff; presets without a cutoff ignore `k`.

    >>> make("catboost.dcg", 5).name
    'dcg@5/catboost.dcg'
    """
    preset = maker(name)
    if preset is None:
        raise ConventionError(f"{name!r:.80} is not a preset; there are {choices(names(None))}.", hint="names()")
    return preset(k) if preset.preset.takes_k else preset()


def maker(name: str) -> Make | None:
    """Return the method that makes a preset's convention; None if there is no such preset."""
    of_tool, _, method = name.partition(".")
    tool = TOOLS.get(tool_name(of_tool))
    if tool is None or (method or "__call__") not in tool.presets:
        return None
    make: Make = getattr(tool, method or "__call__")
    return make


def tool_name(name: str) -> str:
    """Return a tool's name in texts, given what else it is called; a text that means no tool is unchanged.

    A name without a release means the newest release.

    >>> tool_name("Scikit-Learn"), tool_name("lgbm"), tool_name("lenskit"), tool_name("ndcg")
    ('sklearn', 'lightgbm', 'lenskit_2026', 'ndcg')
    """
    plain = name.lower().replace("-", "_")
    plain = ALIASES.get(plain, plain)
    tool = TOOLS.get(plain) or NEWEST.get(plain)
    return name if tool is None else tool.name


def measure_called(word: str) -> str | None:
    """Return the measure of a word: its name, or a tool's word that no tool uses for a different measure.

    >>> measure_called("ap"), measure_called("map"), measure_called("letor4")
    ('ap', 'ap', None)
    """
    kinds = _measures()
    measures = {word} & set(MEASURES) or {kinds[name] for name in _called(word)}
    return measures.pop() if len(measures) == 1 else None


def _of_tool(name: str, measure: str | None) -> list[str]:
    """Return a tool's presets of a measure; `name` begins with the tool, as in 'sklearn.map'."""
    tool = tool_name(name.partition(".")[0])
    return [known for known, kind in _measures().items() if (known.partition(".")[0], kind) == (tool, measure)]


def _called(word: str) -> list[str]:
    """Return the presets of a tool's own word for a measure, in lower case, such as 'map' or 'rprec'."""
    return [name for name in _measures() if "." in name and name.partition(".")[2].lower() == word]


def _measures() -> dict[str, str]:
    """Return the measure of each preset, by the preset's name."""
    return {
        name if method == "__call__" else f"{name}.{method}": declared.measure.measure
        for name, tool in TOOLS.items()
        for method, declared in tool.presets.items()
    }


def parse(text: str) -> Convention:
    """Return the convention that a text describes. It reads what `str(convention)` prints, and the names of presets.

    Parameters
    ----------
    text : str
        A signature (`ndcg@10/gain=exp2/.../v1`), a display name (`ndcg@10/letor4`, `ap@10/lightgbm.map`) or the short
        form: a preset, its cutoff, and changed fields (`letor4@10`, `lightgbm.map@5`, `trec_eval_9.recip_rank`,
        `yahoo@10+empty=0`). After a tool and a dot, the tool's own name of a metric is read too
        (`trec_eval_9.ndcg_cut_10`, `ir_measures.nDCG@10`, `sklearn.ndcg_score@10`). A tool may have another usual
        name (`scikit-learn@10`, `lgbm@10`, `xgb.map@5`); without a release, a name means the newest one
        (`trec_eval.map`).

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
        raise ConventionError(f"a convention's text is a string, not {type(text).__name__}.", hint=_EXAMPLES)
    try:
        return _parse(text)
    except ConventionError:
        without_spaces = "".join(text.split())
        if without_spaces == text or not _is_text(without_spaces):
            raise
    raise ConventionError(f"{text!r:.80} has spaces.", hint=f"{without_spaces!r}")


def _is_text(text: str) -> bool:
    with suppress(ConventionError):
        return bool(_parse(text))
    return False


@lru_cache(maxsize=1024)  # conventions are frozen; an error is not kept
def _parse(text: str) -> Convention:
    display = _DISPLAY.fullmatch(text)
    if display is not None:
        return _read_display(text, display)
    if "/" in text:
        return cast("Convention", read_signature(text, MEASURES, "measure"))
    preset, *changes = _CHANGE.split(text)
    name, at, cutoff = preset.partition("@")
    cutoff_given = cutoff if at else None
    convention = (
        _from_preset(text, name, cutoff_given)
        or _own_metric(preset)
        or _from_preset(text, _NDCG.sub("", name), cutoff_given)
    )
    if convention is None:
        raise _unknown(text, preset)
    return convention.replace(**read_fields(type(convention), changes, text)) if changes else convention


def metric_called(text: str) -> Convention:
    """Return the convention of a metric as trec_eval names it, else as ir_measures does; a tool may precede it.

    >>> [metric_called(text).name for text in ("ndcg_cut.10", "AP@10", "lgbm.map@5")]
    ['ndcg@10/trec_eval_9', 'ap@10/ir_measures.ap', 'ap@5/lightgbm.map']

    Raises
    ------
    ConventionError
        Neither tool has such a metric.
    """
    for tool in ("trec_eval", "ir_measures"):
        with suppress(ConventionError):
            return TOOLS[tool_name(tool)].read(text)
    with suppress(ConventionError):
        return parse(text)
    msg = f"{text!r:.80} is not a measure of trec_eval or ir_measures."
    raise ConventionError(msg, hint="map, ndcg_cut.10, recip_rank or P.5; nDCG@10 or AP@10; or lightgbm.map@10")


def is_one(convention: object) -> TypeGuard[Convention | str]:
    """Return whether an argument is a single value, valid or not, rather than a collection of conventions."""
    single = isinstance(convention, (str, bytes)) or hasattr(convention, "shape")  # an array, passed by mistake
    return single or not isinstance(convention, Iterable)


def as_convention(value: object) -> Convention:
    """Return a convention, given the convention itself, its text, or a mapping of its name to one of these.

    Raises
    ------
    ConventionError
        The value is neither a convention nor the text of one.
    """
    if isinstance(value, Convention):
        return value
    if isinstance(value, str):
        return parse(value)
    if isinstance(value, Mapping) and len(value) == 1:
        return _with_name(*next(iter(value.items())))
    if isinstance(value, Mapping) and value:
        one = dict([next(iter(value.items()))])
        raise ConventionError(f"{brief(value)} has several conventions.", hint=f"one of them, such as {one!r:.60}")
    hint = "ra.presets.textbook(10), 'letor4@10', or ra.NDCG(...) with every field"
    if isinstance(value, Tool):
        hint = f"call it with the cutoff, {value!r}(10), or write '{value.name}@10'"
    elif hasattr(value, "shape"):
        hint = "pass labels, scores, then a convention such as 'letor4@10'; name all other arguments, as in qid=qid"
    elif isinstance(value, (list, tuple)):
        hint = "pass one convention such as 'letor4@10'; ra.evaluate takes a list of them"
    raise ConventionError(f"{brief(value)} is not a convention.", hint=hint)


def as_conventions(values: object) -> list[Convention]:
    """Return a list of conventions, given a single convention or text, an iterable of them or a mapping of names.

    Of results by convention, such as those of `ra.evaluate`, it returns the conventions.

    Raises
    ------
    ConventionError
        The iterable is empty, an item is neither a convention nor the text of one, or a name is that of another one.
    """
    conventions: list[Convention]
    if isinstance(values, Mapping) and not all(isinstance(key, Convention) for key in values):
        conventions = list(starmap(_with_name, values.items()))
    else:
        several = [values] if is_one(values) else cast("Iterable[Any]", values)
        conventions = [as_convention(value) for value in several]
    if not conventions:
        raise ConventionError("no convention was given.", hint="[ra.presets.textbook(10)]")
    return conventions


def _with_name(name: object, value: object) -> Convention:
    """Return the convention with the name that a mapping gives to it; refuse what names another convention."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable():
        raise ConventionError(f"{name!r:.80} is not a name for a convention.", hint='{"ndcg_10": "textbook@10"}')
    convention = as_convention(value)
    try:
        meant = parse(name)
    except ConventionError:
        display = _DISPLAY.fullmatch(name)
        if display and display["head"] in MEASURES and name != convention.name:
            raise  # such as 7 digits of another hash
        meant = convention
    if meant != convention:
        msg = f"the name {name!r} means another convention than {str(convention)!r}."
        raise ConventionError(msg, hint="a name that is no text of a convention")
    return meant if name == meant.name else meant.called(name)


def _read_display(text: str, display: re.Match[str]) -> Convention:
    preset, *changes = _CHANGE.split(display["preset"])
    if _HEX.fullmatch(preset):
        raise ConventionError(
            f"{text!r} ends with digits of a hash, which cannot be read back.", hint="the signature, str(convention)"
        )
    convention = _from_preset(text, preset, display["k"])
    if convention is None:
        raise _unknown(text, preset)
    convention = convention.replace(**read_fields(type(convention), changes, text))
    if convention.measure != display["head"]:
        msg = f"{text!r} begins with {display['head']!r}, but {preset!r} is {convention.measure!r}."
        raise ConventionError(msg, hint=f"{convention.name!r}")
    return convention


def _from_preset(text: str, name: str, cutoff: str | None) -> Convention | None:
    """Return the convention of a preset at the cutoff that a text gives, or None if there is no such preset."""
    make = maker(name) if _PRESET.fullmatch(name) else None
    if make is None:
        return None
    has_cutoff = make.preset.takes_k
    if cutoff is None and has_cutoff:
        raise ConventionError(f"{text!r} has no cutoff.", hint=f"'{name}@10', or '@all' for all ranks")
    k = read_cutoff(cutoff, LARGEST_CUTOFF)
    hint = f"'{name}@10'" if has_cutoff else f"'{name}'"
    if k is None and cutoff not in {None, "all"}:
        msg = f"{cutoff!r:.80} in {text!r:.80} is not a cutoff; allowed are whole numbers from 1 on, and 'all'."
        raise ConventionError(msg, hint=hint)
    convention = make(k) if has_cutoff else make()
    if convention.get("k") != k:
        presets = _of_tool(name, convention.measure)
        with_cutoff = [f"'{preset}@{cutoff}'" for preset in presets if _with_cutoff(preset, "@") != preset]
        hint = ", or ".join([hint, *with_cutoff])
        raise ConventionError(f"{text!r} has a cutoff, but {name} has none.", hint=hint)
    return convention


def _own_metric(text: str) -> Convention | None:
    """Return the convention of a tool and its own name of a metric, as in `trec_eval_9.ndcg_cut_10`; else None."""
    name, _, metric = text.partition(".")
    tool = TOOLS.get(tool_name(name))
    try:
        return tool.read(metric) if tool is not None else None
    except ConventionError:
        return None


def _unknown(text: str, preset: str) -> ConventionError:
    """Return the error for a text whose part `preset` names no preset, with the most likely correction."""
    command = "`rankadapters conventions --measure"
    examples, own = _with_tools(text), f"; or {{{text!r:.80}: 'textbook@10'}}, if it is a name of yours"
    if examples or not text.isidentifier():
        own = ""
    if examples := examples or _with_tools(re.sub(r"_(\d+)$", r"@\1", text)):
        hint = f"{', '.join(map(repr, examples))}, ...; {command} {parse(examples[0]).measure}` prints them"
        return ConventionError(
            f"{text!r:.80} does not say whose {text.partition('@')[0]} it is, and tools differ.",
            hint=f"{hint}; or a whole signature, up to '/v1'{own}",
        )
    problem = f"{text!r:.80} is neither a preset@k such as 'letor4@10' nor a signature"
    name = re.split("[^A-Za-z0-9_.-]", preset.strip(), maxsplit=1)[0]
    tool, dot, word = name.partition(".")
    if dot and tool_name(tool) in TOOLS and (error := without_preset(TOOLS[tool_name(tool)], word)):
        return error
    if dot and tool_name(tool) in TOOLS and (kind := measure_called(word.lower().removesuffix("_score"))):
        at = _cutoff_in(preset)
        near_ones = [_with_cutoff(known, at) for known in _of_tool(tool, kind)] or _with_tools(word + at)
        hint = f"did you mean {' or '.join(map(repr, near_ones[:3]))}? {command} {kind}` prints all"
        return ConventionError(f"{problem}.", hint=hint)
    if near := _nearest(name.lower().replace("-", "_")):
        start = text.rfind("/") + 1  # where the preset begins
        corrected = _with_cutoff(name, "@10") if near == name else text[:start] + text[start:].replace(name, near, 1)
        return ConventionError(f"{problem}.", hint=f"did you mean {corrected!r:.80}? {command} all` prints all")
    of_tool = [known for known in names(None) if dot and known.partition(".")[0] == tool_name(tool)]
    return ConventionError(f"{problem}; the presets are {choices(of_tool or names())}.", hint=f"{_EXAMPLES}{own}")


def _nearest(preset: str) -> str:
    """Return the preset whose name is most similar to a misspelled one, from the same tool if it exists, or ""."""
    tool, dot, measure = preset.partition(".")
    tool = tool_name(tool)
    if dot and tool in TOOLS:
        return "".join(f"{tool}.{near}" for near in get_close_matches(measure, TOOLS[tool].measures(), 1))
    return "".join(get_close_matches(preset, names(None), 1))


def _with_tools(text: str) -> list[str]:
    """Return up to three texts that add a tool to the name of a measure, given its name here or in a tool."""
    word, _, cutoff = text.lower().partition("@")
    known = [*(names(word) if word in MEASURES else ()), *_called(word)]
    if _BARE.fullmatch(text) and known:
        texts = [_with_cutoff(name, _cutoff_in(text)) for name in known]
        return sorted(texts, key=lambda name: ("@" in name) != bool(cutoff))[:3]  # first those like the text
    return [own for tool in TOOLS if _own_metric(own := f"{tool}.{text}")][:3]


def _cutoff_in(text: str) -> str:
    """Return the cutoff of a text with its "@", or "@10" if it has none that can be read."""
    cutoff = text.lower().partition("@")[2]
    return f"@{cutoff}" if cutoff == "all" or read_cutoff(cutoff, LARGEST_CUTOFF) else "@10"


def _with_cutoff(name: str, at: str) -> str:
    """Return the text of a preset, with the cutoff if it takes one."""
    make = maker(name)
    return f"{name}{at}" if make is not None and make.preset.takes_k else name
