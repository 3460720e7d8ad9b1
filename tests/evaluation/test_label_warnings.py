"""Labels that a preset's tool refuses, or that are not probabilities, cause a warning and do not change the value."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import rankadapters as ra
from rankadapters.presets.label_rules import LABEL_RULES, ORDINARY
from tests.helpers.command import run

SCORES = [1, 0, 2, 0, 1, 3]
FRACTIONS = [0.1, 0.2, 0.9, 0.4, 0.3, 0.6]
WHOLE = [1, 0, 1, 0, 1, 1]


def warning_messages(labels, convention, **columns):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ra.evaluate(labels, SCORES, convention, **(columns or {"group_sizes": [3, 3], "docid": list("abcdef")}))
    assert {warning.category for warning in caught} <= {ra.LabelsWarning}
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize("name", [name for name, rules in LABEL_RULES.items() if rules[0].kind == "fractional"])
def test_swapped_labels_and_scores_cause_a_warning_with_a_hint(name):
    convention = ra.presets.make(name, 10)
    [message] = warning_messages([0.1, 0.2, 1.5, 0.4, 0.3, 1], convention)
    assert message.startswith("labels[0] is 0.1, which ")
    assert "\nHint: labels come before scores" in message
    assert warning_messages(WHOLE, convention) == []


@pytest.mark.parametrize(
    ("labels", "convention", "start"),
    [
        ([0.5, *WHOLE[1:]], "lightgbm@10+empty=0", "labels[0] is 0.5, which LightGBM 4.7.0 refuses: 'label should"),
        ([31, *WHOLE[1:]], "lightgbm@10", "labels[0] is 31, which LightGBM 4.7.0 refuses unless label_gain"),
        ([32, *WHOLE[1:]], "xgboost@10", "labels[0] is 32, which XGBoost 3.2.0 refuses unless ndcg_exp_gain=False"),
        ([1, -1, 0, 1, 0, 0], "sklearn@10", "labels[1] is -1, which scikit-learn 1.9.1 refuses: 'ndcg_score"),
        ([-1, -2, -1, -1, -1, -3], "sklearn@10", "labels[0] is -1, which scikit-learn 1.9.1 refuses: 'ndcg_score"),
        ([4, 3, 2, 1, 1, 1], "catboost.pfound@10", "labels[0] is 4, a chance to stop of 4, which is not from 0 to 1"),
        ([5, 3, 2, 1, 1, 1], "yahoo.err", "labels[0] is 5, a chance to stop of 1.9375, which is not from 0 to 1"),
        (FRACTIONS, "trec_eval_9@10", "labels[0] is 0.1, which trec_eval cuts to a whole number"),
        (FRACTIONS, "trec_eval_10@10+missing=zero", "labels[0] is 0.1, which trec_eval cuts to a whole number"),
        (FRACTIONS, ra.presets.ranx(10, burges=True), "labels[0] is 0.1, which ranx 0.3.21 cuts to a whole number"),
        (FRACTIONS, ra.presets.ranx.rbp(p=50, level=2), "labels[0] is 0.1, which ranx 0.3.21 cuts to a whole number"),
        (FRACTIONS, "pytrec_eval.P@3", "labels[0] is 0.1, which pytrec_eval 0.5.11 refuses: 'Expected relevance"),
        (FRACTIONS, ra.presets.ir_measures.ap(None, rel=2), "labels[0] is 0.1, which ir_measures 0.4.3 refuses"),
        ([5, *WHOLE[1:]], ra.presets.ir_measures(5, exp=True), "labels[0] is 5, which gdeval.pl of ir_measures"),
        ([5, *WHOLE[1:]], "ir_measures.err@5", "labels[0] is 5, which gdeval.pl of ir_measures 0.4.3 refuses"),
        ([5, *WHOLE[1:]], "azure_ai_evaluation@3", "labels[0] is 5, which Azure AI Evaluation 1.18.10 refuses unless"),
        ([1, 0.5, 0, 1, 0, 0], "ignite@3", "labels[1] is 0.5, which ignite 0.5.5 counts as 0"),
        ([-1, 1, 0, 1, 1, 1], "catboost.err@3", "labels[0] is -1, a chance to stop of -1, which is not from 0 to 1"),
    ],
)
def test_labels_that_the_tool_refuses_cause_a_warning(labels, convention, start):
    [message] = warning_messages(labels, convention)
    assert message.startswith(start)


@pytest.mark.parametrize(
    ("labels", "convention"),
    [
        (FRACTIONS, "catboost@10"), (FRACTIONS, "textbook@10"), (FRACTIONS, "sklearn@10"),
        (FRACTIONS, "lightgbm.map@5"), (FRACTIONS, ra.parse(str(ra.presets.lightgbm(10)))),  # has no name
        (FRACTIONS, "lightgbm@10+gain=linear"), (FRACTIONS, "xgboost@10+gain=linear"), (FRACTIONS, "xgboost.auc"),
        ([0.5, 0.25, 1, 0, 0.5, 0], "sklearn.roc_auc_score+pairs=unit"),  # this measure takes labels as probabilities
        (FRACTIONS, "catboost.pfound@10"), ([31, *WHOLE[1:]], "xgboost@10"), ([30, *WHOLE[1:]], "lightgbm@10"),
        (FRACTIONS, "trec_eval_9.map_cut@10"), (FRACTIONS, "ranx.map@10"), (FRACTIONS, "ir_measures.rbp@10"),
        ([5, *WHOLE[1:]], "ir_measures@5"), ([4, *WHOLE[1:]], "ir_measures.err@5"), ([1.5, *WHOLE[1:]], "ignite@3"),
        ([-1, 1, 0, 1, 0, 0], "sklearn.dcg@10"), ([4, 3, 2, 1, 1, 1], "yahoo.err"),
    ],
)  # fmt: skip
def test_labels_that_the_tool_accepts_cause_no_warning(labels, convention):
    assert warning_messages(labels, convention) == []


def test_no_rule_applies_to_ordinary_labels():
    ordinary = np.arange(ORDINARY + 1.0)
    assert [name for name, rules in LABEL_RULES.items() if any(rule.matches(ordinary).any() for rule in rules)] == []


def test_labels_of_unjudged_rows_cause_no_warning():
    convention = ra.presets.lightgbm(10).replace(unjudged="zero")
    assert warning_messages(FRACTIONS, convention, group_sizes=[3, 3], judged=[False] * 6) == []


def test_each_convention_that_doubts_the_labels_warns_once():
    with pytest.warns(ra.LabelsWarning) as caught:
        ra.evaluate(FRACTIONS, SCORES, ["lightgbm@10", "yahoo@10", "xgboost@10"], group_sizes=[3, 3])
    assert [str(warning.message).split(", which ")[1].partition(" ")[0] for warning in caught] == [
        "LightGBM",
        "XGBoost",
    ]


def test_a_stream_warns_once_about_all_its_labels():
    batches = [{"label": labels, "score": [2, 1, 0], "qid": [number] * 3}
               for number, labels in enumerate(([1, 0, 1], [0.5, 0, 1], [0.25, 1, 0]))]  # fmt: skip
    with pytest.warns(ra.LabelsWarning, match=r"^a label is 0.5, which LightGBM") as caught:
        ra.evaluate_table(batches, "lightgbm@10")
    assert len(caught) == 1


@pytest.mark.parametrize("options", [[], ["--split-queries", "merge"]])
def test_the_command_prints_the_warning(options, tmp_path, capsys):
    pytest.importorskip("rich")
    file = tmp_path / "swapped.csv"
    file.write_text("qid,label,score\n1,0.5,1\n1,0.25,0\n", encoding="utf-8")
    columns = [word for name in ("qid", "label", "score") for word in (f"--{name}", name)]
    assert run("evaluate", "--table", file, *columns, "--convention", "lightgbm@10", *options) == 0
    assert "is 0.5, which LightGBM 4.7.0 refuses: 'label should be int type'" in "".join(capsys.readouterr())
