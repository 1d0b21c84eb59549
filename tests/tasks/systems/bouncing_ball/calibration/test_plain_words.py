"""The answer in words: numbers that agree with one another, and what several channels are asked."""

from ricochet.tasks.systems.bouncing_ball.calibration import plain_words

AT = {"speed": 2.04, "mean": 0.9, "region_90": [0.88, 0.92]}


def test_energy_and_height_are_the_square_of_the_speed_kept() -> None:
    first, second, third = plain_words.lines({"restitution": {"at_first_bounce": AT}})
    assert "2.0 m/s" in first and "90.0 % of its speed" in first
    assert "between 88.0 % and 92.0 %, nine times out of ten" in first
    assert second.count("81.0 %") == 2 and "(77.4 % to 84.6 %)" in second
    assert "bounces.csv" in third


def test_the_ends_of_a_narrow_interval_are_told_apart() -> None:
    narrow = AT | {"mean": 0.79983, "region_90": [0.79961, 0.80004]}
    first, second, _ = plain_words.lines({"restitution": {"at_first_bounce": narrow}})
    assert "keeps 79.98 % of its speed; between 79.96 % and 80.00 %" in first
    assert "(63.94 % to 64.01 %)" in second
    assert plain_words.shares(narrow) == ["0.7998", "0.7996", "0.8000"]
    assert plain_words.shares(AT) == ["0.900", "0.880", "0.920"]


def test_the_page_that_explains_is_there() -> None:
    import pathlib

    file, heading = plain_words.PAGE.split("#")
    page = pathlib.Path(__file__).parents[5] / file
    titles = [line[3:] for line in page.read_text().splitlines() if line.startswith("## ")]
    assert heading in [title.lower().replace(" ", "-") for title in titles]


def test_several_channels_are_asked_for_their_places() -> None:
    assert plain_words.about_places(0) == plain_words.about_places(1) == []
    assert "one device" in plain_words.about_places(2)[0]
    question, answer = plain_words.about_places(4)
    assert "where do the microphones stand?" in question and "ricochet import" in answer


def test_what_air_does_is_said_as_far_as_it_is_known() -> None:
    def said(low: float, high: float, **ball: float | str) -> str:
        speed = {"median": 8.0, "region_90": [low, high]}
        restitution = {"terminal_speed_if_constant": speed}
        return plain_words.about_drag({"object": ball, "restitution": restitution})

    assert "8.0 m/s at most (6.0 to 20.0, nine times out of ten; a ping-pong ball: 8.6)" in said(
        6, 20
    )
    assert "to show by how much" in said(10, 177)
    sized = said(6, 20, ball="ping-pong", air_temperature=20.0, diameter=0.04, mass=0.0027)
    assert "takes from a ping-pong ball of 40 mm and 2.7 g is known at 20 degrees" in sized
