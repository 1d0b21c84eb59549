# %% [markdown]
# # Notebook: a density network beside the exact posterior
#
# The tutorial [Your own simulator](../tutorials/own_simulator.md) trains a network on a simulator
# of cooling tea. That simulator is so simple that the posterior can also be computed exactly. How
# close is the network?

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch

from ricochet.models.inference import mixture_density_networks as networks
from ricochet.models.probability import bijections, boxes, truncated_mixtures

MINUTES, ROOM, SD = np.array([5.0, 10.0, 20.0, 40.0]), 21.0, 0.5
prior = boxes.Box(low=(60.0, 0.5), high=(95.0, 4.0))  # degrees Celsius, 1/h
draw, noise = torch.Generator().manual_seed(1), np.random.default_rng(1)


def cooled(start, rate):
    """Temperature after each of the times, without the thermometer's error."""
    return ROOM + (start - ROOM) * np.exp(-rate * MINUTES / 60.0)


def cases(count):
    """Parameters from the prior, and data from the simulator."""
    theta = boxes.sample(prior, (count,), draw=draw)
    clean = np.stack([cooled(*each) for each in theta.numpy()])
    return theta, clean + SD * noise.normal(size=clean.shape)


def inputs(data):
    """What the network sees, and the middle and half width of the prior."""
    middle, half = torch.tensor([[77.5, 2.25], [17.5, 1.75]]).double()
    where = bijections.Coordinates(middle.expand(len(data), 2), half.expand(len(data), 2))
    return networks.Inputs(torch.as_tensor(data, dtype=torch.float32), where)


# %% [markdown]
# ## Train it

# %%
theta, data = cases(20_000)
training = networks.Training(components=4, members=2, steps=1500)
fit = networks.fit(theta, inputs(data), box=prior, training=training, draw=draw)
figure, axes = plt.subplots(figsize=(6, 3))
axes.plot(fit.held_out)
axes.set(xlabel="look at the held-out pairs", ylabel="negative log density, nats")
plt.show()

# %% [markdown]
# ## The exact posterior
#
# Errors are normal, so the likelihood is known. On a grid over the prior's box it gives the
# posterior exactly.

# %%
starts, rates = np.linspace(60.0, 95.0, 351), np.linspace(0.5, 4.0, 351)
grid = np.stack(np.meshgrid(starts, rates, indexing="ij"), -1)
expected = ROOM + (grid[..., :1] - ROOM) * np.exp(-grid[..., 1:] * MINUTES / 60.0)
cell = (starts[1] - starts[0]) * (rates[1] - rates[0])


def exact_log_density(data):
    """Log density on the grid for one row of data."""
    log = -0.5 * (((data - expected) / SD) ** 2).sum(-1)
    return log - log.max() - np.log(np.exp(log - log.max()).sum() * cell)


measured = np.array([[69.9, 60.1, 46.8, 32.4]])
exact = exact_log_density(measured[0])
flat = torch.as_tensor(grid.reshape(-1, 1, 2))
learnt = fit.density.log_density(flat, inputs(measured)).reshape(exact.shape).numpy()

figure, axes = plt.subplots(figsize=(6, 4.5))
for density, colour, words in ((exact, "black", "exact"), (learnt, "C1", "network")):
    mass = np.sort(np.exp(density).ravel())[::-1] * cell
    levels = [mass[np.searchsorted(mass.cumsum(), share)] / cell for share in (0.9, 0.5)]
    axes.contour(starts, rates, np.exp(density).T, levels=levels, colors=colour)
    axes.plot([], [], color=colour, label=f"{words}, 50 and 90 %")
axes.set(xlim=(77, 86), ylim=(2.1, 3.0), xlabel="start, degrees Celsius", ylabel="rate, 1/h")
axes.legend()
plt.show()

# %% [markdown]
# ## How far apart on average?
#
# The mean of `log exact - log network` over cases is a distance between the two, in nats: 0 is
# equal, and 0.02 is what a normal density loses when its mean is off by a fifth of a standard
# deviation.

# %%
truth, tried = cases(400)
step = np.array([starts[1] - starts[0], rates[1] - rates[0]])
place = np.rint((truth.numpy() - [60.0, 0.5]) / step).astype(int)
nearest = torch.as_tensor(grid[place[:, 0], place[:, 1]])
at_truth = np.array(
    [exact_log_density(row)[i, j] for row, (i, j) in zip(tried, place, strict=True)]
)
gap = at_truth - fit.density.log_density(nearest, inputs(tried)).numpy()
print(f"{gap.mean():.3f} +- {gap.std() / np.sqrt(len(gap)):.3f} nats over {len(gap)} cases")
assert gap.mean() < 0.2

# %% [markdown]
# ## Ranks, as the judge takes them
#
# The rank of each truth among its draws is uniform if the posterior is right. Draws that are too
# narrow by 1.5 have the truth at their ends too often: that is what the judge refuses.

# %%
drawn = truncated_mixtures.sample(fit.density.mixture(inputs(tried)), 300, draw=draw)[..., 1]
narrow = drawn.mean(0) + (drawn - drawn.mean(0)) / 1.5

figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True)
for ax, draws, words in ((axes[0], drawn, "network"), (axes[1], narrow, "too narrow by 1.5")):
    ax.hist((draws < truth[..., 1]).double().mean(0), bins=20, range=(0, 1))
    ax.axhline(len(truth) / 20, color="black", linestyle="--")
    ax.set(title=words, xlabel="rank of the true rate")
plt.show()

# %% [markdown]
# ## Does the measurement look like a simulation?
#
# No rank can say this. Simulate at draws of the posterior, and see where the measurement lies.

# %%
drawn = truncated_mixtures.sample(fit.density.mixture(inputs(measured)), 2000, draw=draw)[:, 0]
replicated = np.stack([cooled(*each) for each in drawn.numpy()])
replicated = replicated + SD * noise.normal(size=replicated.shape)
low, high = np.quantile(replicated, [0.05, 0.95], axis=0)
for minute, value, below, above in zip(MINUTES, measured[0], low, high, strict=True):
    print(f"{minute:2.0f} min: measured {value:.1f}, 90 % of new data {below:.1f} to {above:.1f}")
