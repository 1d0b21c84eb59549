"""Pages of names and versions say numbers, checks and the gate, and a validation comes on top."""

from ricochet.tasks.registry import packages, runs, version_page, versions
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from tests import grid_packages


def test_a_version_is_described_from_its_registration_on(tracker, tmp_path) -> None:
    package = grid_packages.narrow("ball-page", (0.8, 3.0), (0.01, 0.2))
    packages.write_package(tmp_path / "package", package, reader=GRID)
    run_id = runs.open_run(tracker, "registry", "page", name="page", tags={}).run_id
    found = versions.register(
        tracker,
        "ball-page",
        tmp_path / "package",
        kind=POSTERIOR,
        run_id=run_id,
        tags={},
        figure="figures/posterior.png",
    )
    said = tracker.client.get_model_version(found.name, found.version).description
    assert f"get-artifact?path=figures/posterior.png&run_uuid={run_id}" in said
    assert "Checks when it was made" in said
    assert "| restitution | 0.800 +- 0.010" in said
    assert "| log10_concentration | 3.00 +- 0.20" in said
    about = tracker.client.get_registered_model("ball-page").description
    assert "by-passes the gate" in about and POSTERIOR.made_by in about


def test_checks_are_listed_by_their_path_and_lists_by_their_length() -> None:
    checks = {"p_value": 0.25, "product": {"coverage": {"0.9": 0.91}, "ranks": [1, 2]}, "found": []}
    assert list(version_page._leaves(checks)) == [
        ("p value", "0.25"),
        ("product, coverage, 0.9", "0.91"),
        ("product, ranks", "2 entries"),
        ("found", "none"),
    ]


def test_the_last_validation_replaces_the_one_before_and_leaves_the_rest() -> None:
    once = version_page.with_validation("passed", "numbers")
    assert once == f"passed{version_page.RULE}numbers"
    assert version_page.with_validation("refused", once) == f"refused{version_page.RULE}numbers"
    assert version_page.with_validation("passed", "") == "passed"
