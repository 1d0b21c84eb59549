r"""Motions of any MuJoCo model whose joints are hinges and slides, and their derivatives.

The state is the joints' positions and their rates, rad or m and these per second. Each frame is a
whole number of the model's own steps, between which controls are held. Derivatives are central
differences,

    dx_t / dtheta = (x_t(theta + h) - x_t(theta - h)) / 2h,

h a share of the limits' range, of the logarithm's where the order of magnitude is unknown; near a
limit they stay within it. A state that MuJoCo says is beyond all measure is no number.

Source: MuJoCo's rollout (Todorov, Erez and Tassa 2012); differences: ours.
"""

import copy
import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial

import mujoco
import numpy as np
import torch
from jaxtyping import Float
from mujoco import rollout
from numpy import ndarray
from torch import Tensor

from ricochet.models.inference.limits import Limits, Shares
from ricochet.models.systems.rigid_bodies import mujoco_calls, mujoco_parameters
from ricochet.models.systems.rigid_bodies.mujoco_parameters import Place

SHARE = 1e-4
"""Difference of a parameter, of its range."""
NUDGE = 3e-5
"""Difference of a state, rad or m and these per second."""
MODELS = 16
"""Copies of the model that are simulated side by side, at most."""
NUMBERS = 2**17
"""Numbers of the states that are kept at a time, all steps of a frame among them."""
MOST_SUBSTEPS = 1000
"""The model's steps of a frame."""
HINGE, SLIDE = (int(each) for each in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE))
"""Kinds of joints."""
_BEGUN = 1.0
_STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS


@dataclass(frozen=True)
class Derivatives:
    """Of the states, by where they start and by the parameters."""

    by_start: Float[Tensor, "*batch step state state"]
    by_parameter: Float[Tensor, "*batch step state parameter"]


@dataclass(frozen=True)
class MujocoMotion:
    """Simulated motions; derivatives are computed when they are asked for."""

    states: Float[Tensor, "particle window step state"]
    simulator: "MujocoSimulator"
    theta: Float[Tensor, "particle parameter"]
    starts: Float[Tensor, "particle window state"]

    def gradient(
        self, weights: Float[Tensor, "particle window step state"]
    ) -> tuple[Float[Tensor, "particle window state"], Float[Tensor, "particle window parameter"]]:
        """Return the gradient of sum(weights * states) by starts and by parameters."""
        found = self.jacobian()
        by_start, by_parameter = (
            torch.einsum("pwts,pwtsn->pwn", weights, each)
            for each in (found.by_start, found.by_parameter)
        )
        return by_start, by_parameter

    def jacobian(self) -> Derivatives:
        """Return all derivatives."""
        return self._derivatives

    @cached_property
    def _derivatives(self) -> Derivatives:
        steps = self.states.shape[2]
        return Derivatives(self._by_start(steps), self._by_parameter(steps))

    def _by_start(self, steps: int) -> Float[Tensor, "particle window step state state"]:
        """Return differences of motions that begin a little beside."""
        size = self.starts.shape[2]
        nudges = NUDGE * torch.eye(size).to(self.starts)
        both = torch.cat((nudges, -nudges))
        starts = self.starts[:, None] + both[:, None]  # particle, nudge, window, state
        theta = self.theta[:, None].expand(-1, 2 * size, -1)
        moved = self.simulator.moved(theta.flatten(0, 1), starts.flatten(0, 1), steps)
        further, back = moved.unflatten(0, (-1, 2, size)).unbind(1)
        return ((further - back) / (2.0 * NUDGE)).movedim(1, -1)

    def _by_parameter(self, steps: int) -> Float[Tensor, "particle window step state parameter"]:
        """Return differences of motions by parameters a little beside, within the limits."""
        limits, count = self.simulator.limits, self.theta.shape[1]
        sizes = SHARE * self.simulator.reach(self.theta)
        ends = []
        for size in (sizes, -sizes):
            end = (self.theta + size).clamp(limits.low, limits.high)
            ends.append(self.theta[:, None] + torch.diag_embed(end - self.theta))
        theta = torch.stack(ends, 1)  # particle, end, varied, parameter
        starts = self.starts[:, None].expand(-1, 2 * count, -1, -1)
        moved = self.simulator.moved(theta.flatten(0, 2), starts.flatten(0, 1), steps)
        further, back = moved.unflatten(0, (-1, 2, count)).unbind(1)
        apart = (theta[:, 0] - theta[:, 1]).diagonal(dim1=1, dim2=2)
        return ((further - back) / apart[:, :, None, None, None]).movedim(1, -1)


