"""trec_eval in its versions, and pytrec_eval, which wraps one of them."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, TypeVar

from rankadapters.core.declaration.convention import Convention
from rankadapters.core.measures import AP, NDCG, RR, Bpref, FMeasure, Precision, Recall, RPrecision, Success
from rankadapters.core.presets.tool import Tool, flag, from_level, measure

C = TypeVar("C", bound=Convention)


class TrecEval9(Tool):
    """trec_eval 9.0.x `ndcg_cut` and `ndcg`, m_ndcg_cut.c. Run with 9.0.8: equal to the four decimals that it prints.

    Scores are rounded to float32, and ties stand by descending docid. Labels below 0 have gain 0. Every measure takes
    `complete`, the program's `-c`: count judged queries of which nothing was retrieved as 0 instead of leaving them
    out.
    """

    name: ClassVar[str] = "trec_eval_9"
    patterns: ClassVar[dict[str, str]] = {
        r"ndcg(_cut[_.](?P<k>[1-9]\d*))?": "",
        "map": "map",
        r"map_cut[_.](?P<k>[1-9]\d*)": "map_cut",
        "gm_map": "gm_map",
        "recip_rank": "recip_rank",
        r"P[_.](?P<k>[1-9]\d*)": "P",
        r"relative_P[_.](?P<k>[1-9]\d*)": "relative_P",
        r"recall[_.](?P<k>[1-9]\d*)": "recall",
        r"success[_.](?P<k>[1-9]\d*)": "success",
        "Rprec": "Rprec",
        "bpref": "bpref",
        "gm_bpref": "gm_bpref",
        "set_P": "set_P",
        "set_relative_P": "set_relative_P",
        "set_recall": "set_recall",
        r"set_F([_.](?P<x>\d+(\.\d+)?))?": "set_F",
    }
    precision: ClassVar[Literal["float32", "float64"]] = "float32"

    def __call__(self, k: int | None, *, complete: bool = False) -> NDCG:
        """Give `ndcg_cut` at a cutoff, or `ndcg`.

        Parameters
        ----------
        k : int or None
            The cutoff of `ndcg_cut`; None is `ndcg`.
        complete : bool
            `-c`.
        """
        found = NDCG(
            k=k, gain="linear-positive", discount="log2", ideal="cutoff", ties="docid-descending",
            precision=self.precision, short="pad", empty=0, missing="skip", unjudged="zero", average="uniform",
        ).named(self.name)  # fmt: skip
        return found.replace(missing="zero") if flag("complete", complete) else found

    @measure
    def map_cut(self, k: int | None, *, level: int = 1, complete: bool = False) -> AP:
        """`map_cut_k`, m_map_cut.c: cut at k, divided by all relevant documents. Run: equal to what is printed.

        Parameters
        ----------
        k : int or None
            The cutoff; None is `map`.
        level : int
            `-l`: the least grade that is relevant.
        complete : bool
            `-c`.
        """
        found = AP(
            k=k, relevant="from_1", divisor="relevant", ties="docid-descending", precision=self.precision,
            retrieve="all", short="pad", empty=0, missing="skip", unjudged="zero", pool="queries", average="uniform",
        ).named(f"{self.name}.map_cut")  # fmt: skip
        return _asked(found, level, complete)

    @measure
    def map(self, *, level: int = 1, complete: bool = False) -> AP:
        """`map`, m_map.c. Run: equal to what is printed."""
        return self._of_map("map", {}, level, complete)

    @measure
    def gm_map(self, *, level: int = 1, complete: bool = False) -> AP:
        """`gm_map`, m_gm_map.c: the geometric mean, of values below 1e-5 as 1e-5. Run: equal to what is printed."""
        return self._of_map("gm_map", {"average": "geometric_1e-05"}, level, complete)

    @measure
    def recip_rank(self, *, level: int = 1, complete: bool = False) -> RR:
        """`recip_rank`, m_recip_rank.c. Run: equal to what is printed; options as of `map_cut`."""
        found = RR(
            k=None, relevant="from_1", ties="docid-descending", precision=self.precision, retrieve="all",
            short="pad", empty=0, missing="skip", unjudged="zero", average="uniform",
        ).named(f"{self.name}.recip_rank")  # fmt: skip
        return _asked(found, level, complete)

    @measure
    def P(self, k: int | None, *, level: int = 1, complete: bool = False) -> Precision:  # noqa: N802 - the program's name
        """`P_k`, m_P.c. Run: equal to what is printed; options as of `map_cut`."""
        return _asked(self._precision("P", k=k, divisor="k"), level, complete)

    @measure
    def relative_P(self, k: int | None, *, level: int = 1, complete: bool = False) -> Precision:  # noqa: N802 - as above
        """`relative_P_k`, m_relative_P.c: divided by min(k, R). Run: equal; options as of `map_cut`."""
        return _asked(self._precision("relative_P", k=k, divisor="relevant"), level, complete)

    @measure
    def set_P(self, *, level: int = 1, complete: bool = False) -> Precision:  # noqa: N802 - as above
        """`set_P`, m_set_P.c: of all that was retrieved. Run: equal to what is printed; options as of `map_cut`."""
        return _asked(self._precision("set_P", k=None, divisor="retrieved"), level, complete)

    @measure
    def set_relative_P(self, *, level: int = 1, complete: bool = False) -> Precision:  # noqa: N802 - as above
        """`set_relative_P`, m_set_rel_P.c: divided by min(n, R). Run: equal; options as of `map_cut`."""
        return _asked(self._precision("set_relative_P", k=None, divisor="relevant"), level, complete)

    @measure
    def recall(self, k: int | None, *, level: int = 1, complete: bool = False) -> Recall:
        """`recall_k`, m_recall.c. Run: equal to what is printed; options as of `map_cut`."""
        return _asked(Recall(k=k, **self._ranked()).named(f"{self.name}.recall"), level, complete)

    @measure
    def set_recall(self, *, level: int = 1, complete: bool = False) -> Recall:
        """`set_recall`, m_set_recall.c: in all that was retrieved. Run: equal; options as of `map_cut`."""
        return _asked(Recall(k=None, **self._ranked()).named(f"{self.name}.set_recall"), level, complete)

    @measure
    def success(self, k: int | None, *, level: int = 1, complete: bool = False) -> Success:
        """`success_k`, m_success.c. Run: equal to what is printed; options as of `map_cut`."""
        return _asked(Success(k=k, **self._ranked()).named(f"{self.name}.success"), level, complete)

    @measure
    def Rprec(self, *, level: int = 1, complete: bool = False) -> RPrecision:  # noqa: N802 - as above
        """`Rprec`, m_Rprec.c. Run: equal to what is printed; options as of `map_cut`."""
        found = RPrecision(
            relevant="from_1", ties="docid-descending", precision=self.precision, empty=0, missing="skip",
            unjudged="zero", average="uniform",
        ).named(f"{self.name}.Rprec")  # fmt: skip
        return _asked(found, level, complete)

    @measure
    def bpref(self, *, level: int = 1, complete: bool = False) -> Bpref:
        """`bpref`, m_bpref.c. Run: equal to what is printed; options as of `map_cut`."""
        found = Bpref(
            relevant="from_1", ties="docid-descending", precision=self.precision, empty=0, missing="skip",
            unjudged="zero", average="uniform",
        ).named(f"{self.name}.bpref")  # fmt: skip
        return _asked(found, level, complete)

    @measure
    def gm_bpref(self, *, level: int = 1, complete: bool = False) -> Bpref:
        """`gm_bpref`, m_gm_bpref.c: the geometric mean, of values below 1e-5 as 1e-5. Run: equal to what is printed."""
        found = self.bpref().replace(average="geometric_1e-05").named(f"{self.name}.gm_bpref")
        return _asked(found, level, complete)

    @measure
    def set_F(self, *, x: float = 1, level: int = 1, complete: bool = False) -> FMeasure:  # noqa: N802 - as above
        """`set_F.x`, m_set_F.c, in all that was retrieved; x is beta squared. Run: equal to what is printed.

        Parameters
        ----------
        x : float
            Its parameter: how much recall weighs, squared.
        level, complete
            As of `map_cut`.
        """
        found = FMeasure(k=None, divisor="retrieved", beta_squared=1, **self._ranked()).named(f"{self.name}.set_F")
        return _asked(found.replace(beta_squared=x), level, complete)

    def _ranked(self) -> dict[str, Any]:
        """Fields of every measure of relevant documents."""
        return {
            "relevant": "from_1", "ties": "docid-descending", "precision": self.precision, "retrieve": "all",
            "short": "pad", "empty": 0, "missing": "skip", "unjudged": "zero", "average": "uniform",
        }  # fmt: skip

    def _precision(self, name: str, **fields: Any) -> Precision:
        return Precision(**fields, **self._ranked()).named(f"{self.name}.{name}")

    def _of_map(self, name: str, fields: dict[str, object], level: int, complete: bool) -> AP:  # noqa: FBT001 - options of its callers
        """Give the defaults their own name, then what was asked for."""
        base = self.map_cut(None).replace(**fields).named(f"{self.name}.{name}")
        asked = self.map_cut(None, level=level, complete=complete)
        return base.replace(relevant=asked.relevant, missing=asked.missing)


def _asked(found: C, level: object, complete: object) -> C:
    changes = {"relevant": from_level("level", level)}
    return found.replace(**changes, **({"missing": "zero"} if flag("complete", complete) else {}))


class TrecEval10(TrecEval9):
    """trec_eval 10.0 `ndcg_cut` and `ndcg`. Run with 10.0-rc3: equal to the four decimals that it prints.

    As trec_eval 9 with scores in float64, so that fewer of them tie.
    """

    name: ClassVar[str] = "trec_eval_10"
    precision: ClassVar[Literal["float32", "float64"]] = "float64"


class TrecEval8(Tool):
    """trec_eval 8.1 with the NDCG patch of 2008. Run: equal to the four decimals that it prints.

    Stock 8.1 has no NDCG. Gains are the labels; for 2^l - 1 the qrels were rewritten: `replace(gain="exp2")`.
    """

    name: ClassVar[str] = "trec_eval_8"

    def __call__(self, k: int | None, *, complete: bool = False) -> NDCG:
        """Give NDCG at a cutoff.

        Parameters
        ----------
        k : int or None
            `-M k`; None is the measure without a cutoff.
        complete : bool
            `-c`: count judged queries of which nothing was retrieved as 0 instead of leaving them out.
        """
        found = trec_eval_9(k).replace(gain="linear").named(self.name)
        return found.replace(missing="zero") if flag("complete", complete) else found


class PytrecEval(TrecEval9):
    """pytrec_eval 0.5 `ndcg_cut` and `ndcg`: trec_eval 9. Run with pytrec_eval-terrier 0.5.11: equal to 1e-9.

    Queries of which nothing was retrieved are left out; negative labels crash it.
    """

    name: ClassVar[str] = "pytrec_eval"


trec_eval_8, trec_eval_9, trec_eval_10, pytrec_eval = TrecEval8(), TrecEval9(), TrecEval10(), PytrecEval()
