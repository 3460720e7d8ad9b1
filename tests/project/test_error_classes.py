"""A mistake raises the same error in every public function; errors of rows name the row, counted from 0 as passed."""

from __future__ import annotations

import copyreg
from functools import partial
from inspect import Parameter, signature
from operator import attrgetter

import pytest

import rankadapters as ra

LABELS, SCORES, QID = [2.0, 0.0, 1.0, 0.0], [0.4, 0.3, 0.2, 0.1], ["a", "a", "b", "b"]
NAN = [2.0, float("nan"), 1.0, 0.0]

EVALUATIONS = {  # functions of labels, scores, a convention and columns
    "evaluate": ra.evaluate,
    "evaluate, a list": lambda y, s, c, **columns: ra.evaluate(y, s, [c], **columns),
    "models": lambda y, s, c, **columns: ra.evaluate(y, {"a": s}, [c], **columns),
    "Evaluator": lambda y, s, c, **columns: ra.Evaluator(y, c, **columns).tally(s),
    "Evaluator, a list": lambda y, s, c, **columns: ra.Evaluator(y, [c], **columns).per_query(s),
    "explain": partial(ra.audit.explain, b="yahoo@2"),
    "order": lambda y, s, c, **columns: ra.audit.order(y, {"a": s, "b": s}, [c], n_resamples=9, **columns),
    "page": lambda y, s, c, **columns: ra.audit.page(y, {"a": s}, [c], n_resamples=9, **columns),
    "check_value": partial(ra.parity.check_value, value="0.5"),
    "crosscheck": partial(ra.parity.crosscheck, toolkits=["sklearn"]),
    "lightgbm.check_parity": lambda y, s, c, **columns: ra.lightgbm.check_parity(y, s, convention=c, **columns),
}
WITHOUT_CONVENTION = {
    "letor_mean_ndcg": lambda y, s, **columns: ra.parity.letor_mean_ndcg(y, s, "letor4@all", **columns),
    "identify": partial(ra.audit.identify, value="0.5", k=2),
    "profile": lambda y, s, **columns: ra.audit.profile(y, scores=s, k=2, **columns),
    "gradients": lambda y, s, **columns: ra.objectives.gradients(y, s, "lightgbm.lambdarank", **columns),
}
WITHOUT_DATA = {
    "inert": lambda convention: ra.inert(ra.Queries(LABELS, qid=QID), "gain", convention, "linear"),
    "letor_mean_ndcg": lambda convention: ra.parity.letor_mean_ndcg(LABELS, SCORES, convention, qid=QID),
    "diff": ra.presets.yahoo(2).diff,
    "LambdaRank": lambda convention: ra.objectives.lightgbm.lambdarank().replace(convention=convention),
    "lightgbm.early_stopping": lambda convention: ra.lightgbm.early_stopping(convention, rounds=5),
    "lightgbm.lambdarank": lambda convention: ra.lightgbm.lambdarank(convention, truncation=30),
    "xgboost.lambdarank": lambda convention: ra.xgboost.lambdarank(convention, truncation=30),
    "xgboost.EvalCallback": lambda convention: ra.xgboost.EvalCallback([convention], [((LABELS, LABELS, QID), "a")]),
    "catboost.eval_metric": lambda convention: ra.catboost.eval_metric(convention, sets=[(LABELS, QID)]),
}
CONVENTION_ALONE = (
    "parse", "lightgbm.eval_metric", "lightgbm.native_metric", "xgboost.eval_metric", "xgboost.native_metric",
    "catboost.native_metric", "sklearn.query_scorer",
)  # fmt: skip
PACKAGES = {"page": "matplotlib", "crosscheck": "sklearn"}
WITH_DATA = EVALUATIONS | WITHOUT_CONVENTION


def raised_error(error_class, name, function, *arguments, **columns):
    """Return the error of a call, which must be of exactly this class and have a hint."""
    package, dot, _ = name.partition(".")
    if required := PACKAGES.get(name, package if dot else ""):
        pytest.importorskip(required)
    with pytest.raises(error_class, match="Hint: ") as raised:
        function(*arguments, **columns)
    assert raised.type is error_class
    return raised.value


@pytest.mark.parametrize("convention", [5, None, "nope@10", "nope", b"yahoo@2", {"k": 2}])
@pytest.mark.parametrize("name", [*EVALUATIONS, *WITHOUT_DATA, *CONVENTION_ALONE])
def test_an_invalid_convention_raises_a_convention_error(name, convention):
    data, columns = ((LABELS, SCORES), {"qid": QID}) if name in EVALUATIONS else ((), {})
    function = (EVALUATIONS | WITHOUT_DATA).get(name) or attrgetter(name)(ra)
    raised_error(ra.ConventionError, name, function, *data, convention, **columns)


MISTAKES = [  # arguments, columns, message and row
    ((LABELS, SCORES[:3]), {"qid": QID}, "scores has 3 rows but the queries cover 4", None),
    ((NAN, SCORES), {"qid": QID}, "labels[1] is nan", 1),
    ((LABELS, NAN), {"qid": QID}, "scores[1] is nan", 1),
    ((LABELS, SCORES), {}, "exactly one of qid and group_sizes is needed, but neither was given", None),
    ((LABELS, SCORES), {"qids": QID}, "'qids' is not an accepted column", None),
]


@pytest.mark.parametrize(("data", "columns", "message", "row"), MISTAKES)
@pytest.mark.parametrize("name", WITH_DATA)
def test_invalid_data_raise_an_input_error_with_the_row(name, data, columns, message, row):
    convention = ("letor4@2",) if name in EVALUATIONS else ()
    error = raised_error(ra.InputError, name, WITH_DATA[name], *data, *convention, **columns)
    assert message in str(error)
    assert error.row == row


