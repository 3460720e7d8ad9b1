"""ir_measures, through its default providers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from typing import Any, ClassVar

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.declaration.fields import spell_number
from rankadapters.core.errors import ConventionError
from rankadapters.core.measures import AP, ERR, NDCG, RBP, RR, Bpref, FMeasure, Precision, Recall, RPrecision, Success
from rankadapters.presets.tool import K, Options, if_true, least_grade, preset, same_as
from rankadapters.presets.vocabulary import PresetCall, Vocabulary

CWL_ROWS = 1000  # rows per query that cwl_eval evaluates
DEFAULTS = {"exp": False, "rel": 1, "relative": False, "beta": 1, "p": 0.8, "judged_only": False}

_NUMBER = r"\d+(\.\d+)?"


def _with(option: str, value: str) -> str:
    """Return a regular expression for options: `rel`, one option of the measure, and `judged_only`."""
    extra = rf"({option}=(?P<{option}>{value}))?(, ?)?" if option else ""
    return rf"(\((rel=(?P<rel>\d+))?(, ?)?{extra}(judged_only=(?P<judged_only>True))?\))?"


def _rank(option: str) -> int:
    """Return the place of an option in the regular expressions."""
    return {"rel": 0, "judged_only": 2}.get(option, 1)


_IN_BRACKETS = re.compile(r"(\w+)\(([^()]*)\)(.*)")
_OPTIONS = _with("", "")
_REL = r"(\(rel=(?P<rel>\d+)\))?"


class IrMeasures(
    Vocabulary[str], name="ir_measures", package="ir_measures", versions=("0.4.3",), evidence="run 0.4.3",
    discount="log2", ideal="cutoff", relevant="from_1", ties="docid-descending", precision="float32", retrieve="all",
    short="pad", empty=0, missing="zero", unjudged="zero", average="uniform",
):  # fmt: skip
    """ir_measures 0.4 `nDCG@k` through pytrec_eval. Run against 0.4.3: equal within 1e-9.

    A judged query without results counts 0 in every measure. `nDCG(dcg='exp-log2')@k` and `ERR@k` come from gdeval.pl,
    which prints five decimals (run against 0.4.3: equal within 5e-6). It refuses query ids that are not whole numbers,
    labels above 4, and fractional labels; a label below 0 is refused here.

    Parameters
    ----------
    exp
        `dcg='exp-log2'`: gain 2^label - 1, scores compared in float64.
    rel
        The lowest relevant grade.
    judged_only
        Whether unjudged documents, and documents with a label below 0, are removed first; a query that then has no
        documents counts 0.
    relative
        Whether the divisor is min(n, R) instead of n.
    beta
        The square of beta, the weight of recall.
    p
        The persistence.
    """

    title: ClassVar[str] = "ir_measures"
    all_retrieved: ClassVar[bool] = False
    options: ClassVar[Options] = {
        "exp": if_true(gain="exp2", precision="float64"),
        "rel": least_grade("relevant"),
        "judged_only": if_true(unjudged="drop-negative"),
        "relative": if_true(divisor="relevant"),
        "beta": same_as("beta_squared"),
        "p": same_as("persistence"),
    }

    @preset(NDCG, rf"nDCG(\(dcg='(?P<exp>exp-)?log2'\))?(@{K})?", gain="linear-positive")
    def __call__(self, k: int | None, *, exp: bool = False) -> NDCG:
        """Return `nDCG@k`."""

    @preset(AP, f"AP{_OPTIONS}(@{K})?", divisor="relevant", pool="queries")
    def ap(self, k: int | None, *, rel: int = 1, judged_only: bool = False) -> AP:
        """`AP(rel=)@k` through pytrec_eval. Run: equal within 1e-9."""

    @preset(RR, f"RR{_OPTIONS}", k=None)
    def rr(self, *, rel: int = 1, judged_only: bool = False) -> RR:
        """`RR(rel=)` through pytrec_eval. Run: equal within 1e-9."""

    @preset(RR, f"RR{_REL}@{K}", ties="docid-ascending", precision="float64")
    def rr_cut(self, k: int | None, *, rel: int = 1) -> RR:
        """`RR(rel=)@k` through MS MARCO's script: ties by ascending docid, in float64. Run: equal within 1e-9.

        With a cutoff, ir_measures refuses `judged_only`.
        """

    @preset(Precision, f"P{_OPTIONS}@{K}", divisor="k")
    def p(self, k: int | None, *, rel: int = 1, judged_only: bool = False) -> Precision:
        """`P(rel=)@k` through pytrec_eval. Run: equal within 1e-9."""

    @preset(Recall, f"R{_OPTIONS}@{K}")
    def r(self, k: int | None, *, rel: int = 1, judged_only: bool = False) -> Recall:
        """`R(rel=)@k` through pytrec_eval. Run: equal within 1e-9."""

    @preset(Success, f"Success{_OPTIONS}@{K}")
    def success(self, k: int | None, *, rel: int = 1, judged_only: bool = False) -> Success:
        """`Success(rel=)@k` through pytrec_eval. Run: equal within 1e-9."""

    @preset(RPrecision, f"Rprec{_OPTIONS}")
    def rprec(self, *, rel: int = 1, judged_only: bool = False) -> RPrecision:
        """`Rprec(rel=)` through pytrec_eval. Run: equal within 1e-9."""

    @preset(Bpref, f"Bpref{_OPTIONS}")
    def bpref(self, *, rel: int = 1, judged_only: bool = False) -> Bpref:
        """`Bpref(rel=)` through pytrec_eval. Run: equal within 1e-9."""

    @preset(Precision, f"SetP{_with('relative', 'True')}", k=None, divisor="retrieved")
    def set_p(self, *, rel: int = 1, relative: bool = False, judged_only: bool = False) -> Precision:
        """`SetP(rel=, relative=)` through pytrec_eval. Run: equal within 1e-9."""

    @preset(Recall, f"SetR{_REL}", k=None)
    def set_r(self, *, rel: int = 1) -> Recall:
        """`SetR(rel=)` through pytrec_eval, which has no `judged_only` here. Run: equal within 1e-9."""

    @preset(FMeasure, f"SetF{_with('beta', _NUMBER)}", k=None, divisor="retrieved", beta_squared=1)
    def set_f(self, *, rel: int = 1, beta: float = 1, judged_only: bool = False) -> FMeasure:
        """`SetF(rel=, beta=)` through pytrec_eval. Run: equal within 1e-9."""

    @preset(
        Precision, f"Judged(@{K})?", relevant="judged", divisor="retrieved", ties="docid-ascending",
        precision="float64",
    )  # fmt: skip
    def judged(self, k: int | None) -> Precision:
        """`Judged@k`: the share of judged rows, ties by ascending docid. Run: equal within 1e-9.

        If the run of a query is empty, ir_measures divides by 0; the query counts 0 here.
        """

    @preset(ERR, f"ERR@{K}", gain="exp2", scale=16, discount="reciprocal", precision="float64")
    def err(self, k: int | None) -> ERR:
        """`ERR@k` through gdeval.pl, which prints five decimals. Run: equal within 5e-6."""

    @preset(
        RBP, rf"RBP\(rel=(?P<rel>\d+)(, ?p=(?P<p>{_NUMBER}))?\)", options={"rel": least_grade("gain")}, gain="from_1",
        persistence=0.8, ties="input", precision="float64", default_k=CWL_ROWS,
    )  # fmt: skip
    def rbp(self, k: int | None, *, rel: int = 1, p: float = 0.8) -> RBP:
        """`RBP(rel=, p=)` through cwl_eval, which evaluates the first 1000 rows. Run: equal within 1e-9.

        Parameters
        ----------
        k
            The cutoff; ir_measures always uses 1000.
        """

    def read(self, text: str, **params: Any) -> Convention:
        """Return the convention of a metric, given its text in ir_measures; options may have any order.

        >>> str(ir_measures.read("RBP(p=0.5, rel=1)")) == str(ir_measures.read("RBP(rel=1,p=0.5)"))
        True

        Raises
        ------
        ConventionError
            The metric is unknown.
        """
        match = _IN_BRACKETS.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            return super().read(text, **params)
        options = sorted(map(str.strip, match[2].split(",")), key=lambda option: _rank(option.partition("=")[0]))
        try:
            return super().read(f"{match[1]}({','.join(options)}){match[3]}", **params)
        except ConventionError:
            return super().read(text, **params)  # raises an error with the given text

    def calls(self, convention: Convention) -> Iterator[PresetCall]:
        """Yield calls of presets, without those that ir_measures cannot write, such as `P` without a cutoff."""
        for call in super().calls(convention):
            with suppress(ConventionError):
                if self.read(_text_of(call)) == call.convention:
                    yield call

    def _cutoff(self, convention: Any) -> int | None:
        """Return the convention's cutoff; 1000 for RBP, and for ERR and Success without a cutoff."""
        lacks_cutoff = isinstance(convention, (ERR, Success)) and convention.k is None
        return CWL_ROWS if lacks_cutoff or isinstance(convention, RBP) else convention.get("k")

    def spell(self, convention: Any) -> str:
        """Return the text that `ir_measures.parse_measure` reads.

        Examples
        --------
        >>> ir_measures.write(ir_measures.ap(5, rel=2)), ir_measures.write("trec_eval_9@10+missing=zero")
        ('AP(rel=2)@5', 'nDCG@10')
        """
        return _text_of(self._call(convention))


def _text_of(call: PresetCall) -> str:
    """Return the text of a call in the style of ir_measures: without spaces, and without options at their defaults."""
    name, arguments = re.split(r"\W", call.metric, maxsplit=1)[0], dict(call.arguments)
    k = None if name == "RBP" else arguments.pop("k", None)
    options = [
        _option(option, value)
        for option, value in arguments.items()
        if option in DEFAULTS and (value != DEFAULTS[option] or (name, option) == ("RBP", "rel"))
    ]
    return "".join([name, f"({','.join(options)})" if options else "", "" if k is None else f"@{k}"])


def _option(name: str, value: float) -> str:
    if name == "exp":
        return "dcg='exp-log2'"
    text = str(value) if isinstance(value, bool) else format(Decimal(spell_number(value)), "f")
    return f"{name}={text}.0" if name == "beta" and text.isdigit() else f"{name}={text}"  # it refuses a whole beta


ir_measures = IrMeasures()
