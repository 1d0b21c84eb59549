"""The agent: in closed loop on the simulated table, and against everything that goes wrong."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from numpy import ndarray

from ricochet.models.arms import iiwa
from ricochet.models.systems.air_hockey import shot_outcome, simulator
from ricochet.models.systems.air_hockey.agent import Phase, ShootingAgent
from ricochet.models.systems.air_hockey.arm import command_limits
from ricochet.models.systems.air_hockey.arm.plan import Plan
from ricochet.models.systems.air_hockey.arm.stroke_table import Stroke, Strokes
from ricochet.models.systems.air_hockey.interface import (
    JOINT_SPEEDS,
    JOINTS,
    OPPONENT,
    PERIOD,
    PUCK,
)
from ricochet.models.systems.air_hockey.opponent.scripts import Opponent, Sweep
from ricochet.models.systems.air_hockey.shot_outcome import Outcome
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.shots.angle_policies import (
    Better,
    ExhaustivePolicy,
    NominalPolicy,
)
from ricochet.models.systems.air_hockey.shots.objective import SETTINGS, Conditions, Opposed
from ricochet.models.systems.air_hockey.simulator import CALM, Disturbance
from ricochet.models.systems.air_hockey.strike_choice import Skill
from ricochet.models.systems.air_hockey.strike_plan import StrikeContext
from tests.models.systems.air_hockey.simple_episodes import observation
from tests.oracles.hockey_modes import MODES


@pytest.fixture
def agent(arm: Strokes) -> ShootingAgent:
    policy = NominalPolicy(Conditions(MODES, arm.speed, objective.contact_covariance()))
    return ShootingAgent(StrikeContext(MODES, arm, policy))


@pytest.fixture
def expert(arm: Strokes) -> ShootingAgent:
    """One that rolls out every shot within its period."""
    conditions = Conditions(MODES, arm.speed, objective.contact_covariance())
    return ShootingAgent(StrikeContext(MODES, arm, ExhaustivePolicy(conditions, SETTINGS[0], 81)))


def play(
    agent: ShootingAgent,
    puck: tuple[float, ...],
    disturbance: Disturbance = CALM,
    spoil: Callable[[int, ndarray], ndarray] = lambda period, observed: observed,
    longest: int = 200,
    opponent: Opponent | None = None,
) -> tuple[Outcome, list[ndarray]]:
    """Play an episode; the outcome and all commands."""
    world = simulator.build()
    episode, observed = simulator.reset(
        world,
        puck=np.array((*puck, 0.0, 0.0)[:4]),
        disturbance=disturbance,
        draw=np.random.default_rng(5),
        opponent=opponent,
    )
    agent.reset()
    commands: list[ndarray] = []
    while len(commands) < longest and not shot_outcome.over(episode):
        commands.append(agent.draw_action(spoil(len(commands), observed)))
        observed = simulator.step(episode, commands[-1])
    return shot_outcome.outcome(episode), commands


def hidden(first: int, last: int) -> Callable[[int, ndarray], ndarray]:
    """Hide the puck from one period until another."""

    def spoil(period: int, observed: ndarray) -> ndarray:
        blind = observed.copy()
        blind[PUCK] = np.nan
        return blind if first <= period < last else observed

    return spoil


@pytest.mark.proof
@pytest.mark.parametrize("puck", [(-0.5, 0.0), (-0.52, 0.08), (-0.48, -0.06)])
def test_a_puck_at_rest_is_shot_into_the_goal(
    agent: ShootingAgent, puck: tuple[float, float]
) -> None:
    outcome, commands = play(agent, puck)
    assert outcome.scored
    assert outcome.violations == ()
    assert agent.faults == []
    plan = agent.strike_plans[0]
    assert outcome.mallet_speed == pytest.approx(plan.contact.speed, rel=0.03)
    assert outcome.normal == pytest.approx(plan.angle, abs=0.03)
    moved = np.abs(np.diff([c[0] for c in commands], axis=0)).max(axis=0) / PERIOD
    assert (moved <= iiwa.USABLE * iiwa.SPEED_LIMIT).all()


@pytest.mark.slow
def test_a_drifting_noisy_puck_is_shot_into_the_goal(agent: ShootingAgent) -> None:
    outcome, _ = play(agent, (-0.5, 0.03), Disturbance())
    assert outcome.scored
    assert outcome.violations == ()


@pytest.mark.slow
def test_the_same_episode_gives_the_same_commands(agent: ShootingAgent) -> None:
    _, first = play(agent, (-0.5, 0.0), Disturbance())
    _, again = play(agent, (-0.5, 0.0), Disturbance())
    np.testing.assert_array_equal(first, again)


@pytest.mark.slow
def test_a_puck_lost_for_a_while_is_still_shot(agent: ShootingAgent) -> None:
    outcome, _ = play(agent, (-0.5, 0.0), spoil=hidden(20, 28))
    assert outcome.scored


@pytest.mark.slow
def test_a_puck_lost_for_good_sends_the_arm_home(agent: ShootingAgent) -> None:
    outcome, commands = play(agent, (-0.5, 0.0), spoil=hidden(20, 200))
    assert outcome.strikes == 0
    assert outcome.violations == ()
    assert agent.faults == ["puck: not seen for 15 periods"]
    np.testing.assert_allclose(commands[-1], np.stack((iiwa.HOME, np.zeros(7))), atol=1e-4)


@pytest.mark.proof
def test_the_arm_stays_without_a_shot(agent: ShootingAgent) -> None:
    """And one fault says why."""
    none = "shot: none is known for a puck at"
    reasons = {
        (1.9, 0.3): None,  # it is the other side's
        (0.62, -0.45): f"{none} (-0.89, -0.45) m",
        (np.nan, np.nan): "puck: not seen for 15 periods",
        (9.0, 0.0): "puck: at (7.49, 0.00) m, expected on the table",
    }
    for place, reason in reasons.items():
        agent.reset()
        for _ in range(40):
            command = agent.draw_action(observation(place))
        np.testing.assert_array_equal(command, np.stack((iiwa.HOME, np.zeros(7))))
        assert agent.phase is Phase.WATCH
        assert agent.faults == ([] if reason is None else [reason])


def test_a_puck_off_the_table_is_one_fault(agent: ShootingAgent) -> None:
    for step in range(10):
        agent.draw_action(observation((9.0 + 0.1 * step, 0.0)))
    assert agent.faults == ["puck: at (7.49, 0.00) m, expected on the table"]


@pytest.mark.proof
@pytest.mark.parametrize("period", [25, 40, 55, 66])
@pytest.mark.parametrize("jump", [(0.1, 0.0), (0.25, 0.1), (0.6, 0.2), (-0.3, -0.4)])
def test_a_puck_that_jumps_makes_no_wild_stroke(
    agent: ShootingAgent, jump: tuple[float, float], period: int
) -> None:
    """A hand, a track switched: whatever is planned, no limit of the arm is broken."""

    def spoil(now: int, observed: ndarray) -> ndarray:
        moved = observed.copy()
        moved[:2] += np.array(jump) * (now >= period)
        return moved

    outcome, commands = play(agent, (-0.5, 0.0), spoil=spoil)
    places = np.array([command[0] for command in commands])
    speeds = np.array([command[1] for command in commands])
    bound = iiwa.USABLE * iiwa.SPEED_LIMIT * 1.002
    assert (np.abs(speeds) <= bound).all()
    assert (np.abs(np.diff(places, axis=0)) <= bound * PERIOD).all()
    assert outcome.violations == ()
    assert len(agent.faults) <= 4


@pytest.mark.slow
def test_after_a_puck_was_lost_the_next_stroke_scores(agent: ShootingAgent) -> None:
    outcome, _ = play(agent, (-0.5, 0.0), spoil=hidden(20, 45), longest=350)
    assert agent.faults == ["puck: not seen for 15 periods"]
    assert outcome.scored
    assert outcome.violations == ()


@pytest.mark.slow
def test_a_stroke_that_turns_still_scores(
    agent: ShootingAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, in mid-stroke, the policy returns a better angle."""
    policy, turns = agent._context.policy, []

    def better_angle(
        states: ndarray, *, angle: float, opposed: Opposed | None = None
    ) -> Better | None:
        turns.append(agent._strike.left if agent._strike else np.nan)
        return Better(0, angle + 0.12) if len(turns) == 2 else None

    monkeypatch.setattr(policy, "better_angle", better_angle)
    outcome, _ = play(agent, (-0.5, 0.0))
    assert len(turns) > 3 and min(turns) > 0.3
    assert outcome.scored
    assert outcome.violations == ()
    assert agent.faults == []


