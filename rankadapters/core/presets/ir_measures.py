"""ir_measures, through its default providers."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures import AP, ERR, NDCG, RBP, RR, Bpref, FMeasure, Precision, Recall, RPrecision, Success
from rankadapters.core.presets.tool import Tool, flag, from_level, measure
from rankadapters.core.presets.trec_eval import trec_eval_9

CWL_ROWS = 1000  # that cwl_eval looks at

C = TypeVar("C", bound=Convention)

_NUMBER = r"\d+(\.\d+)?"


def _with(option: str, value: str) -> str:
    """Options in parentheses: one of a measure's own, and those that several have."""
    own = rf"({option}=(?P<{option}>{value}))?(, ?)?" if option else ""
    return rf"(\((rel=(?P<rel>\d+))?(, ?)?{own}(judged_only=(?P<judged_only>True))?\))?"


_OPTIONS = _with("", "")


class IrMeasures(Tool):
    """ir_measures 0.4 `nDCG@k` through pytrec_eval. Run with 0.4.3: equal to 1e-9.

    `nDCG(dcg='exp-log2')@k` comes from gdeval.pl, which prints five decimals. Run with 0.4.3: equal to 5e-6.
    """

    name: ClassVar[str] = "ir_measures"
    patterns: ClassVar[dict[str, str]] = {
        r"nDCG(\(dcg='(?P<exp>exp-)?log2'\))?(@(?P<k>[1-9]\d*))?": "",
        rf"AP{_OPTIONS}(@(?P<k>[1-9]\d*))?": "ap",
        rf"RR{_OPTIONS}": "rr",
        rf"RR{_OPTIONS}@(?P<k>[1-9]\d*)": "rr_cut",
        rf"P{_OPTIONS}@(?P<k>[1-9]\d*)": "p",
        rf"R{_OPTIONS}@(?P<k>[1-9]\d*)": "r",
        rf"Success{_OPTIONS}@(?P<k>[1-9]\d*)": "success",
        rf"Rprec{_OPTIONS}": "rprec",
        rf"Bpref{_OPTIONS}": "bpref",
        rf"SetP{_with('relative', 'True')}": "set_p",
        rf"SetR{_OPTIONS}": "set_r",
        rf"SetF{_with('beta', _NUMBER)}": "set_f",
        r"Judged(@(?P<k>[1-9]\d*))?": "judged",
        r"ERR@(?P<k>[1-9]\d*)": "err",
        rf"RBP\(rel=(?P<rel>\d+)(, ?p=(?P<p>{_NUMBER}))?\)": "rbp",
    }

    def __call__(self, k: int | None, *, exp: bool = False) -> NDCG:
        """Give `nDCG@k`.

        Parameters
        ----------
        k : int or None
            Its cutoff; None is `nDCG`.
        exp : bool
            `dcg='exp-log2'`: gain 2^l - 1, scores compared in float64.
        """
        found = trec_eval_9(k).named(self.name)
        return found.replace(gain="exp2", precision="float64") if flag("exp", exp) else found

    @measure
    def ap(self, k: int | None, *, rel: int = 1, judged_only: bool = False) -> AP:
        """`AP(rel=)@k` through pytrec_eval. Run with 0.4.3: equal to 1e-9.

        Parameters
        ----------
        k : int or None
            The cutoff; None is `AP`.
        rel : int
            The least grade that is relevant.
        judged_only : bool
            Whether unjudged documents leave the ranking first; a query of which nothing is left counts 0.
        """
        return _asked(trec_eval_9.map_cut(k).named("ir_measures.ap"), rel, judged_only)

    @measure
    def rr(self, *, rel: int = 1, judged_only: bool = False) -> RR:
        """`RR(rel=)` through pytrec_eval. Run with 0.4.3: equal to 1e-9; options as of `ap`."""
        return _asked(trec_eval_9.recip_rank().named("ir_measures.rr"), rel, judged_only)

    @measure
    def rr_cut(self, k: int | None, *, rel: int = 1, judged_only: bool = False) -> RR:
        """`RR(rel=)@k` through MS MARCO's script: ties by ascending docid, scores in float64. Run: equal to 1e-9."""
        base = trec_eval_9.recip_rank().replace(k=k, ties="docid-ascending", precision="float64")
        return _asked(base.named("ir_measures.rr_cut"), rel, judged_only)

    @measure
    def p(self, k: int | None, *, rel: int = 1, judged_only: bool = False) -> Precision:
        """`P(rel=)@k` through pytrec_eval. Run with 0.4.3: equal to 1e-9; options as of `ap`."""
        return _asked(trec_eval_9.P(k).named("ir_measures.p"), rel, judged_only)

    @measure
    def r(self, k: int | None, *, rel: int = 1, judged_only: bool = False) -> Recall:
        """`R(rel=)@k` through pytrec_eval. Run with 0.4.3: equal to 1e-9; options as of `ap`."""
        return _asked(trec_eval_9.recall(k).named("ir_measures.r"), rel, judged_only)

    @measure
    def success(self, k: int | None, *, rel: int = 1, judged_only: bool = False) -> Success:
        """`Success(rel=)@k` through pytrec_eval. Run with 0.4.3: equal to 1e-9; options as of `ap`."""
        return _asked(trec_eval_9.success(k).named("ir_measures.success"), rel, judged_only)

    @measure
    def rprec(self, *, rel: int = 1, judged_only: bool = False) -> RPrecision:
        """`Rprec(rel=)` through pytrec_eval. Run with 0.4.3: equal to 1e-9; options as of `ap`."""
        return _asked(trec_eval_9.Rprec().named("ir_measures.rprec"), rel, judged_only)

    @measure
    def bpref(self, *, rel: int = 1, judged_only: bool = False) -> Bpref:
        """`Bpref(rel=)` through pytrec_eval. Run with 0.4.3: equal to 1e-9; options as of `ap`."""
        return _asked(trec_eval_9.bpref().named("ir_measures.bpref"), rel, judged_only)

    @measure
    def set_p(self, *, rel: int = 1, relative: bool = False, judged_only: bool = False) -> Precision:
        """`SetP(rel=, relative=)` through pytrec_eval: `relative` divides by min(n, R). Run: equal to 1e-9."""
        found = trec_eval_9.set_P().named("ir_measures.set_p")
        found = found.replace(divisor="relevant") if flag("relative", relative) else found
        return _asked(found, rel, judged_only)

    @measure
    def set_r(self, *, rel: int = 1, judged_only: bool = False) -> Recall:
        """`SetR(rel=)` through pytrec_eval. Run with 0.4.3: equal to 1e-9; options as of `ap`."""
        return _asked(trec_eval_9.set_recall().named("ir_measures.set_r"), rel, judged_only)

    @measure
    def set_f(self, *, rel: int = 1, beta: float = 1, judged_only: bool = False) -> FMeasure:
        """`SetF(rel=, beta=)` through pytrec_eval, to which `beta` is beta squared. Run with 0.4.3: equal to 1e-9."""
        return _asked(trec_eval_9.set_F().named("ir_measures.set_f").replace(beta_squared=beta), rel, judged_only)

    @measure
    def judged(self, k: int | None) -> Precision:
        """`Judged@k`: the share of judged rows, ties by ascending docid. Run with 0.4.3: equal to 1e-9."""
        base = trec_eval_9.P(k).replace(relevant="judged", divisor="retrieved", ties="docid-ascending")
        return base.replace(precision="float64").named("ir_measures.judged")

    @measure
    def err(self, k: int | None) -> ERR:
        """`ERR@k` through gdeval.pl, which prints five decimals. Run with 0.4.3: equal to 5e-6."""
        return ERR(
            k=k, gain="exp2", scale=16, discount="reciprocal", complement="float64", ties="docid-descending",
            precision="float64", short="pad", missing="skip", unjudged="zero", average="uniform",
        ).named("ir_measures.err")  # fmt: skip

    @measure
    def rbp(self, k: int | None, *, rel: int = 1, p: float = 0.8) -> RBP:
        """`RBP(rel=, p=)` through cwl_eval, which looks at the first 1000 rows. Run with 0.4.3: equal to 1e-9.

        Parameters
        ----------
        k : int or None
            1000 is what ir_measures computes.
        rel : int
            The least grade that is relevant.
        p : float
            The persistence.
        """
        found = RBP(
            k=k, gain="from_1", persistence=0.8, ties="input", precision="float64", short="pad", missing="skip",
            unjudged="zero", average="uniform",
        ).named("ir_measures.rbp")  # fmt: skip
        return found.replace(gain=from_level("rel", rel), persistence=p)

    def read(self, text: str, **params: Any) -> Convention:
        """Read what ir_measures computes for a measure.

        Examples
        --------
        >>> ir_measures.read("RBP(rel=1)") == ir_measures.rbp(1000)
        True
        """
        deep = isinstance(text, str) and text.startswith("RBP(")
        return super().read(text, **({"k": CWL_ROWS, **params} if deep else params))


def _asked(found: C, rel: object, judged_only: object) -> C:
    found = found.replace(relevant=from_level("rel", rel))
    return found.replace(unjudged="drop", missing="zero") if flag("judged_only", judged_only) else found


ir_measures = IrMeasures()
