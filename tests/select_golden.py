"""Select the records in `golden/` from the whole golden files of the shared data.

`python -m tests.select_golden` compares, `--write` writes. A selection has the first seed of every case and a share
of the cases of every metric, which differ between metrics. Numbers that no preset reads are left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from typing import Any

from tests.helpers import shared_data
from tests.helpers.golden_measures import TOOLKITS, is_compared
from tests.helpers.golden_retrieval import FOLDER, TOOLS, whole_results
from tests.helpers.random_loss_records import random_loss_trees
from tests.helpers.shared_data import GOLDEN, golden_file, shared_losses, shared_records, shared_tools_data_sets

Record = dict[str, Any]

NDCG_FILES = ("lightgbm", "xgboost", "catboost", "scikit_learn", "ranx", "ir_measures", "pytrec_eval_terrier",
              "torchmetrics")  # fmt: skip
INPUTS = ("labels", "scores", "group", "X")
RESULTS = ("library", "objective", "params", "leaf_of_row", "leaf_ids", "leaf_sum_gradient", "leaf_sum_hessian",
           "pred_after_1", "pred_after_3")  # fmt: skip
FEW = 200  # numbers of a tool that are all kept
TREE_MEMBERS = ("loss", "call_seed", "leaf", "leaf_values")


def first_of_each_case(records: list[Record]) -> list[Record]:
    by_case: dict[str, Record] = {}
    for record in records:
        by_case.setdefault(record["case"], record)
    return list(by_case.values())


def spread(records: list[Record], step: int) -> list[Record]:
    """Return records with every `step`-th number of each metric, and at least one number per metric and record."""
    counts = Counter(_metric(metric) for record in records for metric in record["metrics"])
    offsets = {metric: offset for offset, metric in enumerate(counts)}
    seen: Counter[str] = Counter()
    selected = []
    for record in records:
        metrics = []
        for metric in record["metrics"]:
            key = _metric(metric)
            seen[key] += 1
            if (seen[key] + offsets[key]) % min(step, counts[key]) == 0:
                metrics.append(metric)
        selected.append({**record, "metrics": metrics or record["metrics"][-1:]})
    return [record for record in selected if record["metrics"]]


def _metric(metric: Record) -> str:
    return json.dumps({name: value for name, value in metric.items() if name not in {"value", "per_query"}})


def toolkits() -> dict[str, Any]:
    """Select NDCG and DCG: a third of each program's numbers, but all of CatBoost's, to test its metric strings."""
    selected = {}
    for name in NDCG_FILES:
        records = [
            {**record, "metrics": [metric for metric in record["metrics"] if "dcg" in metric["metric"].lower()]}
            for record in first_of_each_case(shared_records(f"toolkits/{name}_metrics"))
        ]
        selected[name] = spread(records, 1 if name == "catboost" else 3)
    return selected


def measures() -> dict[str, Any]:
    """Select an eighth of the numbers of other measures that a preset reads."""
    selected = {}
    for name in TOOLKITS:
        records = shared_records(f"measures/{name}_measures")
        read = [{**r, "metrics": [m for m in r["metrics"] if is_compared(name, m, r)]} for r in records]
        selected[name] = spread(read, 8)
    return {"records": selected}


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


def tools() -> dict[str, Any]:
    """Select NDCG and AP, and means of precision and ERR, of the data sets and tools that the file has already."""
    whole = {data["name"]: data for data in shared_tools_data_sets()}
    return {
        "sets": [
            {**data, "tools": _selected_numbers(data, whole[data["name"]])} for data in golden_file("tools")["sets"]
        ]
    }


def random_losses() -> dict[str, Any]:
    """Select the first tree of each of CatBoost's losses that draw at random."""
    whole, chosen = shared_losses(), {}
    for record in random_loss_trees(whole):
        chosen.setdefault(record["loss"], {part: record[part] for part in TREE_MEMBERS} | {"data": record["name"]})
    names = {record["data"] for record in chosen.values()}
    return {"data": {name: whole["data"][name] for name in sorted(names)}, "catboost": list(chosen.values())}


def _selected_numbers(data: Record, whole: Record) -> Record:
    chosen = {}
    for tool, current in data["tools"].items():
        parts = {part: whole["tools"][tool][part] for part in ("mean", "per_query")}
        selected = {
            part: {m: v for m, v in numbers.items() if m.startswith(("ndcg", "map"))} for part, numbers in parts.items()
        }
        more_means = {m: v for m, v in parts["mean"].items() if m == "meanndcg" or m.startswith(("p@", "err"))}
        chosen[tool] = {**current, "mean": selected["mean"] | more_means, "per_query": selected["per_query"]}
    return chosen


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


def retrieval() -> dict[str, Any]:
    """Select all cases, and of each tool every seventh mean, all situations of every measure in turn."""
    cases = json.loads((FOLDER / "cases.json").read_text("utf-8"))
    results = {}
    for tool in TOOLS:
        numbers = [(case, name, result.get("overall")) for case, name, result in whole_results(tool)]
        few = len(numbers) <= FEW
        results[tool] = [row for i, row in enumerate(numbers) if few or i % 7 == 0]
    return {"cases": cases, "results": results}


PARTS = {
    "retrieval": retrieval,
    "toolkits": toolkits,
    "measures": measures,
    "objectives": objectives,
    "tools": tools,
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