def test_no_stroke_begins_without_sound_joints(agent: ShootingAgent) -> None:
    agent.draw_action(observation())
    blind = observation(joints=np.full(7, np.nan))
    for _ in range(40):
        command = agent.draw_action(blind)
    assert agent.phase is Phase.WATCH
    assert agent.faults == ["joints: found NaN, expected finite numbers"]
    np.testing.assert_allclose(command[0], iiwa.HOME, atol=1e-4)


@pytest.mark.parametrize("joints", [np.zeros(7), np.array((0.5, 0.3, 0.0, -1.5, 0.0, 1.0, 0.0))])
def test_a_mallet_off_the_table_is_refused(agent: ShootingAgent, joints: ndarray) -> None:
    with pytest.raises(ValueError, match="off the table"):
        agent.draw_action(observation(joints=joints))


@pytest.mark.slow
def test_joints_that_vanish_or_lag_end_the_stroke(agent: ShootingAgent) -> None:
    def vanish(period: int, observed: ndarray) -> ndarray:
        blind = observed.copy()
        blind[JOINTS.start : JOINT_SPEEDS.stop] = np.nan
        return blind if period >= 25 else observed

    outcome, commands = play(agent, (-0.5, 0.0), spoil=vanish)
    assert agent.faults[0] == "joints: found NaN, expected finite numbers"
    assert outcome.strikes == 0
    assert np.isfinite(commands).all()

    def stuck(period: int, observed: ndarray) -> ndarray:
        held = observed.copy()
        held[JOINTS] = iiwa.HOME
        return held

    outcome, _ = play(agent, (-0.5, 0.0), spoil=stuck)
    assert [line for line in agent.faults if "off the last command" in line]
    assert outcome.violations == ()


