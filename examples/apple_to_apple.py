"""Train, validate and test six learners under the NDCG of three tools, as Busa-Fekete et al. (2012) did.

    python examples/apple_to_apple.py --data S1.txt S2.txt S3.txt S4.txt S5.txt [--results FILE] [--figures FOLDER]
    python examples/apple_to_apple.py --redraw FILE --figures FOLDER

The parts are MQ2008's: fold i trains on parts i to i+2, validates on i+3 and tests on i+4, cyclically. Without --data,
five small generated parts are used. Validation picks the round, epoch or pass, and a learner's settings, by the
training convention. So the convention also affects learners whose training loss uses no metric.
"""

import argparse
import json
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed

import rankadapters as ra
from rankadapters.learners import AdaRank, CoordinateAscent, NeuralRanker, RankBoost, RankSVM

# trec_eval with gains 2^label - 1 is RankLib's NDCG, except that it orders ties by docid, which no learner sees.
JUDGES = {"letor4": "letor4@10", "yahoo": "yahoo@10", "ranklib": "ranklib@10", "trec": "trec_eval_9@10+gain=exp2"}
TRAINED = ("letor4", "yahoo", "ranklib")
DRAWN = {"letor4": "LETOR 4.0", "yahoo": "Yahoo!", "trec": "trec_eval"}
CUTOFFS = tuple(range(1, 11))
BEST = "LambdaMART"  # the other learners are compared with it, query by query


class Effort(NamedTuple):
    """Size of the experiment: rounds of each learner, restarts and steps of CoordinateAscent, search of settings."""

    rounds: int
    restarts: int
    steps: int
    searches: bool


WHOLE, SMALL = Effort(300, 30, 25, searches=True), Effort(2, 1, 3, searches=False)


# Each function returns a learner with all the settings that validation chooses from.


def adarank(convention: str, effort: Effort) -> list[Any]:
    return [AdaRank(convention, variant="ranklib", max_iter=effort.rounds, n_threads=1)]


def ranknet(convention: str, effort: Effort) -> list[Any]:
    layers = [(10,), (50,), (100,), (10, 10), (10, 10, 10)] if effort.searches else [(10,)]
    same = {"convention": convention, "max_iter": min(effort.rounds, 100), "random_state": 0, "n_threads": 1}
    pairs = ra.objectives.catboost.pair_logit()
    return [NeuralRanker(pairs, hidden_layer_sizes=sizes, **same) for sizes in layers]


def rankboost(convention: str, effort: Effort) -> list[Any]:
    return [RankBoost(convention, variant="ranklib", max_iter=effort.rounds, n_threads=1)]


def ranksvm(convention: str, effort: Effort) -> list[Any]:
    penalties = (1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0) if effort.searches else (0.01,)
    return [RankSVM(C=C, convention=convention, n_threads=1) for C in penalties]


def coordinate_ascent(convention: str, effort: Effort) -> list[Any]:
    same = {"n_restarts": effort.restarts, "n_steps": effort.steps, "max_iter": effort.rounds}
    return [CoordinateAscent(convention, **same, random_state=0, n_threads=1)]


def lambdamart(convention: str, effort: Effort) -> list[Any]:
    from lightgbm import LGBMRanker

    objective = ra.lightgbm.lambdarank(convention, truncation=10)
    same = {"n_estimators": effort.rounds, "learning_rate": 0.05, "early_stopping_rounds": 100, "n_jobs": 1}
    trees = [LGBMRanker(objective=objective, num_leaves=n, verbosity=-1, **same) for n in (7, 15, 31)]
    rankers = trees if effort.searches else trees[:1]
    return [ra.sklearn.QueryRanker(ranker, convention=convention, eval_metric=convention) for ranker in rankers]


LEARNERS = {
    "RankNet": ranknet,  # the slowest learners start first, so that no CPU is idle at the end
    "CoordinateAscent": coordinate_ascent,
    "RankSVM": ranksvm,
    "LambdaMART": lambdamart,
    "RankBoost": rankboost,
    "AdaRank": adarank,
}


class Part(NamedTuple):
    """A fifth of the data; `queries` includes the docids."""

    X: np.ndarray
    labels: np.ndarray
    qid: np.ndarray
    queries: ra.Queries


