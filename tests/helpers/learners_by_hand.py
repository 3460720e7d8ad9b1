"""The learners in plain Python, over lists and all pairs, as their papers write them down."""

from __future__ import annotations

from math import exp, log

import rankadapters as ra


def values_of(scores, y, sizes, convention):
    return ra.Evaluator(y, convention, group_sizes=sizes).per_query(scores).tolist()


def adarank(X, y, sizes, convention, rounds, *, most=None):
    """Xu & Li 2007, figure 1: coefficients after so many rounds; `most` repetitions that change nothing exclude one."""
    n, n_features = len(sizes), len(X[0])
    weak = [values_of([row[f] for row in X], y, sizes, convention) for f in range(n_features)]
    weights, coefficients = [1 / n] * n, [0.0] * n_features
    last, excluded, repeats = (None, None), None, 0
    for _ in range(rounds):
        means = [sum(w * e for w, e in zip(weights, values, strict=True)) for values in weak]
        f = max(set(range(n_features)) - {excluded}, key=lambda each: (means[each], -each))
        above = sum(w * (1 + e) for w, e in zip(weights, weak[f], strict=True))
        below = sum(w * (1 - e) for w, e in zip(weights, weak[f], strict=True))
        coefficients[f] += 0.5 * log(above / below)
        scores = [sum(c * x for c, x in zip(coefficients, row, strict=True)) for row in X]
        reached = values_of(scores, y, sizes, convention)
        raised = [exp(-value) for value in reached]
        weights = [each / sum(raised) for each in raised]
        repeats = repeats + 1 if last == (f, reached) else 0
        excluded = None if not repeats else f if repeats == most else excluded
        last, repeats = (f, reached), repeats % most if most else 0
    return coefficients


def pairs_of(y, sizes):
    """Rows of every pair of one query, the one of the higher label first."""
    start, found = 0, []
    for size in sizes:
        rows = range(start, start + size)
        found += [(i, j) for i in rows for j in rows if y[i] > y[j]]
        start += size
    return found


def rankboost(X, y, sizes, *, rounds, n_thresholds, weights=None):
    """Freund et al. 2003, figure 1, with the stump of the largest |r| of equally spaced thresholds: (f, t, alpha)."""
    pairs = pairs_of(y, sizes)
    query = [q for q, size in enumerate(sizes) for _ in range(size)]
    d = {(i, j): weights[query[i]] if weights else 1.0 for i, j in pairs}
    model = []
    for _ in range(rounds):
        total = sum(d.values())
        d = {pair: value / total for pair, value in d.items()}
        best = (0.0, None, None)
        for f in range(len(X[0])):
            column = [row[f] for row in X]
            low, high = min(column), max(column)
            t = high
            for _ in range(n_thresholds):
                r = sum(w * ((column[i] > t) - (column[j] > t)) for (i, j), w in d.items())
                if abs(r) > abs(best[0]) + 1e-13:
                    best = (r, f, t)
                t -= (high - low) / n_thresholds
        r, f, t = best
        alpha = 0.5 * log((1 + r) / (1 - r))
        model.append((f, t, alpha))
        d = {(i, j): w * exp(alpha * (int(X[j][f] > t) - int(X[i][f] > t))) for (i, j), w in d.items()}
    return model


def coordinate_ascent(X, y, sizes, convention, order, *, alpha=0.0):
    """One pass of Metzler & Croft 2007 with RankLib's steps: weights after it, from equal ones, and the measure."""
    n = len(X[0])
    weights = [1 / n] * n

    def distance(w):
        return sum((each / sum(map(abs, w)) - 1 / n) ** 2 for each in w) ** 0.5

    def value(w):
        scores = [sum(a * x for a, x in zip(w, row, strict=True)) for row in X]
        return ra.evaluate(y, scores, convention, group_sizes=sizes).value - alpha * distance(w)

    best = value(weights)
    for f in order:
        for sign in (1, -1):
            step = sign * (0.05 * abs(weights[f]) if 0 < abs(weights[f]) < 0.002 else 0.001)
            total, found = 0.0, None
            for _ in range(25):
                total += step
                step *= 2
                moved = [w + total * (g == f) for g, w in enumerate(weights)]
                if value(moved) > best + 1e-13:
                    best, found = value(moved), moved
            if found:
                size = sum(map(abs, found))
                weights = [w / size for w in found]
                break
    return weights, best + alpha * distance(weights)
