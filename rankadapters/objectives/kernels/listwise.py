"""Gradients of listwise objectives, whose loss is a function of all scores of a query."""

from __future__ import annotations

import numpy as np

from rankadapters.core.ranking.jit import internal, jit
from rankadapters.core.ranking.sorting import ALL_FINITE
from rankadapters.objectives.kernels.queries import longest, row_at

SMALLEST_REST = 2.0**-53  # replaces 1 - p if p rounds to 1
FEWEST_LABELS_SUM = np.float64(np.float32(1e-15))
LARGEST_FLOAT32 = np.float64(np.finfo(np.float32).max)
LAST_STEP = 2.0**-26  # after such a step, Newton's method is exact
FARTHEST_SHIFT = 20.0  # CatBoost's MAX_SHIFT
ONE_CLASS = np.float32(1e-5)  # in training, CatBoost sees labels this close to a query's first as equal


@internal
def softmax(scores, order, start, n, beta, out):
    """Write softmax(beta s) of a query's rows, relative to the best score so that nothing overflows."""
    best, total = -np.inf, 0.0
    for i in range(n):
        out[i] = scores[row_at(order, start + i)]
        best = max(best, out[i])
    for i in range(n):
        out[i] = np.exp(beta * (out[i] - best))
        total += out[i]
    for i in range(n):
        out[i] /= total


