# %% [markdown]
# # Notebook: a clip whose truth is known
#
# The tutorial [One clip from a phone](../tutorials/phone.md) ends with a number. Is it right?
# Here the clip is made by a ball that we know, so that the answer can be held against the truth.
#
# This page is a Python program, `docs/notebooks/phone.py`: run it as it is, or as a notebook
# (`jupytext --to ipynb`).

# %%
import csv
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import soundfile

import ricochet

folder = tempfile.TemporaryDirectory()
place = Path(folder.name)

# %% [markdown]
# ## A ball in air
#
# A ping-pong ball falls from 0.5 m and keeps 0.9 of its speed at each bounce, give or take 0.4 %,
# as real contacts do. Air pulls with `k v^2` per mass. A vertical flight has a closed form: with
# terminal speed `u = sqrt(g / k)`, a ball that leaves at `v` rises for `(u / g) arctan(v / u)` to
# the height `ln(1 + v^2 / u^2) / (2 k)`, and falls from `h` for `(u / g) arcosh(exp(k h))`.

# %%
GRAVITY, DRAG = 9.81, 0.13  # m/s^2, 1/m
TRUTH, SCATTER = 0.90, 0.004  # restitution, and its relative scatter from bounce to bounce
TERMINAL = np.sqrt(GRAVITY / DRAG)
draw = np.random.default_rng(1)


def fall(height):
    """Time of a fall, and the speed at its end."""
    time = TERMINAL / GRAVITY * np.arccosh(np.exp(DRAG * height))
    return time, TERMINAL * np.sqrt(1.0 - np.exp(-2.0 * DRAG * height))


def bounce_times(height, count):
    """Times of bounces after a release at time 0.3 s, and the speed of each impact."""
    time, speed = fall(height)
    times, speeds = [0.3 + time], [speed]
    for _ in range(count - 1):
        away = TRUTH * (1.0 + SCATTER * draw.normal()) * speeds[-1]
        rise = TERMINAL / GRAVITY * np.arctan(away / TERMINAL)
        time, speed = fall(np.log1p((away / TERMINAL) ** 2) / (2.0 * DRAG))
        times.append(times[-1] + rise + time)
        speeds.append(speed)
    return np.array(times), np.array(speeds)


times, speeds = bounce_times(0.5, 16)
print(f"{len(times)} bounces in {times[-1]:.2f} s, the first at {speeds[0]:.2f} m/s")

# %% [markdown]
# ## Its sound
#
# A click at each bounce, as loud as the impact is fast, and noise.

# %%
RATE = 44100
sound = 3e-4 * draw.normal(size=int((times[-1] + 0.6) * RATE))
after = np.arange(900) / RATE
for time, speed in zip(times, speeds, strict=True):
    first = int(np.ceil(time * RATE))
    late = after + first / RATE - time  # the click begins between two samples
    sound[first : first + 900] += 0.12 * speed * np.exp(-late / 3e-3) * np.sin(2e4 * late)
soundfile.write(place / "clip.wav", sound, RATE)

# %% [markdown]
# ## The answer, without and with the ball's name

# %%
unnamed = ricochet.calibrate(place / "clip.wav", place / "unnamed")
named = ricochet.calibrate(place / "clip.wav", place / "named", ball="ping-pong")
for words, result in (("without a name", unnamed), ("as ping-pong", named)):
    first = result["restitution"]["at_first_bounce"]
    low, high = first["region_90"]
    held = "holds" if low <= TRUTH <= high else "misses"
    print(
        f"{words:15} {first['mean']:.4f} +- {first['sd']:.4f}, 90 % {low:.4f} to {high:.4f}", end=""
    )
    print(f", which {held} the truth, {TRUTH}")
assert (
    named["restitution"]["at_first_bounce"]["sd"] < unnamed["restitution"]["at_first_bounce"]["sd"]
)

# %% [markdown]
# The name fixes the air's part, and the interval shrinks. Nine of ten such intervals hold the
# truth: one clip proves nothing, and a miss now and then is no fault. How often they do over many
# clips is measured by `python -m benchmarks.bouncing_ball.bare_recordings`.
#
# ## Restitution by speed
#
# The truth is drawn for the reader; no part of the program has seen it.

# %%
figure, axes = plt.subplots(figsize=(7, 3.5))
for words, result, colour in (("without a name", unnamed, "C1"), ("as ping-pong", named, "C0")):
    rows = result["restitution"]["band"]
    low, high = np.array([row["region_90"] for row in rows]).T
    speed = [row["speed"] for row in rows]
    axes.fill_between(speed, low, high, color=colour, alpha=0.4, label=f"{words}, 90 %")
axes.axhline(TRUTH, color="black", linestyle="--", label="hidden truth")
axes.set(xlabel="impact speed, m/s", ylabel="restitution")
axes.legend()
plt.show()

# %% [markdown]
# ## Bounce by bounce
#
# `bounces.csv` has the times that were found. They are those of the ball, up to the delay of the
# click's own rise, which is the same for all bounces and therefore does not matter.

# %%
with (place / "named" / "bounces.csv").open() as file:
    rows = list(csv.DictReader(file))
found = np.array([float(row["time_s"]) for row in rows])
nearest = np.abs(found[:, None] - times).argmin(1)
error = found - times[nearest]
print(f"{len(found)} of {len(times)} bounces found")
print(f"scatter of the times {1e6 * error.std():.0f} microseconds about {1e6 * error.mean():.0f}")
assert len(found) >= len(times) - 2 and error.std() < 2e-4
folder.cleanup()