def read(file: Path) -> Part:
    [data] = ra.io.read_features(file)
    return Part(data.X, data.labels, data.qid, ra.io.read_letor(file, docids=True).queries)


def generated(n_queries: int = 12, n_features: int = 12) -> list[Part]:
    data, _ = ra.datasets.mq2008_like(random_state=0, n_train_queries=5 * n_queries)
    part_of, parts = np.unique(data.qid, return_inverse=True)[1] // n_queries, []
    for part in range(5):
        X, labels, qid = (column[part_of == part] for column in (data.X[:, :n_features], data.labels, data.qid))
        docid = [f"d{row:04}" for row in range(labels.size)]
        parts.append(Part(X, labels, qid, ra.Queries(labels, qid=qid, docid=docid)))
    return parts


class TestResult(NamedTuple):
    """The result of one learner, training convention and fold; `values` have the shape (cutoffs, queries)."""

    learner: str
    convention: str
    fold: int
    values: dict[str, np.ndarray]
    tied_queries: int
    setting: str
    seconds: float


def train_and_test(learner: str, convention: str, fold: int, parts: list[Part], effort: Effort) -> TestResult:
    """Train a learner with every setting, and test the model that is best in validation."""
    start = time.process_time()
    *training, valid, test = (parts[(fold + step) % 5] for step in range(5))
    X, labels, qid = (np.concatenate([part[column] for part in training]) for column in range(3))
    models = LEARNERS[learner](JUDGES[convention], effort)
    for model in models:
        model.fit(X, labels, qid=qid, eval_set=[valid[:3]])
    valid_scores = [model.score(*valid[:2], qid=valid.qid) for model in models]
    best = models[int(np.argmax(valid_scores))]
    scores = best.predict(test.X)
    seconds = time.process_time() - start
    return TestResult(learner, convention, fold, evaluate(test, scores), n_tied(test, scores), setting(best), seconds)


def evaluate(part: Part, scores: np.ndarray) -> dict[str, np.ndarray]:
    conventions = {name: [ra.parse(text).at(k) for k in CUTOFFS] for name, text in JUDGES.items()}
    evaluator = ra.Evaluator(
        part.queries, [convention for by_cutoff in conventions.values() for convention in by_cutoff]
    )
    of_queries = evaluator.per_query(scores)
    return {name: np.array([of_queries[conv] for conv in by_cutoff]) for name, by_cutoff in conventions.items()}


def n_tied(part: Part, scores: np.ndarray) -> int:
    """Return the number of queries with tied scores."""
    by_query = np.split(scores[part.queries.rows], part.queries.indptr[1:-1])
    return sum(np.unique(query_scores).size < query_scores.size for query_scores in by_query)


def setting(model: Any) -> str:
    params = model.get_params()
    searched = ("C", "hidden_layer_sizes", "estimator__num_leaves")
    return ", ".join(f"{name.removeprefix('estimator__')}={params[name]}" for name in searched if name in params)


def experiment(parts: list[Part], effort: Effort, jobs: int) -> list[TestResult]:
    tasks, results, start = list(product(LEARNERS, TRAINED, range(5))), [], time.perf_counter()
    calls = (delayed(train_and_test)(*task, parts, effort) for task in tasks)
    for result in Parallel(n_jobs=jobs, return_as="generator_unordered")(calls):
        results.append(result)
        progress = f"{len(results):2} of {len(tasks)}, {time.perf_counter() - start:4.0f} s"
        task = f"{result.learner} under {result.convention}, fold {result.fold + 1}: {result.seconds:.1f} s of CPU"
        print(f"{progress}  {task}", file=sys.stderr, flush=True)
    return results


