import numpy as np
from matplotlib.figure import Figure

from ricochet.tasks.figures import style

DRAW = np.random.default_rng(3)


def test_the_region_holds_nine_tenths_of_a_gaussian():
    """4000 draws: three standard errors of a share of 0.9 are 3 sqrt(0.09 / 4000) = 0.014."""
    covariance = np.array([[4.0, 1.5], [1.5, 1.0]])
    draws = DRAW.multivariate_normal([1.0, -2.0], covariance, size=4000)
    ellipse = style.region(np.array([1.0, -2.0]), covariance, color="k")
    inside = ellipse.get_path().contains_points(ellipse.get_transform().inverted().transform(draws))
    assert abs(inside.mean() - 0.9) < 0.014


def test_pixels_are_those_of_the_picture():
    figure = Figure()
    figure.subplots().plot([0.0, 1.0], color="k")
    pixels = style.to_pixels(figure)
    assert pixels.dtype == np.uint8
    assert pixels.shape[2] == 3
    assert (pixels[0, 0] == 255).all()
    assert pixels.min() < 100


def test_a_link_in_place_of_the_folder_is_removed_and_where_it_leads_is_left(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.png").write_text("mine")
    (tmp_path / "figures").symlink_to(elsewhere)
    style.write(tmp_path / "figures", {"a": Figure()})
    assert (elsewhere / "a.png").read_text() == "mine"
    assert not (tmp_path / "figures").is_symlink() and (tmp_path / "figures" / "a.png").exists()