def test_details_of_an_error_are_passed_by_name():
    for name in [name for name in ra.__all__ if name.endswith("Error")]:
        _, message, *details = signature(getattr(ra, name).__init__).parameters.values()
        assert message.kind in {Parameter.POSITIONAL_OR_KEYWORD, Parameter.VAR_POSITIONAL}
        assert {detail.kind for detail in details} <= {Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD}


# Rows of files, models and trainings


def faulty_row(call):
    with pytest.raises(ra.InputError) as caught:
        call()
    return caught.value.row


GOOD = "1 qid:1 1:1 #docid = a\n\n# a comment\n0 qid:1 1:2 #docid = b\n"  # rows 0 and 1
SECOND, RUN = "# a comment\n1 qid:3 1:1\n", "# head\n1 Q0 a 1 1 t\n1 Q0 b 2 0.5 t\n"
TABLE = "query,grade,model,doc,weight\n7,1,0.5,a,1\n7,0,0.25,b,1\n"
COLUMNS = {"label": "grade", "score": "model", "qid": "query", "docid": "doc", "query_weight": "weight"}


def read_letor(*files):
    return ra.io.read_letor(files, feature=1)


def read_docids(file):
    return ra.io.read_letor(file, docids=True)


def read_predictions(features, *files):
    return ra.io.read_letor(features, predictions=files)


def read_features(*files):
    return ra.io.read_features(files[0], files)


def read_table(file):
    pytest.importorskip("pyarrow")
    return ra.io.read_table(file, **COLUMNS)


FAULTY = [  # a reader, the texts of its files, and the row of the error
    *((read_letor, [GOOD, f"{SECOND}{line}\n"], 3) for line in ("x qid:2 1:1", "1 qid:2 1:one", "1 qid:2 1:nan")),
    (read_letor, [GOOD, "# a comment\n1 qid:2 1:1\n0 qid:1 1:1\n"], 3),  # a query returns
    (read_letor, ["1 qid:1 1:1\n" * 2**17 + "x\n"], 2**17),  # in a later block
    (read_letor, ["1 qid:1 1:1 #docid = a\n0 qid:1 1:2 #docid = a\n"], 1),
    (read_docids, [GOOD + "1 qid:1 1:1\n"], 2),
    (read_predictions, [GOOD, "1\n", "x\n"], 1),
    (read_predictions, [GOOD, "1\n", "1\n2\n"], None),  # too many
    *((read_features, [GOOD, f"0 qid:2 1:1\n1 qid:{row}\n"], 3) for row in ("7 1:1e999", "seven 1:1", "7 1:one")),
    *((read_table, [f"{TABLE}{line}\n"], 2) for line in
      ("7,1,x,c,1", "7,1,nan,c,1", "7,,1,c,1", "7,1,1,a,1", "7,1,1,c,2", "7,1,1,c")),
    (read_table, [f"{TABLE}8,1,1,c,1\n7,1,1,d,1\n"], 3),
    *((ra.io.read_trec, ["1 0 a 1\n", f"{RUN}1 Q0 {line}\n"], 2) for line in ("c 3 x t", "c 3", "a 3 0.5 t")),
]  # fmt: skip


@pytest.mark.parametrize(("read", "texts", "row"), FAULTY, ids=lambda part: getattr(part, "__name__", repr(part)[-40:]))
def test_the_error_of_a_file_has_the_row(write, read, texts, row):
    """Rows of a second file continue the count of the first."""
    files = [write(text, f"{number}.csv") for number, text in enumerate(texts)]
    assert faulty_row(lambda: read(*files)) == row


def test_about_prefixes_the_message_and_keeps_the_class_and_the_row():
    nearest = ra.presets.yahoo(3)
    error = ra.UnsupportedConventionError("no.\nHint: yes.", nearest=nearest).about("model 'a'")
    assert type(error) is ra.UnsupportedConventionError
    assert (str(error), error.nearest) == ("model 'a': no.\nHint: yes.", nearest)
    input_error = ra.InputError("no.", row=0)
    assert input_error.about("a").about("b").row == 0
    assert str(input_error) == "no."


def test_an_error_and_its_copy_count_rows_separately_once_dask_is_loaded(monkeypatch):
    """Dask loads tblib, after which `copy.copy` of an error shares its attributes with the original."""
    tblib = pytest.importorskip("tblib.pickling_support")
    monkeypatch.setitem(copyreg.dispatch_table, ra.InputError, tblib.pickle_exception)
    error = ra.InputError("labels[1] is nan.", row=1)
    counted = error.counted_on(100, 7)
    assert (str(counted), counted.row) == ("labels[101] is nan.", 101)
    assert (str(error), error.row) == ("labels[1] is nan.", 1)


def test_an_error_of_one_model_names_the_model_and_the_row():
    models = {"good": SCORES, "bad": [1.0, float("nan"), 2.0, 3.0]}
    assert faulty_row(lambda: ra.audit.order(LABELS, models, ["yahoo@2"], qid=QID)) == 1
    partly_judged = ra.Queries(LABELS, qid=QID, judged=[True, True, False, True])
    queries = {"good": ra.Queries(LABELS, qid=QID), "bad": partly_judged}
    with pytest.raises(ra.InputError, match=r"^model 'bad': row 2 was retrieved but not judged") as caught:
        ra.audit.order(queries, {"good": SCORES, "bad": SCORES}, ["yahoo@2"])
    assert caught.value.row == 2