def summary(results: list[TestResult], parts: list[Part]) -> dict[str, Any]:
    """Return the plain numbers for tables and figures; standard errors are over all test queries."""
    table: dict[str, Any] = {learner: {} for learner in LEARNERS}
    best = {convention: by_fold(results, BEST, convention) for convention in TRAINED}
    for learner, convention in product(LEARNERS, TRAINED):
        folds = by_fold(results, learner, convention)
        table[learner][convention] = {
            "folds": {judge: [rounded(result.values[judge].mean(axis=1)) for result in folds] for judge in JUDGES},
            "error": {judge: rounded(error(values(folds, judge))) for judge in JUDGES},
            "error_beside_best": {
                judge: rounded(error(values(folds, judge) - values(best[convention], judge))) for judge in JUDGES
            },
            "tied_queries": sum(result.tied_queries for result in folds),
            "settings": [result.setting for result in folds],
            "cpu_seconds": round(sum(result.seconds for result in folds), 1),
        }
    sizes = np.concatenate([np.diff(part.queries.indptr) for part in parts])
    short = [int((sizes < k).sum()) for k in CUTOFFS]
    return {"conventions": JUDGES, "queries": sizes.size, "queries_with_fewer_than_k_rows": short, "table": table}


def by_fold(results: list[TestResult], learner: str, convention: str) -> list[TestResult]:
    folds = [result for result in results if (result.learner, result.convention) == (learner, convention)]
    return sorted(folds, key=lambda result: result.fold)


def values(folds: list[TestResult], judge: str) -> np.ndarray:
    return np.concatenate([result.values[judge] for result in folds], axis=1)


def error(of_queries: np.ndarray) -> np.ndarray:
    return of_queries.std(axis=1, ddof=1) / np.sqrt(of_queries.shape[1])


def rounded(numbers: np.ndarray) -> list[float]:
    return numbers.round(6).tolist()


# Tables and figures


def mean(results: dict[str, Any], learner: str, convention: str, judge: str) -> np.ndarray:
    """Return NDCG at each cutoff, averaged over the folds."""
    return np.mean(results["table"][learner][convention]["folds"][judge], axis=0)


def tables(results: dict[str, Any], cutoffs: tuple[int, ...] = (1, 3, 5, 10)) -> list[str]:
    lines = []
    for judge, text in results["conventions"].items():
        lines += ["", f"judged by {text.replace('@10', '@k')}, mean of five folds and standard error", ""]
        lines.append(f"{'learner':17}{'trained under':14}" + "".join(f"{f'k={k}':>16}" for k in cutoffs))
        for learner, convention in product(sorted(LEARNERS), TRAINED):
            means = mean(results, learner, convention, judge)
            errors = results["table"][learner][convention]["error"][judge]
            cells = "".join(f"{means[k - 1]:9.4f} ±{errors[k - 1]:.4f}".rjust(16) for k in cutoffs)
            lines.append(f"{learner:17}{convention:14}{cells}")
    return lines


def observations(results: dict[str, Any]) -> list[str]:
    """Return the numbers that the paper's observations are about."""
    table, pairs = results["table"], list(product(LEARNERS, TRAINED))
    by_judge = {judge: np.array([mean(results, *pair, judge) for pair in pairs]) for judge in JUDGES}
    lift, fall = by_judge["yahoo"] - by_judge["ranklib"], by_judge["letor4"] - by_judge["ranklib"]
    lines = [
        f"yahoo - ranklib: {lift.min():.4f} to {lift.max():.4f} over all learners, trainings and cutoffs",
        "letor4 - ranklib at k = 1 to 10: " + " ".join(f"{difference:+.3f}" for difference in fall.mean(axis=0)),
        f"queries with fewer than k rows: {results['queries_with_fewer_than_k_rows']} of {results['queries']}",
    ]
    for learner in sorted(LEARNERS):
        ndcg = {trained: np.array(table[learner][trained]["folds"]["ranklib"])[:, -1] for trained in TRAINED}
        changes, ranklib = ndcg["letor4"] - ndcg["ranklib"], table[learner]["ranklib"]
        gap = ndcg["ranklib"].mean() - mean(results, BEST, "ranklib", "ranklib")[-1]
        lines.append(
            f"{learner}: NDCG@10 {ndcg['ranklib'].mean():.4f}, {gap:+.4f} beside {BEST}, paired standard error "
            f"{ranklib['error_beside_best']['ranklib'][-1]:.4f}; under letor4 {changes.mean():+.4f}, worse in "
            f"{(changes < 0).sum()} folds; tied scores in {ranklib['tied_queries']} queries"
        )
    for k in (1, 4, 10):
        for judge in JUDGES:
            at_k = {learner: mean(results, learner, "ranklib", judge)[k - 1] for learner in sorted(LEARNERS)}
            order = sorted(at_k, key=at_k.__getitem__, reverse=True)
            lines.append(f"order at k = {k:2} by {judge:8} {' > '.join(order)}")
    return lines