@pytest.mark.wrong_types
@pytest.mark.parametrize("bad", [np.zeros(22), np.zeros((23, 1)), np.zeros(0)])
def test_an_observation_of_another_size_is_refused(agent: ShootingAgent, bad: ndarray) -> None:
    with pytest.raises(ValueError, match=r"observation: found shape"):
        agent.draw_action(bad)


@pytest.mark.parametrize("first", [0, 45])
def test_strokes_that_cannot_be_computed_with_have_the_arm_brake_within_its_limits(
    agent: ShootingAgent, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    """Begun at the start, and in the middle of a stroke; said once, and the next episode goes."""
    period = 0
    stroke = Strokes.stroke

    def singular(self: Strokes, where: ndarray) -> Stroke:
        if period >= first:
            raise np.linalg.LinAlgError("Singular\nmatrix")
        return stroke(self, where)

    def count(number: int, observed: ndarray) -> ndarray:
        nonlocal period
        period = number
        return observed

    monkeypatch.setattr(Strokes, "stroke", singular)
    outcome, commands = play(agent, (-0.5, 0.0), spoil=count, longest=150)
    said = [line for line in agent.faults if line.startswith("plan")]
    assert said == ["plan: cannot be computed (LinAlgError, Singular matrix), braking"]
    assert outcome.strikes == 0 and outcome.violations == ()
    for before, after in pairwise(commands):
        assert command_limits.excess(before, after, period=PERIOD) <= 1.0
    np.testing.assert_allclose(commands[-1][1], 0.0, atol=1e-3)
    moved = max(np.abs(each[1]).max() for each in commands)
    assert moved < 1e-3 if first == 0 else moved > 0.1


def test_joints_must_be_finite_at_the_start(agent: ShootingAgent) -> None:
    with pytest.raises(ValueError, match="not finite at the start"):
        agent.draw_action(observation(joints=np.full(7, np.nan)))


@pytest.mark.slow
def test_shortly_before_the_contact_the_last_plan_stands(
    agent: ShootingAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No new plan is possible in the last 0.15 s: the puck is struck all the same."""

    def possible(plan: Plan) -> bool:
        return plan.contact is None or plan.time_left > 0.15

    monkeypatch.setattr(Plan, "possible", property(possible))
    outcome, _ = play(agent, (-0.5, 0.0))
    assert outcome.scored
    assert agent.faults == []


@pytest.mark.proof
@pytest.mark.parametrize("period", [45, 60, 70])
def test_a_new_episode_while_the_arm_moves_goes_on_from_its_motion(
    agent: ShootingAgent, period: int
) -> None:
    """What it observes of its speeds lags by 3 ms, so the step may ask for a little more."""

    def interrupt(now: int, observed: ndarray) -> ndarray:
        if now == period:
            agent.reset()
        return observed

    outcome, commands = play(agent, (-0.5, 0.0), spoil=interrupt, longest=160)
    asked = [
        command_limits.excess(before, after, period=PERIOD) for before, after in pairwise(commands)
    ]
    assert np.abs(commands[period - 1][1]).max() > 0.3
    assert max(asked) < 1.3
    assert outcome.violations == ()


@pytest.mark.proof
@pytest.mark.parametrize("phase", [0.0, 1.5, 3.0])
def test_a_puck_is_shot_past_an_opponent_that_sweeps(expert: ShootingAgent, phase: float) -> None:
    outcome, _ = play(expert, (-0.5, 0.0), longest=300, opponent=Sweep(phase))
    assert outcome.scored and not outcome.blocked
    assert outcome.violations == () and expert.faults == []


@pytest.mark.slow
def test_a_moving_puck_is_met_where_it_will_be(expert: ShootingAgent) -> None:
    """It comes from where no stroke reaches, slowly."""
    outcome, _ = play(expert, (-0.35, -0.12, -0.15, 0.1), longest=300)
    assert outcome.scored and outcome.violations == ()


@pytest.mark.slow
def test_a_puck_that_cannot_be_shot_is_pushed_and_stays_on_this_half(
    expert: ShootingAgent,
) -> None:
    """The policy has no shot until the puck was struck once; the small table may have none then."""
    policy = expert._context.policy
    assert isinstance(policy, ExhaustivePolicy)
    choose = policy.choose

    def after_a_push(state: ndarray, **how: object) -> float | None:
        return choose(state, **how) if expert.strike_plans else None  # type: ignore[arg-type]

    policy.choose = after_a_push  # type: ignore[method-assign, assignment]
    outcome, _ = play(expert, (-0.57, 0.05), longest=450)
    assert expert.strike_plans[0].is_push and expert.strike_plans[0].contact.speed < 0.7
    assert outcome.strikes == len(expert.strike_plans) and outcome.violations == ()
    assert outcome.launch[0] < 0.9 and outcome.ended in ("time", "line")


@pytest.mark.slow
@pytest.mark.parametrize(
    "puck", [(0.5, 0.1, -1.4, -0.1), (0.4, -0.3, -2.2, 0.5), (0.3, 0.3, -2.8, -0.6)]
)
def test_a_fast_puck_is_stopped_in_front_of_the_goal(
    expert: ShootingAgent, puck: tuple[float, ...]
) -> None:
    """And stays on this half, slow, until it is shot."""
    speeds = []
    world = simulator.build()
    draw = np.random.default_rng(5)
    episode, seen = simulator.reset(world, puck=np.array(puck), disturbance=CALM, draw=draw)
    expert.reset()
    while len(speeds) < 150 and not (speeds and speeds[-1] < 0.1):
        seen = simulator.step(episode, expert.draw_action(seen))
        speeds.append(np.hypot(*episode.trace[-1][3:5]))
    assert speeds[-1] < 0.1 and -0.8 < episode.trace[-1][0] <= -0.2
    assert expert.strike_plans[0].is_stop
    assert shot_outcome.outcome(episode).violations == ()


def test_skills_that_an_agent_has_not_are_not_used(arm: Strokes) -> None:
    """A resting puck is neither shot nor pushed by one that stops, nor shot by one that pushes."""
    conditions = Conditions(MODES, arm.speed, objective.contact_covariance())
    policy = ExhaustivePolicy(conditions, SETTINGS[0], 81)
    for skill in (Skill.STOP, Skill.PUSH):
        agent = ShootingAgent(StrikeContext(MODES, arm, policy), skills=frozenset({skill}))
        for _ in range(30):
            agent.draw_action(observation((-0.5 + 1.51, 0.0)))
        assert agent.phase is Phase.WATCH and agent.strike_plans == []


def test_an_opponent_that_vanishes_or_jumps_is_said_once(agent: ShootingAgent) -> None:
    seen = observation((0.62, -0.45))
    for period in range(40):
        now = seen.copy()
        now[OPPONENT] = (2.37, 0.05) if period < 20 else (np.nan, np.nan)
        agent.draw_action(now)
    line = "opponent: not observed, taken to stand at (0.86, 0.05) m"
    assert [fault for fault in agent.faults if fault.startswith("opponent")] == [line]
