"""MuJoCo models of tests: a rod on a hinge, and a cart on a spring that carries one."""

import mujoco
import numpy as np
import torch

from ricochet.models.inference.limits import Limits, Shares
from ricochet.models.systems.rigid_bodies import mujoco_motion, mujoco_parameters
from ricochet.models.systems.rigid_bodies.mujoco_motion import MujocoSimulator

ROD = """<mujoco><option timestep="0.001" integrator="{integrator}"/><worldbody><body name="bob">
<joint name="hinge" axis="0 1 0" damping="0.02"/>
<inertial pos="0 0 -0.3" mass="0.8" diaginertia="0.01 0.01 0.001"/>
<site name="tip" pos="0 0 -0.5"/></body></worldbody></mujoco>"""

CART = """<mujoco><option timestep="0.005"/><worldbody><body name="cart">
<joint name="slide" type="slide" axis="1 0 0" damping="0.8" stiffness="40"/>
<geom name="box" type="box" size="0.1 0.05 0.05" mass="1.2"/><site name="front" pos="0.1 0 0"/>
<body name="bob"><joint name="hinge" axis="0 1 0" damping="0.01" frictionloss="0.0"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.02" mass="0.3"/>
<site name="tip" pos="0 0 -0.4"/></body></body></worldbody>
<actuator><motor name="push" joint="slide"/></actuator></mujoco>"""

OF_CART = ("body cart mass", "joint slide stiffness", "joint hinge damping", "option gravity z")
TRUTH = (1.2, 40.0, 0.01, -9.81)
LOW, HIGH = (0.5, 5.0, 1e-4, -12.0), (3.0, 100.0, 1.0, -8.0)


def rod(integrator: str = "Euler") -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(ROD.format(integrator=integrator))


def cart() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(CART)


def simulator(
    controls: np.ndarray, rate: float = 100.0, threads: int = 0, of: tuple[str, ...] = OF_CART
) -> MujocoSimulator:
    """Of carts, their hinges' damping of unknown magnitude."""
    stepped, substeps = mujoco_motion.stepped(cart(), rate)
    places = tuple(mujoco_parameters.find(stepped, each) for each in of)
    limits = Limits(torch.tensor(LOW).double(), torch.tensor(HIGH).double())
    shares = Shares(limits, torch.tensor([False, False, True, False]))
    acting = torch.from_numpy(controls)
    return MujocoSimulator(stepped, places, shares, substeps, acting, threads)


def some(particles: int, windows: int) -> tuple[torch.Tensor, torch.Tensor, np.ndarray]:
    """Parameters, starts and controls of three frames."""
    draw = np.random.default_rng(0)
    share = torch.from_numpy(draw.uniform(0.2, 0.8, (particles, 1, 4)))
    theta = simulator(np.zeros((1, 3, 1))).shares.parameters(share)
    starts = torch.from_numpy(draw.normal(size=(particles, windows, 4)))
    return theta, starts, draw.normal(size=(windows, 3, 1))