def panels(grid: dict[str, dict[str, dict[str, np.ndarray]]]) -> Any:
    """Draw a panel for each row and column of a grid; the panels of a column have the same scale.

    The grid maps names of rows to names of columns to lines over the cutoffs. The legend is below the panels.
    """
    from rankadapters.plotting.plots import WIDTH, empty_figure, style

    columns = list(next(iter(grid.values())))
    names = list(dict.fromkeys(name for row in grid.values() for lines in row.values() for name in lines))
    figure = empty_figure(WIDTH + 1.6, 1.5 * len(grid) + 1.0 + 0.2 * -(-len(names) // len(columns)))
    all_axes = figure.subplots(len(grid), len(columns), sharex=True, sharey="col", squeeze=False)
    for row_axes, (row, lines_by_column) in zip(all_axes, grid.items(), strict=True):
        for axes, column in zip(row_axes, columns, strict=True):
            for name, y in lines_by_column[column].items():
                axes.plot(CUTOFFS, y, **style(names.index(name), 3), marker=".", linewidth=1.1, label=name)
            axes.spines[["top", "right"]].set_visible(False)
            axes.xaxis.get_major_locator().set_params(integer=True)
            axes.tick_params(labelsize=7)
        row_axes[0].set_ylabel(row, fontsize=9)
    for axes, column in zip(all_axes[0], columns, strict=True):
        axes.set_title(column, fontsize=9)
    all_axes[-1][len(columns) // 2].set_xlabel("k", fontsize=9)  # a supxlabel would overlap the legend
    figure.supylabel("NDCG@k", fontsize=9)
    handles = {line.get_label(): line for axes in all_axes.ravel() for line in axes.get_lines()}
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=len(columns), frameon=False, fontsize=9)
    return figure


def draw(results: dict[str, Any], folder: Path) -> None:
    """Draw two figures: the effect of each training convention on each learner, and the learners under each tool."""
    from matplotlib import rc_context

    folder.mkdir(parents=True, exist_ok=True)
    tools, learners = DRAWN.items(), sorted(LEARNERS)
    trainings = {
        learner: {tool: {conv: mean(results, learner, conv, judge) for conv in TRAINED} for judge, tool in tools}
        for learner in learners
    }
    all_learners = {tool: {name: mean(results, name, "ranklib", judge) for name in learners} for judge, tool in tools}
    for number, grid in ((1, trainings), (2, {"": all_learners})):
        with rc_context(
            {"svg.fonttype": "none", "svg.hashsalt": "apple"}
        ):  # keep text as text; same bytes on every run
            file = folder / f"apple_to_apple_{number}.svg"
            panels(grid).savefig(file, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description="Six learners under the NDCG of three tools.")
    parser.add_argument("--data", nargs=5, type=Path, help="the five parts of MQ2008: S1.txt ... S5.txt")
    parser.add_argument("--jobs", type=int, default=-1, help="number of processes; all CPUs by default")
    parser.add_argument("--results", type=Path, help="file to write all numbers to, as JSON")
    parser.add_argument("--redraw", type=Path, help="read a --results file instead of training")
    parser.add_argument("--figures", type=Path, help="folder for the two figures")
    arguments = parser.parse_args()
    if arguments.redraw:
        results = json.loads(arguments.redraw.read_text(encoding="utf-8"))
    else:
        parts = [read(file) for file in arguments.data] if arguments.data else generated()
        results = summary(experiment(parts, WHOLE if arguments.data else SMALL, arguments.jobs), parts)
    print("\n".join([*tables(results), "", *observations(results)]))
    if arguments.results:
        arguments.results.write_text(json.dumps(results) + "\n", encoding="utf-8")
    if arguments.figures:
        draw(results, arguments.figures)


if __name__ == "__main__":
    main()
