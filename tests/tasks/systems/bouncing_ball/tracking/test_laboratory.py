"""The settings open the laboratory they describe, and refuse what cannot be."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball.balls import BALLS
from ricochet.models.systems.bouncing_ball.tracking.workspace import Workspace
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball import sample
from ricochet.tasks.systems.bouncing_ball.settings import Tosses
from ricochet.tasks.systems.bouncing_ball.tracking import laboratory

LOADED = catalogue.load_settings()


def opened(seed=1, name="tennis", **changes):
    return laboratory.open_laboratory(
        LOADED.changed(Tosses, **changes), ball=BALLS[name], seed=seed
    )


def test_the_settings_open_a_laboratory_whose_tosses_hang_on_seed_and_ball():
    def first(*arguments, **changes):
        twin = opened(*arguments, **changes)
        twin.toss()
        return twin.truth_for_evaluation()

    one, again, other = first(1), first(1, occlusion=0.0), first(2)
    np.testing.assert_array_equal(one.toss.positions, again.toss.positions)
    assert one.toss.times[0] != other.toss.times[0]
    assert one.toss.ball.name == "tennis" and (again.blocked.channels == -1).all()


def test_each_ball_is_looked_ahead_as_far_as_stated():
    assert laboratory.look_ahead(LOADED[Tosses], "ping-pong") == 4
    assert laboratory.look_ahead(LOADED[Tosses], "moon ball") == 2
    assert laboratory.look_ahead(LOADED[Tosses], "real ping-pong") == 4


def test_a_pair_names_a_ball_with_the_nature_that_its_surface_gives():
    table, asphalt = (sample.TRUTHS[name] for name in ("moon-ball-table", "ping-pong-asphalt"))
    assert table == BALLS["moon ball"]
    assert asphalt.radius == BALLS["ping-pong"].radius
    assert asphalt.log10_concentration < BALLS["ping-pong"].log10_concentration


@pytest.mark.parametrize("numbers", [[4, 3], [4, 3, 0], [4, 3, 2.5], [4, 3, True]])
def test_a_look_ahead_that_is_not_one_number_a_ball_is_bad_input(numbers):
    with pytest.raises(BadInput, match=r"toss\.look_ahead.*3 whole numbers"):
        laboratory.look_ahead(replace(LOADED[Tosses], look_ahead=numbers), "tennis")


def test_an_unknown_ball_and_detours_out_of_order_are_bad_input():
    with pytest.raises(BadInput, match="one of ping-pong, tennis, moon ball"):
        laboratory.look_ahead(LOADED[Tosses], "medicine ball")
    with pytest.raises(BadInput, match=r"toss\.longest_detour.*at least"):
        opened(longest_detour=0.01)


def test_the_paddle_waits_where_the_settings_say():
    assert laboratory.workspace(LOADED[Tosses]) == Workspace()
    chosen = catalogue.load_settings(overrides=["toss.home=[0, 0.10]"])[Tosses]
    assert laboratory.workspace(chosen) == Workspace(home=(0.0, 0.10))


def test_a_paddle_that_waits_outside_its_workspace_is_bad_input():
    chosen = catalogue.load_settings(overrides=["toss.home=[0, 0.51]"])[Tosses]
    with pytest.raises(BadInput, match=r"toss\.home: found .* expected y in"):
        laboratory.workspace(chosen)


@pytest.mark.parametrize("home", ["[0.0]", "[.nan, 0.1]", "[true, 0.1]", "[a, 0.1]"])
def test_a_paddle_that_waits_at_no_place_is_bad_input(home):
    with pytest.raises(BadInput, match=r"toss\.home.* found .* expected a list of 2"):
        catalogue.load_settings(overrides=[f"toss.home={home}"])
