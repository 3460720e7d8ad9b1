"""Mistakes that a type checker must report: one in each marked line, and none elsewhere. Never run."""

import rankadapters as ra


def mistakes() -> None:
    labels, scores, qid = [1, 0], [0.2, 0.9], ["a", "a"]

    score = ra.evaluate(labels, scores, "yahoo@10", qid=qid)
    ra.evaluate(labels, scores, "yahoo@10", qids=qid)  # mistake: call-overload
    ra.evaluate(labels, scores, 10, qid=qid)  # mistake: call-overload
    ra.evaluate(labels, scores, qid=qid)  # mistake: call-overload
    ra.evaluate(labels, scores, [10], qid=qid)  # mistake: list-item
    ra.Queries(labels, group=[2])  # mistake: arg-type
    ra.Queries(labels, group_sizes=[2])
    ra.Evaluator(labels, "yahoo@10", groups=qid)  # mistake: call-arg
    ra.Evaluator(labels, ["yahoo@10"], sample_weight=[1, 1])  # mistake: call-arg

    ra.NDCG(foo=1)  # mistake: call-arg
    ra.NDCG(
        k=10, gain="exp2", discount="log2", ideal="cutoff", ties="input", precision="float64", short="pad", empty=1,
        missing="error", unjudged="error", average="uniform",
    )  # fmt: skip
    ra.NDCG(
        k="10",  # mistake: arg-type
        gain="exp2", discount="log2", ideal="cutoff", ties="input",
        precision="double",  # mistake: arg-type
        short="padd",  # mistake: arg-type
        empty=1, missing="error",
        unjudged="ignore",  # mistake: arg-type
        average="uniform",
    )  # fmt: skip
    ra.ndcg  # mistake: attr-defined
    ra.nope  # mistake: attr-defined

    ra.presets.lightgbm(10).k
    ra.presets.lightgbm.map(5).divisor
    ra.presets.lightgbm.map(5).gain  # mistake: attr-defined
    ra.presets.lightgbm.mrr(5)  # mistake: attr-defined
    ra.presets.nope(5)  # mistake: attr-defined
    ra.presets.catboost.write(ra.parse("catboost@10")).upper()
    ra.presets.lightgbm.write(ra.parse("lightgbm@10")).upper()  # mistake: attr-defined

    score.valu  # mistake: attr-defined
    score < "0.5"  # mistake: operator
    score < 0.5 < score
    score - 0.5 < 0.5 - score
    score - score < 0.5
    round(score, 3) < 0.5

    many = ra.evaluate(labels, scores, ["yahoo@10"], qid=qid)
    many[ra.parse("yahoo@10")].value
    many["yahoo@10"].value
    models = ra.evaluate(labels, {"a": scores}, ["yahoo@10"], qid=qid)
    models[ra.parse("yahoo@10")]["a"].value
    models[ra.parse("yahoo@10")].value  # mistake: attr-defined

    ra.objectives.lightgbm.lambdarank().replace(sigma=2.0)
    ra.objectives.LambdaRank(sigma=2.0)  # mistake: call-arg
    ra.audit.explain(labels, scores, "yahoo@10", qid=qid)  # mistake: call-arg
    ra.parity.check_value(labels, scores, "yahoo@10", qid=qid)  # mistake: call-arg
    ra.io.read_letor("rows.txt", predictions="scores.txt").scores
    ra.io.read_letor("rows.txt", feature=25).scores
    ra.io.read_letor("rows.txt").metadata  # mistake: attr-defined
    ra.io.read_trec("qrels", "run").scores
    ra.io.read_csv("file.csv")  # mistake: attr-defined
    ra.datasets.mq2008_like(queries=3)  # mistake: call-arg


def mistakes_in_trainings() -> None:
    ra.History.of({"valid": {"ndcg@10/yahoo": [0.5]}}).best().value
    ra.History.of([0.5])  # mistake: arg-type
    ra.lightgbm.eval_metric("yahoo@10").history  # mistake: attr-defined
    ra.lightgbm.eval_metrics("yahoo@10")  # mistake: attr-defined
    ra.lightgbm.eval_metric("yahoo@10", name=["a"])  # mistake: call-arg
    ra.xgboost.eval_metric(10)  # mistake: arg-type
    ra.catboost.native_metric("catboost@10").upper()
    ra.sklearn.query_scorer("yahoo@10", group="qid")  # mistake: call-overload


def mistakes_of_options() -> None:
    ra.presets.catboost(5, type="Exp").gain
    ra.presets.catboost(5, type="exp")  # mistake: arg-type
    ra.presets.ranx.map(5, lvl=2)  # mistake: call-arg
    ra.presets.spark(5).gain
    ra.presets.spark("5")  # mistake: arg-type