@dataclass(frozen=True)
class MujocoSimulator:
    """Moves a model's joints from starts of windows, by some of its numbers.

    Attributes:
        model: With the step in which it is simulated.
        limits: Within which differences stay.
        logarithmic: Shares of which differences are taken.
        substeps: The model's steps of a frame.
        controls: Of all actuators, held through each frame of each window; of fewer windows than
            these the first are simulated.
        threads: That simulate side by side; with none one does.
        longest: Processor time that a step may take on average, s.
    """

    model: mujoco.MjModel
    places: tuple[Place, ...]
    shares: Shares
    substeps: int
    controls: Float[Tensor, "window step actuator"]
    threads: int = 0
    longest: float = math.inf

    @property
    def limits(self) -> Limits:
        """Of the parameters."""
        return self.shares.limits

    def __call__(
        self,
        theta: Float[Tensor, "particle 1 parameter"],
        starts: Float[Tensor, "particle window state"],
        *,
        steps: int,
    ) -> MujocoMotion:
        """Return the motions."""
        return MujocoMotion(self.moved(theta[:, 0], starts, steps), self, theta[:, 0], starts)

    def reach(
        self, theta: Float[Tensor, "particle parameter"]
    ) -> Float[Tensor, "particle parameter"]:
        """Return the range of each parameter, of its logarithm times itself where that counts."""
        return self.shares.slopes(self.shares.of(theta)).diagonal(dim1=-2, dim2=-1)

    def moved(
        self,
        theta: Float[Tensor, "particle parameter"],
        starts: Float[Tensor, "particle window state"],
        steps: int,
    ) -> Float[Tensor, "particle window {steps} state"]:
        """Return the states after each frame.

        Raises:
            LongStepsError: Steps take more than `longest`.
            mujoco.FatalError: MuJoCo cannot take a step, as where more touches than it has room.
        """
        acting = self.controls[: starts.shape[1], :steps].repeat_interleave(self.substeps, 1)
        row = acting.shape[0] * acting.shape[1] * len(self._still)
        several = max(1, min(MODELS, NUMBERS // max(1, row)))
        rows = list(zip(theta.detach().numpy(), starts.detach().numpy(), strict=True))
        if not rows:
            return starts.new_empty(0, starts.shape[1], steps, starts.shape[2])
        with mujoco_calls.silent():
            found = [
                self._rolled(rows[first : first + several], acting.numpy())
                for first in range(0, len(rows), several)
            ]
        return torch.from_numpy(
            np.concatenate(found).reshape(*starts.shape[:2], -1, starts.shape[2])
        )

    def _rolled(
        self,
        rows: Sequence[tuple[ndarray, ndarray]],
        acting: Float[ndarray, "window instant actuator"],
    ) -> Float[ndarray, "row step state"]:
        """Return the states after each frame; those beyond all measure are NaN."""
        (models, data), joints = self._copies, self.model.nq
        for model, (theta, _) in zip(models, rows, strict=False):
            mujoco_parameters.assign(model, data[0], self.places, theta)
        states = np.concatenate([starts for _, starts in rows])
        lost = ~(np.abs(states) < mujoco.mjMAXVAL).all(1)
        begun = np.tile(self._still, (len(states), 1))
        begun[:, 0], begun[:, 1 : 1 + 2 * joints] = _BEGUN, np.where(lost[:, None], 0.0, states)
        each = [model for model, (_, starts) in zip(models, rows, strict=False) for _ in starts]
        controls = np.tile(acting, (len(rows), 1, 1))
        most = self.longest * len(each) * acting.shape[1]
        roll = partial(_rollout, each, data, begun, controls)
        found = mujoco_calls.interruptible(roll, models, seconds=most)
        found = found[:, self.substeps - 1 :: self.substeps]
        ends = np.arange(self.substeps, acting.shape[1] + 1, self.substeps)
        expected = _BEGUN + self.model.opt.timestep * ends
        reset = np.abs(found[..., 0] - expected) > 0.5 * self.model.opt.timestep
        states = found[..., 1 : 1 + 2 * joints]
        return np.where((reset | lost[:, None])[..., None], np.nan, states)

    @cached_property
    def _copies(self) -> tuple[list[mujoco.MjModel], list[mujoco.MjData]]:
        models = [copy.copy(self.model) for _ in range(MODELS)]
        return models, [mujoco.MjData(self.model) for _ in range(max(1, self.threads))]

    @cached_property
    def _still(self) -> Float[ndarray, " number"]:
        """The whole state of the model as it is reset."""
        data = mujoco.MjData(self.model)
        found = np.zeros(mujoco.mj_stateSize(self.model, _STATE.value))
        mujoco.mj_getState(self.model, data, found, _STATE.value)
        return found


def _rollout(
    models: Sequence[mujoco.MjModel],
    data: Sequence[mujoco.MjData],
    begun: Float[ndarray, "row number"],
    controls: Float[ndarray, "row instant actuator"],
) -> Float[ndarray, "row instant number"]:
    """Return the states after each step, of a share of the rows with each data in its own thread.

    In a thread of Python's an error of MuJoCo's is raised; in those of its rollout it ends the
    process.
    """

    def rolled(rows: ndarray, own: mujoco.MjData) -> ndarray:
        each = [models[row] for row in rows]
        with rollout.Rollout(nthread=0) as alone:
            found, _ = alone.rollout(each, [own], begun[rows], controls[rows], nstep=steps)
        return np.asarray(found)

    steps = controls.shape[1]
    shares = np.array_split(np.arange(len(models)), min(len(data), len(models)))
    if len(shares) == 1:
        return rolled(shares[0], data[0])
    with ThreadPoolExecutor(len(shares)) as pool:
        return np.concatenate(list(pool.map(rolled, shares, data)))


def refused(model: mujoco.MjModel) -> str | None:
    """Return why joints' positions and rates are not this model's state, or None.

    >>> refused(mujoco.MjModel.from_xml_string("<mujoco/>"))
    'no joint, expected hinges or slides'
    """
    if model.njnt == 0:
        return "no joint, expected hinges or slides"
    if not np.isin(model.jnt_type, (HINGE, SLIDE)).all():
        return "a free or a ball joint, expected hinges and slides alone"
    if len(mujoco_parameters.names(model, "joint")) < model.njnt:
        return "a joint without a name, expected a name for each"
    if len(mujoco_parameters.names(model, "actuator")) < model.nu:
        return "an actuator without a name, expected a name for each"
    if model.na or model.nhistory or model.nplugin:
        return "activations, delays or plugins, whose state recordings do not hold, expected none"
    return None


def stepped(model: mujoco.MjModel, rate: float) -> tuple[mujoco.MjModel, int]:
    """Return a copy whose steps divide a frame, and how many there are.

    The model's own step is kept within a thousandth where it divides the frame, and is shortened
    where it does not.

    >>> model, substeps = stepped(mujoco.MjModel.from_xml_string("<mujoco/>"), 240.0)
    >>> substeps, round(1e3 * model.opt.timestep, 3)  # 2 ms do not divide 4.17 ms
    (3, 1.389)

    Args:
        rate: Frames a second.

    Raises:
        ValueError: There are more than are simulated.
    """
    found, step = copy.copy(model), model.opt.timestep
    if not step * rate * MOST_SUBSTEPS > 0.999:
        asked = f"at most {MOST_SUBSTEPS} steps of the model in a frame of {1.0 / rate:.4g} s"
        raise ValueError(f"steps of {step:.4g} s, expected {asked}")
    substeps = max(1, int(np.ceil(1.0 / (rate * step) - 1e-3)))
    found.opt.timestep = 1.0 / (rate * substeps)
    return found, substeps


def lag(model: mujoco.MjModel) -> float:
    """Return by how much the rates of a model's states are earlier than their positions, s.

    Semi-implicit steps, q' = q + h v', make v' the slope half a step before q'; those of Runge
    and Kutta do not.

    >>> lag(mujoco.MjModel.from_xml_string("<mujoco/>"))
    0.001
    """
    late = model.opt.integrator != int(mujoco.mjtIntegrator.mjINT_RK4)
    return 0.5 * float(model.opt.timestep) if late else 0.0
