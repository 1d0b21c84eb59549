"""What a step of the shooting agent costs: processor time per 20 ms period, and where it goes.

    OMP_NUM_THREADS=1 python -m benchmarks.air_hockey.steps PACKAGE [--shots 25]

PACKAGE is the folder of a policy (with `shooting.json`). The sets of shots are pucks at rest in
airflow and noise, and the challenge's moving pucks, with nobody in goal and at the opponent that
sweeps. Steps count until the strike, as in the study of shooting; what is read is the process's own
time, so that other work on the machine does not count. Beside the whole agent stands one that plays
the energy's angle unchecked, which no chance constraint holds. Then the mean time of each part of a
step, and what the shots came to, by which faster code can be compared with slower.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ricochet.models.systems.air_hockey import shot_outcome, simulator
from ricochet.models.systems.air_hockey.agent import ShootingAgent
from ricochet.models.systems.air_hockey.challenge_tasks import LONGEST
from ricochet.models.systems.air_hockey.opponent import scripts
from ricochet.models.systems.air_hockey.shot_outcome import Outcome
from ricochet.models.systems.air_hockey.shots.angle_policies import EnergyPolicy
from ricochet.models.systems.air_hockey.simulator import Disturbance
from ricochet.models.systems.air_hockey.strike_plan import StrikeContext
from ricochet.tasks.registry.signatures import UNSIGNED
from ricochet.tasks.systems.air_hockey.policies import agents, packages
from ricochet.tasks.systems.air_hockey.policies.packages import Shooter
from ricochet.tasks.systems.air_hockey.validation import trials
from ricochet.tasks.systems.air_hockey.validation.trials import OPPONENT_STREAM, STREAM, Start

TARGETS = (8.0, 16.0)  # ms, median and 99th percentile
PARTS = ("filter", "opponent", "angle", "contact", "plan", "command", "rest of it")
STILL = Disturbance(airflow=0.0, position_noise=0.0)


@dataclass
class Parts:
    """Processor time by part of a step, s; a part inside another counts for the inner one."""

    spent: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))
    inner: list[float] = field(default_factory=lambda: [0.0])

    def timed(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """Return the same function, with its time noted."""

        def run(*args: Any, **kwargs: Any) -> Any:
            began = time.process_time()
            self.inner.append(0.0)
            try:
                return work(*args, **kwargs)
            finally:
                whole = time.process_time() - began
                self.spent[name] += whole - self.inner.pop()
                self.inner[-1] += whole

        return run


@dataclass(frozen=True)
class Measured:
    """Times of steps until the strike, s, of parts, and what came of the shots."""

    steps: np.ndarray
    parts: dict[str, float]
    outcomes: list[Outcome]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path, help="folder with shooting.json")
    parser.add_argument("--shots", type=int, default=25, help="of each set")
    args = parser.parse_args()
    shooter = packages.read(args.package, key=UNSIGNED)
    sets = {
        "at rest": (trials.starts(args.shots, seed=5), Disturbance()),
        "moving alone": (trials.task_starts("hit", args.shots, seed=6), STILL),
        "moving, sweep": (trials.task_starts("hit", args.shots, seed=7, opponent="sweep"), STILL),
    }
    who = {"whole": agents.make(shooter), "energy": energy_alone(shooter)}
    found = {
        (name, row): measure(agent, *chosen)
        for name, chosen in sets.items()
        for row, agent in who.items()
    }
    print_times(found)
    print_parts({name: found[name, "whole"] for name in sets})
    print_outcomes(found)


def energy_alone(shooter: Shooter) -> ShootingAgent:
    """Return an agent that plays the energy's angle as it is."""
    policy = EnergyPolicy(shooter.energy, shooter.low, shooter.high)
    context = StrikeContext(shooter.modes, shooter.strokes, policy, shooter.table, agents.NOISE)
    return ShootingAgent(context)


