"""The room: a still front is one convolution, and what moves arrives as far as it is."""

import numpy as np
import pytest
from scipy import signal

from ricochet.hardware.twins.drawers.generator import drawers, rooms
from ricochet.hardware.twins.drawers.generator.rooms import NODE, RATE
from ricochet.models.sound import room_acoustics
from ricochet.models.sound.room_acoustics import Room

NAME, FAN = "kitchen-small", (0.4, -1.3, 1.4)


@pytest.fixture(scope="module")
def room() -> rooms.Responses:
    return rooms.responses(NAME, "ring-4", "side", 0.2, FAN)


def response(place: np.ndarray) -> list[np.ndarray]:
    """The room's responses to one place, by image sources, without their lag."""
    found, lag = room_acoustics.responses(
        place[None],
        microphones=rooms.ring("ring-4", "side"),
        room=Room(rooms.ROOM, rooms.ORIGIN, 0.2, 12),
    )
    return [channel[0][lag:] for channel in found]


@pytest.mark.parametrize("node", [0, 40, 40.25])
def test_a_front_that_rests_sounds_as_its_response_says(room: rooms.Responses, node: float) -> None:
    draw = np.random.default_rng(1)
    front = draw.standard_normal(6000)
    heard = rooms.heard(front, np.zeros((3, 6000)), np.full(6000, node * NODE), room)
    low, share = int(node), node - int(node)
    for channel in range(4):
        expected = np.zeros(6000)
        for at, weight in ((low, 1.0 - share), (low + 1, share)):
            one = response(np.array([at * NODE, 0.0, 0.0]))[channel]
            expected += weight * signal.fftconvolve(front, one)[:6000]
        assert heard[channel] == pytest.approx(expected, abs=1e-4 * np.abs(expected).max())


def test_rails_and_fan_stay_where_they_are(room: rooms.Responses) -> None:
    draw = np.random.default_rng(2)
    fixed = draw.standard_normal((3, 5000))
    heard = rooms.heard(np.zeros(5000), fixed, np.linspace(0.0, 0.2, 5000), room)
    places = np.vstack([drawers.rail_places(drawers.DRAWERS[NAME]), np.array([FAN])])
    expected = sum(
        signal.fftconvolve(sound, response(place)[1])[:5000]
        for sound, place in zip(fixed, places, strict=True)
    )
    assert heard[1] == pytest.approx(expected, abs=1e-4 * np.abs(expected).max())


def test_the_front_is_nearer_to_a_microphone_by_what_it_has_moved() -> None:
    """Direct sound of a click, from two openings: their delay is the distance over c."""
    dry = rooms.responses(NAME, "ring-4", "front", 0.1, FAN)
    microphones, found = rooms.ring("ring-4", "front"), []
    for opening in (0.0, 0.2):
        click = np.zeros(2000)
        click[100] = 1.0
        heard = rooms.heard(click, np.zeros((3, 2000)), np.full(2000, opening), dry)[0]
        distance = np.linalg.norm(microphones.positions[0] - np.array([opening, 0.0, 0.0]))
        found.append(np.argmax(np.abs(heard)) - distance / microphones.speed_of_sound * RATE)
    assert found[0] == pytest.approx(found[1], abs=1.0)
