"""The score of a chain of bounces, plainly, and the best chain by trying every subset of onsets."""

import itertools
import math

import numpy as np


def score(onsets, members, missing, law, scatter, share, clutter):
    """Log odds of one chain: a scalar Kalman filter on the log ratio, step by step."""
    times = [float(onsets.times[n]) for n in members]
    error = [float(onsets.time_sd[n]) ** 2 + law.timing**2 for n in members]
    levels = np.log(onsets.loudness)
    spread = max(float(np.std(levels)), law.loudness_sd)
    usual = max(20.0, 0.12 * float(np.quantile(onsets.strengths, 0.9)))
    strength = [min(2.0, max(-2.0, math.log(float(onsets.strengths[n]) / usual))) for n in members]
    interval = times[1] - times[0]
    if not law.shortest <= interval <= law.longest:
        return -math.inf
    total = math.log(share) + math.log(law.drops / clutter) + strength[0] + strength[1]
    total -= math.log(math.log(law.longest / law.shortest) * interval * clutter)
    mean, variance = math.log(law.ratio), law.ratio_sd**2
    for n in range(2, len(members)):
        ahead = times[n] - times[n - 1]
        ratio = math.exp(mean)
        if n - 1 in missing:
            if variance >= 0.5 * law.ratio_sd**2 or ahead < 2 * law.shortest:
                return -math.inf
            variance += 2 * law.walk**2
            slope = 1 + ratio / (1 + ratio)
            noise = 1.5 * scatter**2 + 4 * law.timing**2 / min(ahead, interval) ** 2
            surprise = math.log(ahead / (interval * ratio * (1 + ratio)))
            spread_z, drop = slope**2 * variance + noise, 2 * mean
            total += math.log(law.miss_rate)
            interval = ahead * ratio / (1 + ratio)
        else:
            if ahead < law.shortest:
                return -math.inf
            variance += law.walk**2
            noise = scatter**2 + (error[n] + error[n - 1]) / ahead**2
            noise += 2 * error[n - 1] / (ahead * interval)
            noise += (error[n - 1] + error[n - 2]) / interval**2
            observed = math.log(ahead / interval)
            surprise, spread_z, drop = observed - mean, variance + noise, min(observed, 0.0)
            mean += variance / (variance + noise) * surprise
            variance = variance * noise / (variance + noise)
            total += math.log1p(-law.miss_rate)
            interval = ahead
            if not math.log(law.lowest) < mean < 0:
                return -math.inf
        if abs(surprise) >= law.stray:
            return -math.inf
        total -= 0.5 * math.log(2 * math.pi * spread_z) + 0.5 * surprise**2 / spread_z
        total -= math.log(ahead * clutter)
        level = float(levels[members[n]])
        change = (level - float(levels[members[n - 1]]) - drop) / law.loudness_sd
        apart = (level - float(np.median(levels))) / spread
        total += 2.5 * math.log((1 + apart**2 / 4) / (1 + change**2 / 4))
        total += math.log(spread / law.loudness_sd) + strength[n]
    return total


def best(onsets, law, clutter):
    """Score and members of the best chain over all subsets, gaps and scatters."""
    top = (-math.inf, ())
    count = len(onsets.times)
    for size in range(3, count + 1):
        for members in itertools.combinations(range(count), size):
            for gaps in range(0, 2):
                for missing in itertools.combinations(range(2, size - 1), gaps):
                    for scatter, share in zip(law.scatters, law.shares, strict=True):
                        value = score(onsets, members, missing, law, scatter, share, clutter)
                        top = max(top, (value, members))
    return top
