# %% [markdown]
# # Notebook: a champion that changes under a running program
#
# The tutorial [Your own controller](../tutorials/own_controller.md) follows a registry. Here two
# packages are made on the spot, so that nothing else is needed: the champion is exchanged, then
# damaged, then taken away, while a program holds it.

# %%
import shutil
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import ricochet
from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.registry.packages import write_package
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR

folder = tempfile.TemporaryDirectory()
packages, kept = Path(folder.name, "packages"), Path(folder.name, "kept")

# %% [markdown]
# ## Two packages
#
# `ricochet calibrate` writes these; by hand it takes the density on a grid and draws from it.
# Writing packages is no part of the public names, and a lab has no need of it.

# %%


def write(mean, sd, concentration=3.5, concentration_sd=0.1):
    """Make a package of a normal posterior the champion of `packages`."""
    rows = np.linspace(concentration - 0.6, concentration + 0.6, 41)
    low, high = np.full(41, mean - 4.5 * sd), np.full(41, mean + 4.5 * sd)
    across = np.linspace(-4.5, 4.5, 41)
    log_density = -0.5 * np.add.outer(((rows - concentration) / concentration_sd) ** 2, across**2)
    log_density -= np.log(2 * np.pi * sd * concentration_sd)  # so that it integrates to one
    draw = np.random.default_rng(0)
    samples = draw.normal([mean, concentration], [sd, concentration_sd], size=(4000, 2))
    made = ricochet.Package(
        kind="grid",
        name="demo-table",
        parameters=(
            Parameter("restitution", "1", 0.55, 0.95),
            Parameter("log10_concentration", "1", 1.0, 5.0),
        ),
        arrays={
            "rows": rows,
            "low": low,
            "high": high,
            "log_density": log_density,
            "samples": samples,
            "mean": np.array([mean, concentration]),
            "covariance": np.diag([sd**2, concentration_sd**2]),
        },
        inputs={"theta": samples[:8]},
        checks={},
        data_digest="none",
        git_commit="unknown",
    )
    write_package(packages / "demo-table", made, reader=POSTERIOR.load_reader())


def mean_of(posterior):
    """Mean restitution at 2 m/s."""
    return ricochet.restitution(posterior.package, np.array([2.0])).mean().round(3)


write(0.85, 0.01)
lines = []
held = ricochet.champion("demo-table", ricochet.Folder(packages), kept, report_line=lines.append)
first = held.current()
print("version", first.version, "restitution", mean_of(first))

# %% [markdown]
# ## Another champion
#
# `refresh` is what `keep_fresh` calls in a thread. A program that holds `first` keeps it whole;
# the next `current()` has the new one.

# %%
write(0.80, 0.02)
print("another?", held.refresh())
second = held.current()
for name, posterior in (("first", first), ("second", second)):
    print(name, posterior.version, mean_of(posterior))
assert first.digest != second.digest and not held.refresh()

# %% [markdown]
# ## A damaged package, and none at all
#
# One bit of the third package is flipped. It is refused in one line, and the last good one stays
# in use. The same holds when the source is gone, and after a restart.

# %%
write(0.90, 0.01)
damaged = packages / "demo-table" / "posterior.safetensors"
content = bytearray(damaged.read_bytes())
content[-1] ^= 1
damaged.write_bytes(content)
assert not held.refresh()
shutil.rmtree(packages)
assert not held.refresh()
assert held.current().digest == second.digest
again = ricochet.champion("demo-table", ricochet.Folder(packages), kept)
assert again.current().digest == second.digest
for line in lines:
    print(line.replace(folder.name, "..."))

# %% [markdown]
# Too old counts as none. The registration of this one is seconds old; asked a year later there is
# no posterior, and the robot must not move.

# %%
try:
    held.current(now=second.registered + 365 * 86400.0)
except ricochet.NoPosteriorError as error:
    print("no motion:", error)

# %% [markdown]
# ## Draws are worth more than their mean
#
# After a bounce at 3 m/s, when does the ball bounce for the third time from now? Every draw of
# restitution gives a time. The mean of restitution gives one, with no idea how far it may be off.

# %%
GRAVITY, speed = 9.81, 3.0
draws = ricochet.restitution(second.package, np.array([2.0]))[0]


def third_bounce(restitution):
    """Time of the third bounce after one at `speed`, without air."""
    return 2.0 * speed / GRAVITY * (restitution + restitution**2 + restitution**3)


times = third_bounce(draws)
low, high = np.quantile(times, [0.05, 0.95])
print(f"by draws {times.mean():.3f} s, 90 % {low:.3f} to {high:.3f}")
print(f"by the mean {third_bounce(draws.mean()):.3f} s")

figure, axes = plt.subplots(figsize=(6, 3))
axes.hist(times, bins=60)
axes.axvspan(low, high, alpha=0.2, label="90 %")
axes.axvline(third_bounce(draws.mean()), color="C1", label="by the mean alone")
axes.set(xlabel="time of the third bounce, s", ylabel="draws")
axes.legend()
plt.show()
folder.cleanup()
