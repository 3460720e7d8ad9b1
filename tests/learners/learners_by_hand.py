"""The learners in plain Python, over lists and all pairs, as their papers define them."""

from math import exp, log

import rankadapters as ra


def per_query_values(scores, y, sizes, convention):
    return ra.Evaluator(y, convention, group_sizes=sizes).per_query(scores).tolist()


def adarank(X, y, sizes, convention, rounds, *, max_repeats=None):
    """Return the coefficients of AdaRank after some rounds (Xu & Li 2007, figure 1).

    A feature that is chosen `max_repeats` times in a row without a change is excluded.
    """
    n, n_features = len(sizes), len(X[0])
    weak = [per_query_values([row[f] for row in X], y, sizes, convention) for f in range(n_features)]
    weights, coefficients = [1 / n] * n, [0.0] * n_features
    last, excluded, repeats = (None, None), None, 0
    for _ in range(rounds):
        means = [sum(w * e for w, e in zip(weights, values, strict=True)) for values in weak]
        f = max(set(range(n_features)) - {excluded}, key=lambda feature: (means[feature], -feature))
        above = sum(w * (1 + e) for w, e in zip(weights, weak[f], strict=True))
        below = sum(w * (1 - e) for w, e in zip(weights, weak[f], strict=True))
        coefficients[f] += 0.5 * log(above / below)
        scores = [sum(c * x for c, x in zip(coefficients, row, strict=True)) for row in X]
        values = per_query_values(scores, y, sizes, convention)
        losses = [exp(-value) for value in values]
        weights = [loss / sum(losses) for loss in losses]
        repeats = repeats + 1 if last == (f, values) else 0
        excluded = None if not repeats else f if repeats == max_repeats else excluded
        last, repeats = (f, values), repeats % max_repeats if max_repeats else 0
    return coefficients


def label_pairs(y, sizes):
    """Return the rows of every pair of one query; the row of the higher label is first."""
    start, pairs = 0, []
    for size in sizes:
        rows = range(start, start + size)
        pairs += [(i, j) for i in rows for j in rows if y[i] > y[j]]
        start += size
    return pairs


def rankboost(X, y, sizes, *, rounds, n_thresholds, weights=None):
    """Return the stumps of RankBoost (Freund et al. 2003, figure 1) as (feature, threshold, alpha).

    Each stump has the largest |r| of all features and of equally spaced thresholds.
    """
    pairs = label_pairs(y, sizes)
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
    """Return weights and measure after one pass of Metzler & Croft 2007 with RankLib's steps, from equal weights."""
    n = len(X[0])
    weights = [1 / n] * n

    def distance(w):
        return sum((weight / sum(map(abs, w)) - 1 / n) ** 2 for weight in w) ** 0.5

    def value(w):
        scores = [sum(a * x for a, x in zip(w, row, strict=True)) for row in X]
        return ra.evaluate(y, scores, convention, group_sizes=sizes).value - alpha * distance(w)

    best = value(weights)
    for f in order:
        for sign in (1, -1):
            step = sign * (0.05 * abs(weights[f]) if 0 < abs(weights[f]) < 0.002 else 0.001)
            total, best_weights = 0.0, None
            for _ in range(25):
                total += step
                step *= 2
                candidate = [w + total * (g == f) for g, w in enumerate(weights)]
                if value(candidate) > best + 1e-13:
                    best, best_weights = value(candidate), candidate
            if best_weights:
                size = sum(map(abs, best_weights))
                weights = [w / size for w in best_weights]
                break
    return weights, best + alpha * distance(weights)
