"""Select the records in `golden/` from the whole golden files of the shared data.

`python -m tests.select_golden` compares, `--write` writes.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from tests.helpers import shared_data
from tests.helpers.random_loss_records import random_loss_trees
from tests.helpers.shared_data import GOLDEN, golden_file, shared_losses, shared_records

Record = dict[str, Any]

INPUTS = ("labels", "scores", "group", "X")
RESULTS = ("library", "objective", "params", "leaf_of_row", "leaf_ids", "leaf_sum_gradient", "leaf_sum_hessian",
           "pred_after_1", "pred_after_3")  # fmt: skip
TREE_MEMBERS = ("loss", "call_seed", "leaf", "leaf_values")


def first_of_each_case(records: list[Record]) -> list[Record]:
    by_case: dict[str, Record] = {}
    for record in records:
        by_case.setdefault(record["case"], record)
    return list(by_case.values())


def toolkits() -> dict[str, Any]:
    """Select NDCG and DCG of CatBoost, to test its metric strings; the other members of the file stay."""
    records = [
        {**record, "metrics": [metric for metric in record["metrics"] if "dcg" in metric["metric"].lower()]}
        for record in first_of_each_case(shared_records("toolkits/catboost_metrics"))
    ]
    return {**golden_file("toolkits"), "catboost": [record for record in records if record["metrics"]]}


def objectives() -> dict[str, Any]:
    """Select first trees without position bias: each objective and parameters, on two of the inputs in turn."""
    inputs: dict[str, Any] = {}
    chosen, settings = [], {}
    for library in ("lightgbm", "xgboost"):
        by_options: dict[str, list[Record]] = {}
        for record in shared_records(f"toolkits/{library}_objectives"):
            if not record["params"].get("lambdarank_unbiased"):
                by_options.setdefault(json.dumps([record["objective"], record["params"]]), []).append(record)
                settings[library] = record["train_params"]
        for i, records in enumerate(by_options.values()):
            chosen += [_with_input_name(records[(i + shift) % len(records)], inputs) for shift in (0, 3)]
    return {"train_params": settings, "inputs": inputs, "records": chosen}


def random_losses() -> dict[str, Any]:
    """Select the first tree of each of CatBoost's losses that draw at random."""
    whole, chosen = shared_losses(), {}
    for record in random_loss_trees(whole):
        chosen.setdefault(record["loss"], {part: record[part] for part in TREE_MEMBERS} | {"data": record["name"]})
    names = {record["data"] for record in chosen.values()}
    return {"data": {name: whole["data"][name] for name in sorted(names)}, "catboost": list(chosen.values())}


def lambdamart() -> dict[str, Any]:
    """Select one-tree models of each loss and leaf method on the first data set of each kind."""
    whole = shared_losses()
    models = [record for record in whole["catboost"] if record["loss"].startswith("LambdaMart")]
    records = [record for record in models if record["data"].endswith("-0")]
    return {"data": {name: whole["data"][name] for name in sorted({r["data"] for r in records})}, "records": records}


def list_losses() -> dict[str, Any]:
    """Select all records, which are few numbers of five lists."""
    return {"records": shared_losses()["list_losses_rax_0_4_0"]}


def _with_input_name(record: Record, inputs: dict[str, Any]) -> Record:
    """Return a record that names its inputs, and add these to `inputs` if they are new."""
    weights = [name for name in ("row_weight", "query_weight") if record.get(name)]
    record_inputs = {name: record[name] for name in (*INPUTS, *weights)}
    known_names = [name for name, known_inputs in inputs.items() if known_inputs == record_inputs]
    [name] = known_names or [f"{record['seed']}-{len(inputs)}"]
    inputs[name] = record_inputs
    return {"input": name, **{part: record[part] for part in RESULTS}}


def position_bias() -> dict[str, Any]:
    """Select the third round of the models of the first data set."""
    first = shared_losses()["boosting"][0]
    rounds = ("scores", "replayed_biases", "ti_plus", "tj_minus")
    chosen = {
        toolkit: [
            {name: part[-1:] if name in rounds else part for name, part in model.items()} for model in first[toolkit]
        ]
        for toolkit in ("lightgbm", "xgboost")
    }
    return {"boosting": [{"data": first["data"], **chosen}]}


PARTS = {
    "toolkits": toolkits,
    "objectives": objectives,
    "position_bias": position_bias,
    "lambdamart": lambdamart,
    "list_losses": list_losses,
    "random_losses": random_losses,
}


def main() -> None:
    shared_data.WHOLE = True
    parser = argparse.ArgumentParser(prog="tests.select_golden", description=__doc__)
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    for name, part in PARTS.items():
        file = GOLDEN / f"{name}.json"
        current = json.loads(file.read_text(encoding="utf-8"))
        selected = {"provenance": current["provenance"], **part()}
        sys.stdout.write(f"{name}: {'as selected' if selected == current else 'differs'}\n")
        if write:
            file.write_text(json.dumps(selected, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
