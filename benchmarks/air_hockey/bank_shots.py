"""Whether shots score as often as predicted, banks above all.

Run by `python -m benchmarks.air_hockey.bank_shots`.

For drawn pucks the best shot of each is thrown on the simulated table several times, the puck
alone: its velocity after the strike is drawn from the model, rims and floating are MuJoCo's.
Printed by banks: how many shots, the predicted chance, the share that scored, the Brier score (and
that of always predicting that share) and the reliability (mean square of predicted less scored, by
tenths of the prediction); once with one law for every bank, once with the laws of a first bank.

Modes are fitted to the 100 episodes of 50 periods that a training records, or with `--package` they
and the arm are a package's; otherwise the arm is that of the tests.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
from numpy import ndarray

from ricochet.models.systems.air_hockey import simulator
from ricochet.models.systems.air_hockey.puck import dataset, mode_fitting
from ricochet.models.systems.air_hockey.shots import crossings, objective
from ricochet.models.systems.air_hockey.shots.objective import Conditions, Setting
from ricochet.models.systems.air_hockey.simulator import Disturbance
from ricochet.tasks.registry.signatures import UNSIGNED
from ricochet.tasks.systems.air_hockey.policies import packages
from tests.oracles import hockey_modes

LONGEST = 4000  # ms
AIM = 0.002  # m, of each axis
Throws = tuple[ndarray, ndarray, ndarray]
"""Banks and predicted chance, shape (shot,), and whether each throw scored, (shot, throw)."""


def alone() -> mujoco.MjModel:
    """Return the table and its puck, without the arm and the opponent."""
    root = ElementTree.parse(simulator.SCENE).getroot()
    world = root.find("worldbody")
    assert world is not None
    for body in [each for each in world.findall("body") if each.get("name") != "puck"]:
        world.remove(body)
    return mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))


def scores(model: mujoco.MjModel, data: mujoco.MjData, state: ndarray, length: float) -> bool:
    """Throw a puck; whether it passes the goal line, at `length`, cleanly."""
    mujoco.mj_resetData(model, data)
    data.qpos[:2], data.qvel[:2] = state[:2], state[2:4]
    data.qfrc_applied[:2] = float(model.body("puck").mass[0]) * state[4:6]
    for _ in range(LONGEST):
        mujoco.mj_step(model, data)
        if data.qvel[0] < 0.0:
            return False
        if data.qpos[0] >= length:
            y = data.qpos[1] - (data.qpos[0] - length) / data.qvel[0] * data.qvel[1]
            return bool(abs(y) < hockey_modes.CONDITIONS.table.clean_half_width)
    return False


def thrown(conditions: Conditions, setting: Setting, *, pucks: int, throws: int) -> Throws:
    """Choose the best shot of drawn pucks and throw each."""
    draw, modes, table = np.random.default_rng(7), conditions.modes, conditions.table
    states = objective.draw_states(pucks, airflow_sd=modes.airflow_sd, draw=draw)
    angles = objective.draw_angles(pucks, 200, draw=draw)
    found = objective.exhaustive(conditions, states, angles)
    index = objective.best(setting, found)
    chosen = objective.take(found, index)
    played = np.flatnonzero(chosen.goal > 0.0)
    normal, speed = objective.contact(conditions, states, angles[np.arange(pucks), index])
    mean, spread = objective.launched(conditions, states, normal, speed)
    model = alone()
    data = mujoco.MjData(model)
    won = [
        [scores(model, data, s, table.half_length) for s in row]
        for row in (draw.multivariate_normal(mean[k], spread[k], throws) for k in played)
    ]
    return chosen.banks[played], chosen.goal[played], np.array(won)


def line(name: str, predicted: ndarray, won: ndarray) -> None:
    """Print a row."""
    share, brier = won.mean(), ((predicted[:, None] - won) ** 2).mean()
    tenths = np.minimum((10.0 * predicted).astype(int), 9)
    off = [
        (tenths == k).mean() * (predicted[tenths == k].mean() - won[tenths == k].mean()) ** 2
        for k in np.unique(tenths)
    ]
    numbers = (predicted.mean(), share, brier, share * (1.0 - share), sum(off))
    print(f"{name:24s}{len(predicted):7d}" + "".join(f"{number:11.3f}" for number in numbers))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", type=Path)
    parser.add_argument("--pucks", type=int, default=500)
    parser.add_argument("--throws", type=int, default=10)
    options = parser.parse_args()
    if options.package is None:
        recording = dataset.collect(
            simulator.build(), disturbance=Disturbance(), draw=np.random.default_rng(11)
        )
        modes = mode_fitting.fit(recording, hockey_modes.CONDITIONS.table)
        conditions = replace(hockey_modes.CONDITIONS, modes=modes)
    else:
        conditions = packages.read(options.package, key=UNSIGNED).conditions(aim=AIM)
    head = ("predicted", "scored", "Brier", "constant's", "reliability")
    print(f"{'law, banks':24s}{'shots':>7s}" + "".join(f"{name:>11s}" for name in head))
    for name, rebounds in (("one law", ()), ("two laws", conditions.modes.rebounds)):
        given = replace(conditions, modes=replace(conditions.modes, rebounds=rebounds))
        counts = {"pucks": options.pucks, "throws": options.throws}
        banks, goal, won = thrown(given, objective.SETTINGS[-1], **counts)
        for number in range(crossings.MOST_BANKS + 1):
            if (banks == number).any():
                line(f"{name}, {number}", goal[banks == number], won[banks == number])


if __name__ == "__main__":
    main()
