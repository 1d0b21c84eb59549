# %% [markdown]
# # Notebook: what takes, noise and microphones are worth
#
# The tutorial [Three microphones](../tutorials/three_microphones.md) records twelve drops. Would
# three have done? Would better measured microphones? Here drops are simulated without sound, so
# that each question takes seconds. The model is the paper's: three bounces, constant restitution,
# no air.

# %%
import itertools

import matplotlib.pyplot as plt
import numpy as np
import torch

import ricochet
from ricochet.models.systems.bouncing_ball import problem

TRUTH = torch.tensor([0.85, 3.5]).double()  # restitution, log10 concentration

# %% [markdown]
# ## Places from times of arrival
#
# Sound reaches the microphones one after another. Two differences of arrival fix a place on the
# surface. An error of 10 microseconds, half a sample at 44.1 kHz, moves it by a few millimetres;
# so does a microphone whose place is off.

# %%
microphones = np.array([[-0.30, -0.25, 0.0762], [0.25, -0.30, 0.0762], [0.0, 0.32, 0.0762]])
SPEED = 344.4  # of sound at 21.5 degrees, m/s


def differences(place, where=microphones):
    """Arrival at microphones 1 and 2 minus that at microphone 0, s."""
    arrival = np.linalg.norm(np.append(place, 0.0) - where, axis=1) / SPEED
    return arrival[1:] - arrival[0]


def place_sd(place, *, time_sd, survey_sd):
    """Standard deviation per axis of a place, m, to first order in all errors."""
    step = 1e-6
    slope = np.array([(differences(place + d) - differences(place - d)) for d in step * np.eye(2)])
    to_place = np.linalg.inv(slope.T / (2.0 * step))
    clicks = np.array([[-1.0, 1.0, 0.0], [-1.0, 0.0, 1.0]]) * time_sd
    moved = [
        (differences(place, microphones + survey_sd * d.reshape(3, 3)) - differences(place))
        for d in np.eye(9)
    ]
    errors = to_place @ np.hstack([clicks, np.array(moved).T])
    return np.sqrt((errors**2).sum() / 2.0)


for time_sd, survey_sd in ((20e-6, 0.0), (20e-6, 1.5e-3), (20e-6, 5e-3)):
    sd = place_sd(np.array([0.05, 0.02]), time_sd=time_sd, survey_sd=survey_sd)
    words = f"clicks {1e6 * time_sd:.0f} us, microphones {1e3 * survey_sd:.1f} mm"
    print(f"{words}: place {1e3 * sd:.1f} mm")

# %% [markdown]
# ## How the posterior narrows with drops
#
# `ricochet.exact_posterior` is the answer of the paper's model to any number of drops.

# %%


def session(drops, *, position_sd=problem.DEFAULT_POSITION_SD, seed=0):
    """Features of simulated drops at the truth, and the exact posterior of them together."""
    draw = torch.Generator().manual_seed(seed)
    noise = problem.constant_noise((drops,), position_sd=position_sd)
    release = problem.constant_release((drops,))  # from a height that is known
    found = problem.simulate_features(TRUTH.expand(drops, 2), noise, release, draw=draw)
    return ricochet.exact_posterior(found, noise, release)


by_drops = {drops: session(drops) for drops in (1, 3, 10, 30)}
for drops, posterior in by_drops.items():
    (a, b), (a_sd, b_sd) = posterior.mean, np.sqrt(np.diag(posterior.covariance))
    words = f"restitution {a:.4f} +- {a_sd:.4f}, log10 concentration {b:.2f} +- {b_sd:.2f}"
    print(f"{drops:2d} drops: {words}")
sds = [np.sqrt(np.diag(each.covariance)) for each in by_drops.values()]
assert all((after < before).all() for before, after in itertools.pairwise(sds))

# %% [markdown]
# Regions of 90 % shrink towards the truth, which no part of the program has seen.

# %%
figure, axes = plt.subplots(figsize=(6, 4.5))
for number, (drops, posterior) in enumerate(by_drops.items()):
    points, mass = posterior.points, np.sort(posterior.weights.ravel())[::-1]
    level = mass[np.searchsorted(mass.cumsum(), 0.9)]
    axes.contour(
        points[..., 0], points[..., 1], posterior.weights, levels=[level], colors=f"C{number}"
    )
    axes.plot([], [], color=f"C{number}", label=f"{drops} drops, 90 %")
axes.plot(*TRUTH, "k+", markersize=14, label="hidden truth")
axes.set(xlabel="restitution", ylabel="log10 concentration")
axes.legend()
plt.show()

# %% [markdown]
# ## What the error of places costs
#
# Ten drops again, with bounces located to 2, 10 and 30 mm. Worse places say less about
# concentration. Past a centimetre they hardly count any more: what is left comes from the times,
# which a redirection changes too.

# %%
for position_sd in (2e-3, 1e-2, 3e-2):
    posterior = session(10, position_sd=position_sd)
    a_sd, b_sd = np.sqrt(np.diag(posterior.covariance))
    print(
        f"{1e3 * position_sd:2.0f} mm: restitution +- {a_sd:.4f}, log10 concentration +- {b_sd:.2f}"
    )

# %% [markdown]
# ## Can the intervals be believed?
#
# Ten sessions of three drops, their parameters drawn from the prior. A right posterior holds the
# truth in its 90 % region nine times on average, and less than six times once in six hundred. (Of
# 200 such sessions it was 91 %.)

# %%
draw, held = torch.Generator().manual_seed(7), 0
for _ in range(10):
    noise, release = problem.constant_noise((3,)), problem.constant_release((3,))
    theta = ricochet.simulate(noise, release, draw=draw).theta[:1].expand(3, 2)
    found = problem.simulate_features(theta, noise, release, draw=draw)
    posterior = ricochet.exact_posterior(found, noise, release)
    held += posterior.content_above(theta[0].numpy()) <= 0.9
print(f"the 90 % region holds the truth in {held} of 10 sessions")
assert held >= 6

# %% [markdown]
# Calibrations do more than this: they explain whole takes, with air and the errors of the array
# ([bouncing ball](../systems/bouncing_ball.md)). `ricochet plan` answers the questions of this
# page for them ([how many takes are enough](../planning.md)).
