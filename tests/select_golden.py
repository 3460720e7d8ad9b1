"""How the selections in `golden/` are made from the whole golden files of the shared data.

`python -m tests.select_golden` compares; `--write` writes. Of every case the first seed is taken, and of every
metric a share of the cases, another for each metric. What no preset reads is left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from typing import Any

from tests.helpers import shared_data
from tests.helpers.golden_measures import TOOLKITS, compared
from tests.helpers.random_loss_records import drawing
from tests.helpers.shared_data import KEPT, kept, shared_losses, shared_records, shared_tools_data_sets

Record = dict[str, Any]

NDCG_FILES = ("lightgbm", "xgboost", "catboost", "scikit_learn", "ranx", "ir_measures", "pytrec_eval_terrier",
              "torchmetrics")  # fmt: skip
INPUTS = ("labels", "scores", "group", "X")
RESULTS = ("library", "objective", "params", "leaf_of_row", "leaf_ids", "leaf_sum_gradient", "leaf_sum_hessian",
           "pred_after_1", "pred_after_3")  # fmt: skip

OF_A_TREE = ("loss", "call_seed", "leaf", "leaf_values")


def first_of_each_case(records: list[Record]) -> list[Record]:
    by_case: dict[str, Record] = {}
    for record in records:
        by_case.setdefault(record["case"], record)
    return list(by_case.values())


def spread(records: list[Record], step: int) -> list[Record]:
    """The records with every `step`-th occurrence of each metric, and at least one of each metric and each record."""
    often = Counter(_metric(metric) for record in records for metric in record["metrics"])
    places = {metric: place for place, metric in enumerate(often)}
    seen: Counter[str] = Counter()
    found = []
    for record in records:
        taken = []
        for metric in record["metrics"]:
            key = _metric(metric)
            seen[key] += 1
            if (seen[key] + places[key]) % min(step, often[key]) == 0:
                taken.append(metric)
        found.append({**record, "metrics": taken or record["metrics"][-1:]})
    return [record for record in found if record["metrics"]]


def _metric(metric: Record) -> str:
    return json.dumps({name: value for name, value in metric.items() if name not in {"value", "per_query"}})


def toolkits() -> dict[str, Any]:
    """NDCG and DCG: a third of what each program printed, and all of CatBoost's, whose metric strings are tested."""
    found = {}
    for name in NDCG_FILES:
        records = [
            {**record, "metrics": [metric for metric in record["metrics"] if "dcg" in metric["metric"].lower()]}
            for record in first_of_each_case(shared_records(f"toolkits/{name}_metrics"))
        ]
        found[name] = spread(records, 1 if name == "catboost" else 3)
    return found


def measures() -> dict[str, Any]:
    """The other measures: an eighth of what a preset reads."""
    found = {}
    for name in TOOLKITS:
        records = shared_records(f"measures/{name}_measures")
        read = [{**r, "metrics": [m for m in r["metrics"] if compared(name, m, r)]} for r in records]
        found[name] = spread(read, 8)
    return {"records": found}


def objectives() -> dict[str, Any]:
    """First trees: each objective with each set of parameters, on the inputs in turn; none with position bias."""
    inputs: dict[str, Any] = {}
    chosen, settings = [], {}
    for library in ("lightgbm", "xgboost"):
        by_options: dict[str, list[Record]] = {}
        for record in shared_records(f"toolkits/{library}_objectives"):
            if not record["params"].get("lambdarank_unbiased"):
                by_options.setdefault(json.dumps([record["objective"], record["params"]]), []).append(record)
                settings[library] = record["train_params"]
        for place, same in enumerate(by_options.values()):
            chosen += [_apart(same[(place + shift) % len(same)], inputs) for shift in (0, 3)]
    return {"train_params": settings, "inputs": inputs, "records": chosen}


def tools() -> dict[str, Any]:
    """NDCG and AP, and means of precision and ERR, of the data sets and tools that stand in the file by choice."""
    whole = {data["name"]: data for data in shared_tools_data_sets()}
    return {"sets": [{**data, "tools": _printed(data, whole[data["name"]])} for data in kept("tools")["sets"]]}


def random_losses() -> dict[str, Any]:
    """CatBoost's losses that draw at random: the first tree of each."""
    whole, chosen = shared_losses(), {}
    for record in drawing(whole):
        chosen.setdefault(record["loss"], {part: record[part] for part in OF_A_TREE} | {"data": record["name"]})
    names = {record["data"] for record in chosen.values()}
    return {"data": {name: whole["data"][name] for name in sorted(names)}, "catboost": list(chosen.values())}


def _printed(data: Record, whole: Record) -> Record:
    chosen = {}
    for tool, known in data["tools"].items():
        parts = {part: whole["tools"][tool][part] for part in ("mean", "per_query")}
        wanted = {
            part: {m: v for m, v in found.items() if m.startswith(("ndcg", "map"))} for part, found in parts.items()
        }
        others = {m: v for m, v in parts["mean"].items() if m == "meanndcg" or m.startswith(("p@", "err"))}
        chosen[tool] = {**known, "mean": wanted["mean"] | others, "per_query": wanted["per_query"]}
    return chosen


def lambdamart() -> dict[str, Any]:
    """One-tree models of each loss and leaf method on the first of each kind of data."""
    whole = shared_losses()
    models = [record for record in whole["catboost"] if record["loss"].startswith("LambdaMart")]
    records = [record for record in models if record["data"].endswith("-0")]
    return {"data": {name: whole["data"][name] for name in sorted({r["data"] for r in records})}, "records": records}


def list_losses() -> dict[str, Any]:
    """All that there is: few numbers of five lists."""
    return {"records": shared_losses()["list_losses_rax_0_4_0"]}


def _apart(record: Record, inputs: dict[str, Any]) -> Record:
    """A record whose inputs stand once under a name of their own."""
    weights = [name for name in ("row_weight", "query_weight") if record.get(name)]
    given = {name: record[name] for name in (*INPUTS, *weights)}
    known = [name for name, other in inputs.items() if other == given]
    [name] = known or [f"{record['seed']}-{len(inputs)}"]
    inputs[name] = given
    return {"input": name, **{part: record[part] for part in RESULTS}}


def position_bias() -> dict[str, Any]:
    """The third round of the first data set's models."""
    first = shared_losses()["boosting"][0]
    rounds = ("scores", "replayed_biases", "ti_plus", "tj_minus")
    chosen = {
        toolkit: [
            {name: part[-1:] if name in rounds else part for name, part in each.items()} for each in first[toolkit]
        ]
        for toolkit in ("lightgbm", "xgboost")
    }
    return {"boosting": [{"data": first["data"], **chosen}]}


PARTS = {
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
        file = KEPT / f"{name}.json"
        known = json.loads(file.read_text(encoding="utf-8"))
        made = {"provenance": known["provenance"], **part()}
        sys.stdout.write(f"{name}: {'as selected' if made == known else 'differs'}\n")
        if write:
            file.write_text(json.dumps(made, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
