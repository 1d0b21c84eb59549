"""MuJoCo's motions: its own steps, a rod's equation, derivatives by other differences."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
import torch
from scipy.integrate import solve_ivp

from ricochet.models.inference.limits import Limits, Shares
from ricochet.models.systems.rigid_bodies import mujoco_motion, mujoco_parameters
from ricochet.models.systems.rigid_bodies.mujoco_motion import MujocoSimulator
from tests.models.systems.rigid_bodies import swings


def stepped_by_hand(theta: np.ndarray, start: np.ndarray, controls: np.ndarray) -> np.ndarray:
    """MuJoCo's own steps of one cart, two to a frame."""
    model = swings.cart()
    data = mujoco.MjData(model)
    places = [mujoco_parameters.find(model, each) for each in swings.OF_CART]
    mujoco_parameters.assign(model, data, places, theta)
    data.qpos[:], data.qvel[:] = start[:2], start[2:]
    found = []
    for control in controls:
        data.ctrl[:] = control
        for _ in range(2):
            mujoco.mj_step(model, data)
        found.append(np.concatenate((data.qpos, data.qvel)))
    return np.array(found)


def test_states_are_those_of_mujocos_own_steps() -> None:
    theta, starts, controls = swings.some(3, 2)
    states = swings.simulator(controls)(theta, starts, steps=3).states
    expected = [
        [stepped_by_hand(*each) for each in zip([one] * 2, some, controls, strict=True)]
        for one, some in zip(theta[:, 0].numpy(), starts.numpy(), strict=True)
    ]
    np.testing.assert_allclose(states, expected, rtol=1e-12, atol=1e-12)


def test_a_rod_moves_by_its_equation() -> None:
    """(I + m l^2) a'' = -d a' - m g l sin a, by Runge and Kutta; damping is the parameter."""
    model = swings.rod("RK4")
    places = (mujoco_parameters.find(model, "joint hinge damping"),)
    limits = Limits(torch.zeros(1).double(), torch.ones(1).double())
    none = torch.empty(1, 20, 0).double()
    simulate = MujocoSimulator(model, places, Shares(limits), 20, none)
    start, damping = torch.tensor([[[1.0, -2.0]]]).double(), 0.05
    states = simulate(torch.full((1, 1, 1), damping).double(), start, steps=20).states[0, 0]
    inertia, moment = 0.01 + 0.8 * 0.3**2, 0.8 * 0.3 * 9.81

    def slopes(_: float, state: np.ndarray) -> np.ndarray:
        return np.array((state[1], -(damping * state[1] + moment * np.sin(state[0])) / inertia))

    times = 0.02 * np.arange(1, 21)
    exact = solve_ivp(slopes, (0.0, 0.4), (1.0, -2.0), t_eval=times, rtol=1e-11, atol=1e-12).y.T
    np.testing.assert_allclose(states, exact, atol=1e-8)


def test_derivatives_are_those_of_a_model_that_varies_by_other_steps() -> None:
    theta, starts, controls = swings.some(2, 2)
    simulate = swings.simulator(controls)
    motion = simulate(theta, starts, steps=3)
    found = motion.jacobian()
    for number, size in enumerate((1e-3, 1e-2, 1e-5, 1e-3)):
        step = torch.zeros(4).double()
        step[number] = size * 0.5
        ends = [simulate(theta + sign * step, starts, steps=3).states for sign in (1.0, -1.0)]
        slope = (ends[0] - ends[1]) / size
        torch.testing.assert_close(found.by_parameter[..., number], slope, rtol=2e-3, atol=1e-6)
    for number in range(4):
        step = torch.zeros(4).double()
        step[number] = 1e-3
        ends = [simulate(theta, starts + sign * step, steps=3).states for sign in (1.0, -1.0)]
        slope = (ends[0] - ends[1]) / 2e-3
        torch.testing.assert_close(found.by_start[..., number], slope, rtol=1e-4, atol=1e-5)


def test_one_step_has_the_derivatives_that_mujoco_finds() -> None:
    theta, starts, controls = swings.some(1, 1)
    found = swings.simulator(controls, rate=200.0)(theta, starts, steps=1).jacobian()
    model = swings.cart()
    data = mujoco.MjData(model)
    places = [mujoco_parameters.find(model, each) for each in swings.OF_CART]
    mujoco_parameters.assign(model, data, places, theta[0, 0].numpy())
    data.qpos[:], data.qvel[:] = starts[0, 0, :2], starts[0, 0, 2:]
    data.ctrl[:] = controls[0, 0]
    expected = np.zeros((4, 4))
    mujoco.mjd_transitionFD(model, data, 1e-6, 1, expected, None, None, None)
    np.testing.assert_allclose(found.by_start[0, 0, 0], expected, rtol=1e-6, atol=1e-7)


def test_near_a_limit_differences_stay_within_it() -> None:
    """A damping of 0 is a limit: nothing is simulated below it."""
    model = swings.cart()
    places = (mujoco_parameters.find(model, "joint hinge damping"),)
    limits = Limits(torch.zeros(1).double(), torch.ones(1).double())
    none = torch.zeros(1, 3, 1).double()
    simulate = MujocoSimulator(model, places, Shares(limits), 2, none)
    start = torch.tensor([[[0.0, 0.5, 0.0, 1.0]]]).double()
    at, beside = (
        simulate(torch.full((1, 1, 1), value).double(), start, steps=3).jacobian().by_parameter
        for value in (0.0, 1e-3)
    )
    assert bool(torch.isfinite(at).all())
    torch.testing.assert_close(at, beside, rtol=2e-2, atol=1e-6)