@jit
def softmax_gradients(scores, order, indptr, targets, beta, ridge, grad, hess):
    """Write gradients of the cross entropy of softmax(beta s) against targets, which need not sum to 1."""
    p = np.empty(longest(indptr))
    for q in range(indptr.size - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        softmax(scores, order, start, n, beta, p)
        mass = 0.0
        for i in range(n):
            mass += targets[start + i]
        for i in range(n):
            row = row_at(order, start + i)
            grad[row] = beta * (mass * p[i] - targets[start + i])
            hess[row] = beta * mass * (beta * p[i] * (1.0 - p[i]) + ridge)
    return ALL_FINITE


@jit
def target_softmax(labels, order, indptr, out):
    """Write softmax(labels) of each query, in query order."""
    for q in range(indptr.size - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        softmax(labels, order, start, n, 1.0, out[start : start + n])


@jit
def xendcg_gradients(scores, order, indptr, states, powers, grad, hess):
    """Write XE-NDCG gradients as LightGBM does; `states` has one random generator per query, advanced once per row."""
    width = longest(indptr)
    rho, terms = np.empty(width), np.empty(width)
    for q in range(indptr.size - 1):
        start, n = indptr[q], indptr[q + 1] - indptr[q]
        state, total = states[q], 0.0
        for i in range(n):
            state = np.uint32(state * np.uint32(214013) + np.uint32(2531011))
            drawn = np.float64((state >> np.uint32(16)) & np.uint32(0x7FFF)) / 32768.0
            terms[i] = powers[start + i] - drawn
            total += terms[i]
        states[q] = state
        if n == 1:
            continue
        softmax(scores, order, start, n, 1.0, rho)
        inverse = 1.0 / max(FEWEST_LABELS_SUM, total)
        first_sum, second_sum = 0.0, 0.0
        for i in range(n):
            row = row_at(order, start + i)
            term = -terms[i] * inverse + rho[i]
            grad[row] = term
            terms[i] = term / max(1.0 - rho[i], SMALLEST_REST)
            first_sum += terms[i]
        for i in range(n):
            row = row_at(order, start + i)
            term = rho[i] * (first_sum - terms[i])
            grad[row] += np.float32(term)
            terms[i] = term / max(1.0 - rho[i], SMALLEST_REST)
            second_sum += terms[i]
        for i in range(n):
            row = row_at(order, start + i)
            grad[row] += np.float32(rho[i] * (second_sum - terms[i]))
            hess[row] = rho[i] * (1.0 - rho[i])
    return ALL_FINITE


@jit
def query_rmse_gradients(scores, order, indptr, labels, grad, hess):
    """Write gradients of the squared error of the residuals, from which each query's mean residual is subtracted.

    Return a row whose residual overflows float32, or -1.
    """
    for q in range(indptr.size - 1):
        start, last = indptr[q], indptr[q + 1]
        mean = 0.0
        for i in range(start, last):
            row = row_at(order, i)
            mean += (np.float64(scores[row]) - labels[i]) / (last - start)
        for i in range(start, last):
            row = row_at(order, i)
            residual = np.float64(scores[row]) - labels[i] - mean
            if not abs(residual) <= LARGEST_FLOAT32:
                return row
            grad[row] = residual
            hess[row] = 1.0
    return ALL_FINITE


@jit(inline="always")
def logistic(x):
    """Return 1 / (1 + exp(-x)) without overflow."""
    small = np.exp(-abs(x))
    return (1.0 if x >= 0 else small) / (1.0 + small)


@jit(inline="always")
def one_class(labels):
    """Return whether CatBoost's training treats all labels of a query as equal."""
    differs = False
    for i in range(1, labels.size):
        differs |= abs(np.float32(labels[i]) - np.float32(labels[0])) > ONE_CLASS
    return not differs


@internal
def best_shift(inverse, total):
    """Return the c with sum(logistic(s + c)) = total, clipped to CatBoost's range; `inverse` is exp(-s).

    A Newton step of length d leaves an error of at most d^2, since the second derivative of a logistic function is at
    most its first. If a step leaves the interval that is known to contain c, the middle of the interval is next.
    """
    low, high, shift = -FARTHEST_SHIFT - 1.0, FARTHEST_SHIFT + 1.0, 0.0
    while high - low > LAST_STEP:
        chances, slope, factor = 0.0, 0.0, np.exp(-shift)
        for i in range(inverse.size):
            chance = 1.0 / (1.0 + inverse[i] * factor)
            chances += chance
            slope += chance * (1.0 - chance)
        low, high = (shift, high) if chances < total else (low, shift)
        step = (total - chances) / slope
        if abs(step) < LAST_STEP:
            shift += step
            break
        shift = shift + step if low < shift + step < high else low + (high - low) / 2
    return min(max(shift, -FARTHEST_SHIFT), FARTHEST_SHIFT)


@jit
def query_cross_entropy_gradients(scores, order, indptr, labels, alpha, grad, hess):
    """Write gradients of (1 - alpha) x log loss of the scores + alpha x log loss after each query's best shift."""
    inverse = np.empty(longest(indptr))
    for q in range(indptr.size - 1):
        start, n, total = indptr[q], indptr[q + 1] - indptr[q], 0.0
        for i in range(n):
            inverse[i] = np.exp(-np.float64(scores[row_at(order, start + i)]))
            total += labels[start + i]
        shifted = not one_class(labels[start : start + n])
        shift = best_shift(inverse[:n], total) if shifted else 0.0
        for i in range(n):
            row = row_at(order, start + i)
            score = np.float64(scores[row])
            p = logistic(score)
            grad[row] = (1.0 - alpha) * (p - labels[start + i])
            hess[row] = (1.0 - alpha) * p * (1.0 - p)
            if shifted:
                p = logistic(score + shift)
                grad[row] += np.float32(alpha * (p - labels[start + i]))
                hess[row] += np.float32(alpha * p * (1.0 - p))
    return ALL_FINITE


@internal
def draw_backwards(scores, rows, shares, rests):
    """Write to `shares` each row's softmax probability among itself and the rows after it, and to `rests` 1 minus it.

    Sums are relative to the best score so far, so that they do not overflow.
    """
    best, total = -np.inf, 0.0
    for k in range(rows.size - 1, -1, -1):
        score = np.float64(scores[rows[k]])
        after = total if score <= best else total * np.exp(best - score)
        best = max(best, score)
        power = np.exp(score - best)
        total = after + power
        shares[k], rests[k] = power / total, after / total


@jit
def list_mle_gradients(scores, order, indptr, grad, hess):
    """Write the gradients of each query; `order` lists the query's rows by descending label.

    Row i is drawn at position k <= i with probability p_k = share_i x product of `rests` from k to i - 1. Its gradient
    is the sum of the p_k minus 1, and its hessian the sum of p_k (1 - p_k).
    """
    width = longest(indptr)
    shares, rests = np.empty(width), np.empty(width)
    for q in range(indptr.size - 1):
        rows = order[indptr[q] : indptr[q + 1]]
        draw_backwards(scores, rows, shares, rests)
        drawn, squares = 0.0, 0.0
        for i in range(rows.size):
            drawn, squares = drawn + 1.0, squares + 1.0
            p = shares[i] * drawn
            grad[rows[i]] = p - 1.0
            hess[rows[i]] = max(p - shares[i] * shares[i] * squares, 0.0)
            drawn *= rests[i]
            squares *= rests[i] * rests[i]
    return ALL_FINITE
