"""Mistakes that a type checker must report: mypy refuses an ignore of an error that it does not find. Never run."""

import rankadapters as ra


def mistakes() -> None:
    labels, scores, qid = [1, 0], [0.2, 0.9], ["a", "a"]

    score = ra.evaluate(labels, scores, "yahoo@10", qid=qid)
    ra.evaluate(labels, scores, "yahoo@10", qids=qid)  # type: ignore[call-overload]
    ra.evaluate(labels, scores, 10, qid=qid)  # type: ignore[call-overload]
    ra.evaluate(labels, scores, qid=qid)  # type: ignore[call-overload]
    ra.evaluate(labels, scores, [10], qid=qid)  # type: ignore[list-item]
    ra.Queries(labels, group=[2])  # type: ignore[arg-type]
    ra.Evaluator(labels, "yahoo@10", groups=qid)  # type: ignore[call-arg]

    ra.NDCG(foo=1)  # type: ignore[call-arg]
    ra.NDCG(
        k="10",  # type: ignore[arg-type]
        gain="exp2", discount="log2", ideal="cutoff", ties="input",
        precision="double",  # type: ignore[arg-type]
        short="padd",  # type: ignore[arg-type]
        empty=1, missing="error",
        unjudged="ignore",  # type: ignore[arg-type]
        average="uniform",
    )  # fmt: skip
    ra.ndcg  # type: ignore[attr-defined]

    ra.presets.lightgbm(10).k
    ra.presets.lightgbm.map(5).divisor
    ra.presets.lightgbm.map(5).gain  # type: ignore[attr-defined]
    ra.presets.lightgbm.mrr(5)  # type: ignore[attr-defined]
    ra.presets.catboost.write(ra.parse("catboost@10")).upper()
    ra.presets.lightgbm.write(ra.parse("lightgbm@10")).upper()  # type: ignore[attr-defined]

    score.valu  # type: ignore[attr-defined]
    score < "0.5"  # type: ignore[operator]
    score < 0.5 < score
    score - 0.5 < 0.5 - score
    score - score < 0.5
    round(score, 3) < 0.5

    many = ra.evaluate(labels, scores, ["yahoo@10"], qid=qid)
    many[ra.parse("yahoo@10")].value
    many["yahoo@10"].value
    models = ra.evaluate(labels, {"a": scores}, ["yahoo@10"], qid=qid)
    models[ra.parse("yahoo@10")]["a"].value
    models[ra.parse("yahoo@10")].value  # type: ignore[attr-defined]

    ra.objectives.lightgbm.lambdarank().replace(sigma=2.0)
    ra.objectives.LambdaRank(sigma=2.0)  # type: ignore[call-arg]
    ra.audit.explain(labels, scores, "yahoo@10", qid=qid)  # type: ignore[call-arg]
    ra.parity.check_value(labels, scores, "yahoo@10", qid=qid)  # type: ignore[call-arg]
    ra.io.read_letor("rows.txt", predictions="scores.txt").scores
    ra.io.read_letor("rows.txt", feature=25).scores
    ra.io.read_letor("rows.txt").metadata  # type: ignore[attr-defined]
    ra.io.read_trec("qrels", "run").scores
    ra.datasets.mq2008_like(queries=3)  # type: ignore[call-arg]


def mistakes_in_trainings() -> None:
    ra.History.of({"valid": {"ndcg@10/yahoo": [0.5]}}).best().value
    ra.History.of([0.5])  # type: ignore[arg-type]
    ra.lightgbm.eval_metric("yahoo@10").history  # type: ignore[attr-defined]
    ra.lightgbm.eval_metric("yahoo@10", name=["a"])  # type: ignore[call-arg]
    ra.xgboost.eval_metric(10)  # type: ignore[arg-type]
    ra.catboost.native_metric("catboost@10").upper()
    ra.sklearn.query_scorer("yahoo@10", group="qid")  # type: ignore[call-overload]


def mistakes_of_options() -> None:
    ra.presets.catboost(5, type="Exp").gain
    ra.presets.catboost(5, type="exp")  # type: ignore[arg-type]
    ra.presets.ranx.map(5, lvl=2)  # type: ignore[call-arg]