def test_a_batch_is_its_members_and_threads_change_nothing() -> None:
    theta, starts, controls = swings.some(20, 3)  # more than the models side by side
    motion = swings.simulator(controls, threads=2)(theta, starts, steps=3)
    for particle in (0, 7, 19):
        alone = swings.simulator(controls)(
            theta[particle : particle + 1], starts[particle : particle + 1], steps=3
        )
        assert torch.equal(alone.states[0], motion.states[particle])
    for window in range(3):
        one = swings.simulator(controls[window : window + 1])
        alone = one(theta, starts[:, window : window + 1], steps=3)
        assert torch.equal(alone.states[:, 0], motion.states[:, window])


def test_states_are_the_same_however_many_are_simulated_side_by_side(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theta, starts, controls = swings.some(20, 3)
    whole = swings.simulator(controls)(theta, starts, steps=3).states
    monkeypatch.setattr(mujoco_motion, "NUMBERS", 1)
    assert torch.equal(swings.simulator(controls)(theta, starts, steps=3).states, whole)


def test_windows_may_stand_in_any_order_with_their_controls() -> None:
    theta, starts, controls = swings.some(2, 3)
    order = [2, 0, 1]
    there = swings.simulator(controls)(theta, starts, steps=3).jacobian()
    turned = swings.simulator(controls[order])(theta, starts[:, order], steps=3).jacobian()
    assert torch.equal(there.by_start[:, order], turned.by_start)
    assert torch.equal(there.by_parameter[:, order], turned.by_parameter)


def test_a_gradient_is_the_jacobian_times_weights() -> None:
    theta, starts, controls = swings.some(2, 2)
    motion = swings.simulator(controls)(theta, starts, steps=3)
    weights = torch.from_numpy(np.random.default_rng(1).normal(size=motion.states.shape))
    by_start, by_parameter = motion.gradient(weights)
    found = motion.jacobian()
    torch.testing.assert_close(
        by_start[1, 0], torch.einsum("ts,tsn->n", weights[1, 0], found.by_start[1, 0])
    )
    assert by_parameter.shape == (2, 2, 4)


def test_what_is_beyond_all_measure_is_no_number_and_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    theta, starts, controls = swings.some(1, 3)
    starts[0, 1, 2], starts[0, 2, 0] = 1e9, torch.nan
    states = swings.simulator(controls)(theta, starts, steps=3).states[0]
    assert bool(torch.isfinite(states[0]).all())
    assert bool(torch.isnan(states[2]).all())
    assert bool(torch.isnan(states[1]).all())
    assert list(tmp_path.iterdir()) == []
    assert mujoco.get_mju_user_warning() is None
    assert swings.simulator(controls)(theta[:0], starts[:0], steps=3).states.shape == (0, 3, 3, 4)


def test_steps_divide_a_frame() -> None:
    model, substeps = mujoco_motion.stepped(swings.cart(), 100.0)
    assert (substeps, model.opt.timestep) == (2, pytest.approx(0.005))
    model, substeps = mujoco_motion.stepped(swings.cart(), 99.98)
    assert (substeps, substeps * model.opt.timestep) == (2, pytest.approx(1.0 / 99.98))
    model, substeps = mujoco_motion.stepped(swings.cart(), 1000.0)
    assert (substeps, model.opt.timestep) == (1, pytest.approx(1e-3))
    assert mujoco_motion.stepped(swings.cart(), 0.2)[1] == 1000


@pytest.mark.parametrize("step", [4.9e-6, 1e-9, 1e-320, 0.0, -1.0, float("nan")])
def test_steps_without_end_are_refused(step: float) -> None:
    model = swings.cart()
    model.opt.timestep = step
    with pytest.raises(ValueError, match=r"steps of .* s, expected at most 1000 steps"):
        mujoco_motion.stepped(model, 200.0)


REFUSED = {
    "a free joint": ("<freejoint name='f'/>", "", "a free or a ball joint"),
    "a ball joint": ("<joint name='b' type='ball'/>", "", "a free or a ball joint"),
    "a joint without a name": ("<joint/>", "", "a joint without a name"),
    "an actuator without a name": (
        "<joint name='j'/>", "<actuator><motor joint='j'/></actuator>", "an actuator without"
    ),
    "activation": (
        "<joint name='j'/>",
        "<actuator><general name='a' joint='j' dyntype='filter'/></actuator>",
        "activations",
    ),
}  # fmt: skip


@pytest.mark.parametrize("joint, more, words", REFUSED.values(), ids=REFUSED)
def test_models_whose_state_is_not_recorded_are_refused(joint: str, more: str, words: str) -> None:
    body = f"<body>{joint}<geom size='0.1'/></body>"
    xml = f"<mujoco><worldbody>{body}</worldbody>{more}</mujoco>"
    reason = mujoco_motion.refused(mujoco.MjModel.from_xml_string(xml))
    assert reason is not None
    assert reason.startswith(words)
    assert ", expected " in reason
    assert mujoco_motion.refused(swings.cart()) is None