def measure(agent: ShootingAgent, begun: Sequence[Start], disturbance: Disturbance) -> Measured:
    """Play shots and time every step until the strike."""
    parts, steps, outcomes = Parts(), [], []
    for start in begun:
        spent, outcome = play(agent, start, disturbance, parts)
        steps.append(spent[: round(outcome.struck / 0.02) if outcome.struck > 0.0 else None])
        outcomes.append(outcome)
    total = {name: spent / sum(parts.spent.values()) for name, spent in parts.spent.items()}
    return Measured(np.concatenate(steps), total, outcomes)


def play(
    agent: ShootingAgent, start: Start, disturbance: Disturbance, parts: Parts
) -> tuple[list[float], Outcome]:
    """Play one shot as `trials.play_one` does; return the processor time of each step."""
    draws = [np.random.default_rng((*start.seed, each)) for each in (STREAM, OPPONENT_STREAM)]
    episode, seen = simulator.reset(
        simulator.build(),
        puck=np.array(start.puck),
        disturbance=disturbance,
        draw=draws[0],
        opponent=scripts.make(start.opponent, draws[1]),
    )
    agent.reset()
    draw_action = instrumented(agent, parts)
    steps: list[float] = []
    while len(steps) * 0.02 < LONGEST and not shot_outcome.over(episode):
        began = time.process_time()
        command = draw_action(seen)
        steps.append(time.process_time() - began)
        seen = simulator.step(episode, command)
    return steps, shot_outcome.outcome(episode)


def instrumented(agent: ShootingAgent, parts: Parts) -> Callable[..., Any]:
    """Return the agent's step, with the time of its parts noted for this episode."""
    watch, arm, context = agent._table, agent._arm, agent._context
    places: list[tuple[Any, str, str]] = [
        (watch, "update", "filter"),
        (watch.opponent, "update", "opponent"),
        (arm, "plan", "plan"),
        (arm, "least_time", "plan"),
        (arm, "follow", "command"),
    ]
    for holder, method, name in places:
        setattr(holder, method, parts.timed(name, getattr(holder, method)))
    for holder, methods, name in (
        (context.policy, ("choose", "better_angle", "rank"), "angle"),
        (context.strokes, ("contact",), "contact"),
    ):
        for method in methods:
            object.__setattr__(
                holder, method, parts.timed(name, getattr(type(holder), method).__get__(holder))
            )
    return parts.timed("rest of it", agent.draw_action)


def print_times(found: dict[tuple[str, str], Measured]) -> None:
    """Print times of steps."""
    head = "".join(f"{name:>9s}" for name in ("steps", "median", "p90", "p99", "max"))
    print(f"{'ms of processor time':34s}{head}")
    for (name, row), each in found.items():
        times = 1e3 * np.quantile(each.steps, (0.5, 0.9, 0.99, 1.0))
        numbers = "".join(f"{value:9.1f}" for value in times)
        verdict = "met" if times[0] <= TARGETS[0] and times[2] <= TARGETS[1] else "MISSED"
        print(f"{name:16s}{row:18s}{len(each.steps):9d}{numbers}  {verdict}")
    print(f"targets: median {TARGETS[0]:g}, p99 {TARGETS[1]:g}\n")


def print_parts(found: dict[str, Measured]) -> None:
    """Print the shares of the parts of a step."""
    print(f"{'share of all steps':20s}" + "".join(f"{name:>12s}" for name in PARTS))
    for name, each in found.items():
        print(f"{name:20s}" + "".join(f"{each.parts[part]:12.2f}" for part in PARTS))
    print()


def print_outcomes(found: dict[tuple[str, str], Measured]) -> None:
    """Print what the shots came to."""
    print(f"{'outcomes':34s}{'shots':>9s}{'goals':>9s}{'m/s':>9s}{'struck, s':>11s}{'broken':>9s}")
    for (name, row), each in found.items():
        goals = [one for one in each.outcomes if one.scored]
        speed = np.mean([one.speed_at_line for one in goals]) if goals else np.nan
        struck = np.nanmean([one.struck for one in each.outcomes])
        broken = sum(bool(one.violations) for one in each.outcomes)
        numbers = f"{len(each.outcomes):9d}{len(goals):9d}{speed:9.3f}{struck:11.3f}{broken:9d}"
        print(f"{name:16s}{row:18s}{numbers}")


if __name__ == "__main__":
    main()
