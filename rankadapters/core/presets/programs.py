"""The evaluation programs that papers were made with."""

from __future__ import annotations

from rankadapters.core.convention import NDCG


def letor3(k: int | None) -> NDCG:
    """LETOR 3.0, Eval-Score-3.0.pl. Run: equal to 1e-11 in the mean, and per query where it prints one.

    As LETOR 4.0 in the mean: a query with fewer than k documents has no value of its own but adds 0. A label above 2
    has gain 0 in silence; here it is an error.
    """
    return letor4(k).named("letor3")


def letor4(k: int | None) -> NDCG:
    """LETOR 4.0, Eval-Score-4.0.pl (2009). Run: equal to 1e-11, per query and in the mean.

    Gains 0, 1, 3 by table, no discount at rank 2, and a query with fewer than k documents counts 0. The script gives
    a label above 2 gain 0 in silence; here it is an error.
    """
    return NDCG(
        k=k, gain="table_0_1_3", discount="jk2", ideal="cutoff", ties="input", precision="float64",
        short="zero", empty=0, missing="error", unjudged="error", average="uniform",
    ).named("letor4")  # fmt: skip


def yahoo(k: int | None) -> NDCG:
    """Yahoo! Learning to Rank Challenge, evaluate.py (2010). Run: equal to 1e-11, per query and in the mean.

    A query with nothing relevant counts 1, which lifts MQ2008's mean by its share of such queries, 0.281. The script
    takes ranks and never sorts; giving it the stable order of the scores is `ties="input"`.
    """
    return NDCG(
        k=k, gain="exp2", discount="log2", ideal="cutoff", ties="input", precision="float64",
        short="pad", empty=1, missing="error", unjudged="error", average="uniform",
    ).named("yahoo")  # fmt: skip


def mslr(k: int | None) -> NDCG:
    """MSLR-WEB10K and -WEB30K, eval-score-mslr.pl (2010). Run: equal to 1e-11, per query and in the mean.

    LETOR 4.0 with gains for labels up to 4. A label above has gain 0 in silence; here it is an error.
    """
    return letor4(k).replace(gain="table_0_1_3_7_15").named("mslr")


def ranklib(k: int | None) -> NDCG:
    """RankLib 2.1 (2012) to 2.10.1, NDCGScorer.java. Run with both: equal to 1e-11, per query and in the mean.

    It casts labels to int in silence; here fractions keep their gain. A qid that comes back later in its file is a new
    query there. The 2011 source sorts ties as no convention does: see `inexpressible`.
    """
    return NDCG(
        k=k, gain="exp2", discount="log2", ideal="cutoff", ties="input", precision="float64",
        short="pad", empty=0, missing="error", unjudged="error", average="uniform",
    ).named("ranklib")  # fmt: skip


def ranklib_busafekete(k: int | None) -> NDCG:
    """RankLib fork of the first author of Busa-Fekete et al. (2011). Run: equal to 1e-11 on data without ties.

    A query with nothing relevant counts 0.5. Its selection sort orders ties as no convention does.
    """
    return ranklib(k).replace(empty=0.5).named("ranklib_busafekete")


def trec_eval_8(k: int | None, complete: bool = False) -> NDCG:  # noqa: FBT001, FBT002 - the program's own flag
    """trec_eval 8.1 with the NDCG patch of 2008. Run: equal to the four decimals that it prints.

    Stock 8.1 has no NDCG. Gains are the labels; for 2^l - 1 the qrels were rewritten: `replace(gain="exp2")`.

    Parameters
    ----------
    k : int or None
        `-M k`; None is the measure without a cutoff.
    complete : bool
        `-c`: count judged queries of which nothing was retrieved as 0 instead of leaving them out.
    """
    return trec_eval_9(k, complete).replace(gain="linear").named(_complete("trec_eval_8", complete))


def trec_eval_9(k: int | None, complete: bool = False) -> NDCG:  # noqa: FBT001, FBT002 - the program's own flag
    """trec_eval 9.0.x `ndcg_cut` and `ndcg`, m_ndcg_cut.c. Run with 9.0.8: equal to the four decimals that it prints.

    Scores are rounded to float32, and ties stand by descending docid. Labels below 0 have gain 0.

    Parameters
    ----------
    k : int or None
        The cutoff of `ndcg_cut`; None is `ndcg`.
    complete : bool
        `-c`: count judged queries of which nothing was retrieved as 0 instead of leaving them out.
    """
    return NDCG(
        k=k, gain="linear-positive", discount="log2", ideal="cutoff", ties="docid-descending", precision="float32",
        short="pad", empty=0, missing="zero" if complete else "skip", unjudged="zero", average="uniform",
    ).named(_complete("trec_eval_9", complete))  # fmt: skip


def trec_eval_10(k: int | None, complete: bool = False) -> NDCG:  # noqa: FBT001, FBT002 - the program's own flag
    """trec_eval 10.0 `ndcg_cut` and `ndcg`. Run with 10.0-rc3: equal to the four decimals that it prints.

    As trec_eval 9 with scores in float64, so that fewer of them tie.

    Parameters
    ----------
    k : int or None
        The cutoff of `ndcg_cut`; None is `ndcg`.
    complete : bool
        `-c`: count judged queries of which nothing was retrieved as 0 instead of leaving them out.
    """
    return trec_eval_9(k, complete).replace(precision="float64").named(_complete("trec_eval_10", complete))


def _complete(label: str, complete: bool) -> str:  # noqa: FBT001 - as above
    return f"{label}+complete" if complete else label
