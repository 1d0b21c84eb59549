"""Members in words: the heaviest first, at most three, none that rounds to none."""

from ricochet.tasks.systems.bouncing_ball.figures import member_weights


def test_the_heaviest_are_listed_first_and_the_negligible_not_at_all() -> None:
    weights = {"linear": 0.02, "constant": 0.9, "viscoelastic": 0.004, "other": 0.076}
    assert member_weights.listed(weights) == "constant 0.90, other 0.08, linear 0.02"
    assert member_weights.listed({"constant": 0.998, "linear": 0.002}) == "constant 1.00"


def test_at_most_three_are_listed() -> None:
    weights = {f"law {number}": 0.25 for number in range(4)}
    assert member_weights.listed(weights).count(",") == 2
