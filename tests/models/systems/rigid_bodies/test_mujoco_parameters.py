"""Numbers by name: what is set is what MuJoCo reads, and what there is not is answered."""

import copy

import mujoco
import numpy as np
import pytest

from ricochet.models.systems.rigid_bodies import mujoco_parameters
from tests.models.systems.rigid_bodies import swings

NAMED = {
    "body bob mass": ("mass", "0.8", "0.0105"),
    "body bob inertia y": ("diaginertia", "0.01 0.01 0.001", "0.01 0.0105 0.001"),
    "body bob ipos 2": ("pos", "0 0 -0.3", "0 0 0.0105"),
    "joint hinge damping": ("damping", "0.02", "0.0105"),
    "site tip pos x": ("pos", "0 0 -0.5", "0.0105 0 -0.5"),
}


@pytest.mark.parametrize("words", NAMED)
def test_a_number_that_is_set_makes_the_model_that_its_xml_makes(words: str) -> None:
    attribute, before, after = NAMED[words]
    text = swings.ROD.format(integrator="Euler")
    assert f'{attribute}="{before}"' in text
    changed = text.replace(f'{attribute}="{before}"', f'{attribute}="{after}"')
    expected, model = mujoco.MjModel.from_xml_string(changed), swings.rod()
    place = mujoco_parameters.find(model, words)
    mujoco_parameters.assign(model, mujoco.MjData(model), [place], np.array([0.0105]))
    np.testing.assert_allclose(mujoco_parameters.read(model, [place]), [0.0105])
    for field in ("body_mass", "body_inertia", "body_ipos", "dof_damping", "site_pos", "dof_M0",
                  "body_subtreemass", "dof_invweight0"):  # fmt: skip
        np.testing.assert_allclose(getattr(model, field), getattr(expected, field), atol=1e-12)


@pytest.mark.parametrize("words", [each for each in mujoco_parameters.QUANTITIES])
def test_every_quantity_is_set_and_read_where_it_is_and_on_a_copy_alone(words: str) -> None:
    text = swings.CART.replace(
        "</mujoco>",
        "<tendon><fixed name='cord'><joint joint='slide' coef='1'/></fixed></tendon></mujoco>",
    )
    model = mujoco.MjModel.from_xml_string(text)
    kind, _, quantity = words.partition(" ")
    name = {"body": "bob", "joint": "hinge", "geom": "box", "site": "tip", "tendon": "cord",
            "actuator": "push"}.get(kind, "")  # fmt: skip
    found = mujoco_parameters.QUANTITIES[words]
    which = " 1" if found.numbers > 1 else ""
    place = mujoco_parameters.find(model, f"{kind} {name} {quantity}{which}")
    changed, before = copy.copy(model), mujoco_parameters.read(model, [place])
    mujoco_parameters.assign(changed, mujoco.MjData(changed), [place], before + 0.125)
    assert mujoco_parameters.read(changed, [place]) == before + 0.125
    assert mujoco_parameters.read(model, [place]) == before


UNKNOWN = {
    "bdy bob mass": "body, joint, geom, site, tendon, actuator, option first; did you mean body?",
    "body bob mas": "mass, inertia, ipos, pos of a body; did you mean mass?",
    "body bobb mass": "a body of the model; did you mean bob?",
    "tendon cord damping": "a tendon of the model; it has none with a name",
    "body mass": "a body of the model; it has world, cart, bob",
    "body bob pos": "x, y or z after it",
    "body bob pos 3": "a number from 0 to 2",
    "option earth gravity z": "no name between",
    "": "body, joint",
}


@pytest.mark.parametrize("words", UNKNOWN)
def test_what_there_is_not_is_answered_by_what_there_is(words: str) -> None:
    with pytest.raises(ValueError, match="expected") as error:
        mujoco_parameters.find(swings.cart(), words)
    assert UNKNOWN[words] in str(error.value)
    assert repr(words) in str(error.value)
