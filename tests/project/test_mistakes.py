"""The most likely mistakes of a new user: each raises an error that says what is wrong and suggests a fix.

tests/project/test_imports.py tests a missing toolkit. Left out are mistakes that scikit-learn, LightGBM, XGBoost and
CatBoost refuse themselves, such as `scoring="lightgbm@10"` and `fit(objective=...)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

import rankadapters as ra
from rankadapters import cli
from tests.helpers.tables import for_each

LABELS, SCORES, QID = [2.0, 0.0, 1.0, 0.0], [0.4, 0.3, 0.2, 0.1], ["a", "a", "b", "b"]
X = np.arange(8.0).reshape(4, 2)


class Mistake(NamedTuple):
    """A wrong call, the class of its error, and regular expressions for the problem and the hint."""

    call: Callable[[], object]
    error: type[Exception]
    problem: str
    hint: str


def evaluate(labels=LABELS, scores=SCORES, convention="lightgbm@2", **columns):
    return ra.evaluate(labels, scores, convention, **({"qid": QID} | columns))


def evaluate_misaligned_series():
    pd = pytest.importorskip("pandas")
    return evaluate(pd.Series(LABELS), pd.Series(SCORES, index=[3, 2, 1, 0]))


def cross_validate_without_qid():
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import cross_val_score

    scorer = ra.sklearn.query_scorer("lightgbm@2")
    return cross_val_score(LinearRegression(), X, LABELS, cv=2, error_score="raise", scoring=scorer)


def search_without_routing():
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LinearRegression
    from sklearn.model_selection import GridSearchCV

    ranker = ra.sklearn.QueryRanker(LinearRegression())
    grid = {"estimator__fit_intercept": [True, False]}
    search = GridSearchCV(ranker, grid, cv=ra.sklearn.QueryKFold(2), scoring=ra.sklearn.query_scorer("lightgbm@2"))
    return search.fit(X, LABELS, qid=QID)


def fit_ranker_of_a_class():
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LinearRegression

    return ra.sklearn.QueryRanker(LinearRegression).fit(X, LABELS, qid=QID)


def train_lightgbm(*, group=True, **arguments):
    lgb = pytest.importorskip("lightgbm")
    data = lgb.Dataset(X, LABELS, group=np.array([2, 2]) if group else None, params={"verbosity": -1})
    params = {"objective": "regression", "metric": "None", "verbosity": -1, "num_threads": 1}
    return lgb.train(params, data, 2, valid_sets=[data], **arguments)


def lightgbm_metric():
    pytest.importorskip("lightgbm")
    return ra.lightgbm.eval_metric("lightgbm@2")


def train_xgboost_without_qid():
    xgb = pytest.importorskip("xgboost")
    data, metric = xgb.DMatrix(X, LABELS), ra.xgboost.eval_metric("xgboost@2")
    return xgb.train({}, data, 1, evals=[(data, "train")], custom_metric=metric, verbose_eval=False)


def xgboost_callback(evals):
    pytest.importorskip("xgboost")
    return ra.xgboost.EvalCallback("xgboost@2", evals)


def fit_xgbranker_with_metric():
    xgb = pytest.importorskip("xgboost")
    pytest.importorskip("sklearn")
    ranker = xgb.XGBRanker(n_estimators=1, eval_metric=ra.xgboost.eval_metric("xgboost@2"))
    qid = [0, 0, 1, 1]
    return ranker.fit(X, LABELS, qid=qid, eval_set=[(X, LABELS)], eval_qid=[qid], verbose=False)


def train_catboost_without_group():
    cb = pytest.importorskip("catboost")
    return ra.catboost.train({"iterations": 1}, cb.Pool(X, LABELS), ra.objectives.QueryRMSE(), "catboost@2")


def catboost_metric_without_qid():
    pytest.importorskip("catboost")
    return ra.catboost.eval_metric("catboost@2", sets=[(LABELS,)])


def fit_learner_without_qid():
    pytest.importorskip("sklearn")
    return ra.learners.AdaRank("letor4@2").fit(X, LABELS)


C, I = ra.ConventionError, ra.InputError  # noqa: E741 - short names for the table below
MISTAKES = {
    # Queries
    "passes group sizes as qid": Mistake(
        lambda: evaluate(qid=[2, 2]), I, "qid has 2 entries that add up to the 4 rows.",
        "rows per query go to group_sizes=.",
    ),
    "passes query ids as group sizes": Mistake(
        lambda: evaluate(qid=None, group_sizes=[1, 1, 2, 2]), I,
        "group_sizes has 4 entries, one per row, but needs one per query.", "ids of rows go to qid=.",
    ),
    "writes group= as in LightGBM": Mistake(
        lambda: evaluate(group=[2, 2]), I, "'group' is not an accepted column; allowed are 'qid', .*",
        "group_sizes= takes the rows of each query, qid= one id per row.",
    ),
    "writes groups= as in scikit-learn": Mistake(
        lambda: evaluate(groups=QID), I, "'groups' is not an accepted column; allowed are 'qid', .*",
        "qid= takes one id per row, group_sizes= the rows of each query.",
    ),
    "writes sample_weight=": Mistake(
        lambda: evaluate(sample_weight=[1, 1, 1, 1]), I, "'sample_weight' is not an accepted column; .*",
        "row_weight= takes one weight per row, query_weight= one per query.",
    ),
    "passes neither qid nor group sizes": Mistake(
        lambda: ra.evaluate(LABELS, SCORES, "lightgbm@2"), I,
        "exactly one of qid and group_sizes is needed, but neither was given.",
        "qid=one per row, or group_sizes=one per query.",
    ),
    "passes qid instead of the convention": Mistake(
        lambda: ra.evaluate(LABELS, SCORES, np.array([0, 0, 1, 1])), C, r"ndarray of shape \(4,\) is not a convention.",
        "pass labels, scores, then a convention such as 'letor4@10'; name all other arguments, as in qid=qid.",
    ),
    "has a row without a query": Mistake(
        lambda: evaluate(qid=[1.0, 1.0, float("nan"), 2.0]), I,
        r"qid\[2\] is nan, but every row belongs to a query.", "drop rows without a query.",
    ),
    # Labels and scores
    "swaps labels and scores": Mistake(
        lambda: evaluate([-0.4, 0.3, 0.2, 0.1], LABELS), I,
        r"labels\[0\] is -0.4, negative, which exp2 has no gain for.",
        "gain='linear' takes it as it is; and labels come before scores.",
    ),
    "passes the output of predict_proba": Mistake(
        lambda: evaluate(scores=np.array([[0.6, 0.4]] * 4)), I,
        r"scores has shape \(4, 2\), but one dimension is needed.",
        r"scores\[:, 1\], if predict_proba returned a column for each class.",
    ),
    "passes the scores of several models to an Evaluator": Mistake(
        lambda: ra.Evaluator(LABELS, "lightgbm@2", qid=QID).measure({"mine": SCORES}), I,
        r"scores is {'mine': \[0.4, 0.3, 0.2, 0.1\]}, but one entry per row is needed.",
        "the scores of one model; ra.evaluate takes a mapping of models to scores.",
    ),
    "passes a list for each query": Mistake(
        lambda: evaluate([[2, 0], [1, 0]], [[1, 0], [1, 0]]), I,
        "labels holds lists, so it has two dimensions, but one is needed.",
        r"one entry of labels per row; for a list per query, numpy.concatenate\(labels\).",
    ),
    "passes pandas Series of different orders": Mistake(
        evaluate_misaligned_series, I,
        "scores has a different pandas index from labels, so their rows may not belong together.",
        r"align them first \(scores.loc\[labels.index\]\), or pass .to_numpy\(\) if the rows are in the same order.",
    ),
    "passes the name of a column instead of the column": Mistake(
        lambda: evaluate(qid="qid"), I, "qid is 'qid', but one entry per row is needed.",
        r"an array, a list or a column, such as df\['qid'\].",
    ),
    "has a NaN score": Mistake(
        lambda: evaluate(scores=[0.4, float("nan"), 0.2, 0.1]), I,
        r"scores\[1\] is nan, which is not a finite number.", "fix it, or drop the row.",
    ),
    "has fewer scores than labels": Mistake(
        lambda: evaluate(scores=SCORES[:3]), I, "scores has 3 rows but the queries cover 4.", ".*",
    ),
    "has fractional labels under a table of gains": Mistake(
        lambda: evaluate([0.5, 0.0, 1.0, 0.0], convention="letor4@2"), I,
        r"labels\[0\] is 0.5, outside the gain table of table_0_1_3 \(labels 0 to 2\).",
        "give a table with a gain for every grade, or map your labels first.",
    ),
    "has labels above the table of gains": Mistake(
        lambda: evaluate([4, 0, 1, 0], convention="letor4@2"), I,
        r"labels\[0\] is 4, outside the gain table of table_0_1_3 \(labels 0 to 2\).",
        "give a table with a gain for every grade, or map your labels first.",
    ),
    "has labels as text": Mistake(
        lambda: evaluate(["2", "0", "1", "0"]), I, r"labels must be numbers, but labels\[0\] is .*'2'.*",
        r"numpy.asarray\(labels, 'float64'\) if all entries are numbers.",
    ),
    # Conventions
    "asks for NDCG@10 without naming a tool": Mistake(
        lambda: evaluate(convention="NDCG@10"), C, "'NDCG@10' does not say whose NDCG it is, and tools differ.",
        "'textbook@10', 'sklearn@10', 'lightgbm@10', ...; `rankadapters conventions --measure ndcg` prints them; or a "
        "whole signature, up to '/v1'.",
    ),
    "asks for map@10 without naming a tool": Mistake(
        lambda: evaluate(convention="map@10"), C, "'map@10' does not say whose map it is, and tools differ.",
        "'lightgbm.map@10', 'xgboost.map@10', 'catboost.map@10', .*",
    ),
    "misspells a preset": Mistake(
        lambda: evaluate(convention="lightgmb@10"), C,
        "'lightgmb@10' is neither a preset@k such as 'letor4@10' nor a signature.",
        r"did you mean 'lightgbm@10'\? `rankadapters conventions --measure all` prints all.",
    ),
    "misspells the name of a package": Mistake(
        lambda: evaluate(convention="scikit-lern@10"), C,
        "'scikit-lern@10' is neither a preset@k such as 'letor4@10' nor a signature.",
        r"did you mean 'sklearn@10'\? `rankadapters conventions --measure all` prints all.",
    ),
    "writes a negative cutoff in a text": Mistake(
        lambda: evaluate(convention="textbook@-1"), C,
        "'-1' in 'textbook@-1' is not a cutoff; allowed are whole numbers from 1 on, and 'all'.", "'textbook@10'.",
    ),
    "writes a tool's name of a metric without the tool": Mistake(
        lambda: evaluate(convention="ndcg_cut_10"), C,
        "'ndcg_cut_10' does not say whose ndcg_cut_10 it is, and tools differ.",
        "'trec_eval_9.ndcg_cut_10', 'trec_eval_10.ndcg_cut_10', .*",
    ),
    "misspells a preset as an attribute": Mistake(
        lambda: ra.presets.lgbm(10), AttributeError, "presets has no 'lgbm'.", r"did you mean presets.lightgbm\?",
    ),
    "misspells a measure of a preset": Mistake(
        lambda: ra.presets.lightgbm.ndcg(10), AttributeError,
        "'ndcg' is not a known metric of lightgbm; there are presets for 'lightgbm', 'map', 'auc', .*",
        r"presets.lightgbm\(10\).",
    ),
    "leaves out the cutoff in a text": Mistake(
        lambda: evaluate(convention="lightgbm"), C, "'lightgbm' has no cutoff.",
        "'lightgbm@10', or '@all' for all ranks.",
    ),
    "has a cutoff of 0": Mistake(
        lambda: ra.presets.lightgbm(0), C, "k=0 is not a cutoff; allowed are whole numbers from 1 on, .*",
        r"k=10; several cutoffs are several conventions, \[conv.at\(5\), conv.at\(10\)\].",
    ),
    "passes several cutoffs": Mistake(
        lambda: ra.presets.lightgbm([5, 10]), C, r"k=\[5, 10\] is not a cutoff; allowed are whole numbers from 1 .*",
        r"k=10; several cutoffs are several conventions, \[conv.at\(5\), conv.at\(10\)\].",
    ),
    "calls a measure with data": Mistake(
        lambda: ra.NDCG(LABELS, SCORES), C, "NDCG is a convention: it takes its fields as keywords and no data.",
        r"ra.evaluate\(labels, scores, ra.NDCG\(...\), qid=qid\).",
    ),
    "leaves out the fields of a measure": Mistake(
        lambda: ra.NDCG(k=10), C, "NDCG needs every field declared; left out:(\n  .*)+",
        r"start from a preset, ra.presets.textbook\(10\).replace\(...\), or ra.parse\(signature\).",
    ),
    "leaves out the cutoff of a preset": Mistake(
        ra.presets.lightgbm, C,
        "the preset lightgbm needs k, which was left out: a whole number from 1 on, or None for all ranks.",
        r"presets.lightgbm\(10\).",
    ),
    # Scores
    "compares scores of two conventions": Mistake(
        lambda: evaluate() < evaluate(convention="sklearn@2"), ra.IncomparableScoresError,
        "the conventions differ in gain='exp2' against 'linear', .*", ".value gives the bare numbers, if you must.",
    ),
    "compares a score with a text": Mistake(
        lambda: evaluate() < "0.5", ra.IncomparableScoresError, "a Score and a str have no '<'.",
        "a number, or a score of the same convention and queries.",
    ),
    "averages the scores of folds": Mistake(
        lambda: np.mean([evaluate(), evaluate()]), ra.IncomparableScoresError,
        "scores are not added up, since a sum or a mean of them is not a score under a convention.",
        r"numpy.mean\(\[score.value for score in scores\]\).",
    ),
    # Toolkits
    "cross-validates without qid": Mistake(
        cross_validate_without_qid, I,
        "the scorer got no 'qid', so it cannot tell the queries apart .*",
        r"sklearn.set_config\(enable_metadata_routing=True\) and .*",
    ),
    "searches a grid without metadata routing": Mistake(
        search_without_routing, I, "QueryKFold got no qid, so it cannot keep queries whole.",
        r"sklearn.set_config\(enable_metadata_routing=True\) and .*",
    ),
    "wraps a class instead of an estimator": Mistake(
        fit_ranker_of_a_class, I, "estimator is the class LinearRegression.", r"QueryRanker\(LinearRegression\(\)\).",
    ),
    "forgets LightGBM's group": Mistake(
        lambda: train_lightgbm(group=False, feval=lightgbm_metric()), I,
        "the Dataset has no group, so its rows belong to no query.", r"lgb.Dataset\(..., group=sizes\).",
    ),
    "passes a metric to LightGBM as a callback": Mistake(
        lambda: train_lightgbm(callbacks=[lightgbm_metric()]), I,
        "the metric got only a CallbackEnv, so it was passed as callbacks=.",
        r"lgb.train\(feval=metric\), or LGBMRanker.fit\(eval_metric=metric\).",
    ),
    "forgets XGBoost's qid": Mistake(
        train_xgboost_without_qid, I, "the DMatrix has no group, so its rows belong to no query.",
        r"xgb.DMatrix\(..., qid=qid\), with qid sorted and dense.",
    ),
    "passes a metric to XGBRanker": Mistake(
        fit_xgbranker_with_metric, I,
        "XGBRanker passes a metric the rows of one query at a time and averages the values by query size.",
        r"XGBRanker\(callbacks=\[ra.xgboost.EvalCallback\(.*\)\]\).",
    ),
    "passes a set without a name to EvalCallback": Mistake(
        lambda: xgboost_callback((X, LABELS, QID)), I, r"evals=\(ndarray of shape \(4, 2\), .*",
        r"\[\(\(X, y, qid\), 'valid'\)\].",
    ),
    "passes a set without qid to EvalCallback": Mistake(
        lambda: xgboost_callback([((X, LABELS), "valid")]), I,
        r"\(ndarray of shape \(4, 2\), .*\) is not an evaluation set; allowed are a DMatrix, .*",
        r"\[\(\(X, y, qid\), 'valid'\)\].",
    ),
    "forgets CatBoost's group_id": Mistake(
        train_catboost_without_group, I, "pool: the Pool has no group ids, so its rows belong to no query.",
        r"catboost.Pool\(X, labels, group_id=qid\).",
    ),
    "passes a set without qid to CatBoost's metric": Mistake(
        catboost_metric_without_qid, I, r"sets\[0\] is \(\[2.0, 0.0, 1.0, 0.0\]\); allowed are a Pool, .*",
        r"sets=\[\(labels, qid\)\].",
    ),
    "fits a learner without qid": Mistake(
        fit_learner_without_qid, I, "AdaRank: fit got no qid, so it cannot tell the queries apart.",
        r"fit\(X, y, qid=ids\); .*",
    ),
}  # fmt: skip


@for_each("mistake", MISTAKES.values(), ids=MISTAKES)
def test_the_error_for_a_mistake_names_the_problem_and_a_fix(mistake):
    with pytest.raises(Exception, match=rf"^{mistake.problem}\nHint: {mistake.hint}$") as raised:
        mistake.call()
    assert raised.type is mistake.error


# In the shell

FILES = {
    "features.txt": "2 qid:1 1:0.5\n0 qid:1 1:0.1\n1 qid:2 1:0.3\n0 qid:2 1:0.2\n",
    "scores.txt": "0.4\n0.3\n0.2\n0.1\n",
    "short.txt": "0.4\n0.3\n",
    "head.txt": "score\n0.4\n0.3\n0.2\n0.1\n",
    "swapped.txt": "qid:1 2 1:0.5\nqid:1 0 1:0.1\n",
    "without.txt": "2 1:0.5\n0 1:0.1\n",
    "table.csv": "label,qid,score\n2,1,0.4\n0,2,0.3\n1,1,0.2\n",
    "semicolons.csv": "label;qid;score\n2;1;0.4\n",
    "qrels.txt": "q1 0 d1 1\n",
    "run.txt": "q1 Q0 d1 1 0.5 me\n",
}
EVALUATE, CONVENTION = "evaluate --features features.txt --predictions", "--convention lightgbm@2"
EVALUATE_TABLE = f"evaluate {CONVENTION} --table"
COMMANDS = {  # regular expressions for the problem and the hint
    "rankadapters": ("the following arguments are required: COMMAND.", "`rankadapters --help` has examples."),
    "evalute": ("argument COMMAND: invalid choice: 'evalute'.*", "`rankadapters --help` has examples."),
    "help": ("argument COMMAND: invalid choice: 'help' .*", "`rankadapters --help` has examples."),
    f"{EVALUATE} scores.txt": (
        "neither --convention nor --measure was given.", "--convention lightgbm@10, or --measure map ndcg_cut.10.",
    ),
    f"evaluate features.txt scores.txt {CONVENTION}": (
        "unrecognized arguments: features.txt scores.txt.",
        "`rankadapters evaluate --help` has examples.",
    ),
    f"evaluate --features features.txt --prediction scores.txt {CONVENTION}": (
        "unrecognized arguments: --prediction scores.txt.", "`rankadapters evaluate --help` has examples.",
    ),
    f"evaluate --features nowhere.txt --predictions scores.txt {CONVENTION}": (
        "nowhere.txt: No such file or directory.", "give the path of a readable file.",
    ),
    f"evaluate --features features.txt {CONVENTION}": (
        "--features needs exactly one of --predictions and --feature.",
        "--help shows the options for each kind of file.",
    ),
    f"{EVALUATE} scores.txt --convention ndcg@10": (
        "argument --convention: 'ndcg@10' does not say whose ndcg it is, and tools differ.", "'textbook@10', .*",
    ),
    f"{EVALUATE} scores.txt --convention lightgmb@10": (
        "argument --convention: 'lightgmb@10' is neither a preset@k .*",
        r"did you mean 'lightgbm@10'\? `rankadapters conventions --measure all` prints all.",
    ),
    f"{EVALUATE} short.txt {CONVENTION}": (
        "short.txt: 2 predictions for the 4 rows of features.txt.", "one number per row, in the order of the rows; .*",
    ),
    f"{EVALUATE} head.txt {CONVENTION}": (
        "head.txt, line 1 is 'score'; expected one finite number per line.",
        "a score for each row of the features, with a decimal point, without a header.",
    ),
    f"evaluate --features swapped.txt --predictions short.txt {CONVENTION}": (
        "swapped.txt, line 1: 'qid:1' is not a label, .*", "SVMlight or LETOR format, decimal points, .*",
    ),
    f"evaluate --features without.txt --predictions short.txt {CONVENTION}": (
        "without.txt, line 1: '1:0.5' is not qid:QUERY; .*",
        "SVMlight or LETOR format, decimal points, .*",
    ),
    f"{EVALUATE_TABLE} table.csv --label relevance --score score --qid qid": (
        "table.csv has no column 'relevance'.", "its columns are 'label', 'qid', 'score'.",
    ),
    f"{EVALUATE_TABLE} table.csv --label Label --score score --qid qid": (
        "table.csv has no column 'Label'.", r"did you mean 'label'\? its columns are 'label', 'qid', 'score'.",
    ),
    f"{EVALUATE_TABLE} semicolons.csv --label label --score score --qid qid": (
        "semicolons.csv has no column 'label'.",
        "its columns are 'label;qid;score'; in a text file, commas or tabs separate names.",
    ),
    f"{EVALUATE_TABLE} table.csv --qid query": (
        "table.csv has no column 'query'.", "its columns are 'label', 'qid', 'score'.",
    ),
    f"{EVALUATE_TABLE} table.csv --label label --score score --qid qid": (
        "table.csv, row 3: query 1 returns after it began in table.csv, row 1.", "sort the rows by query; .*",
    ),
    "evaluate --qrels run.txt --run qrels.txt --convention trec_eval_9@10": (
        "run.txt, line 1 is 'q1 Q0 d1 1 0.5 me'; expected 'query iteration document label', .*",
        r"judgments \(qrels\) have four words a line, runs have six; perhaps the files are swapped.",
    ),
    "identify 62.3% --features features.txt --predictions scores.txt": (
        "value='62.3%' is not a number.",
        "pass the printed number, such as '0.1623'; for a percentage such as 62.3%, pass 0.623.",
    ),
    "identify 0.5 --measure mapp --features features.txt --predictions scores.txt": (
        "argument --measure: invalid choice: 'mapp'.*", "`rankadapters identify --help` has examples.",
    ),
    "explain --a sklearn@2 --features features.txt --predictions scores.txt": (
        "the following arguments are required: --b.", "`rankadapters explain --help` has examples.",
    ),
    "parity --toolkits ligthgbm": (
        "argument --toolkits: invalid choice: 'ligthgbm'.*", "`rankadapters parity --help` has examples.",
    ),
    "parity --train features.txt": (
        "--train was given without --test.", "give both, or neither for the generated data set.",
    ),
    "conventions lightgbm --dif yahoo": (
        "unrecognized arguments: --dif yahoo.", "`rankadapters conventions --help` has examples.",
    ),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("folder")
@for_each("command", COMMANDS)
def test_a_mistake_in_the_shell_prints_one_line_with_the_problem_and_a_fix(command, capsys):
    problem, hint = COMMANDS[command]
    pytest.importorskip("rich")
    if "--table" in command:
        pytest.importorskip("pyarrow")
    try:
        code = cli.main(command.removeprefix("rankadapters").split())
    except SystemExit as stop:
        code = stop.code
    output, error = capsys.readouterr()
    assert (code, output) == (2, "")
    assert re.fullmatch(rf"rankadapters: error: {problem} Hint: {hint}\n", error)
