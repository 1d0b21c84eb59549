"""Pictures of the study show each way and drawer, and the sweep each setting."""

from ricochet.tasks.systems.drawers.figures import errors
from ricochet.tasks.systems.drawers.studies import summary, table_one
from tests.tasks.systems.drawers.studies.test_summary import done


def test_each_way_and_drawer_has_a_bar() -> None:
    drawers = {name: summary.drawer([done(1), done(2)]) for name in ("a", "b", "c")}
    (axes,) = errors.speeds(drawers).axes
    assert len(axes.patches) == 3 * 8
    assert [each.get_text() for each in axes.get_xticklabels()] == ["a", "b", "c"]
    panels = errors.positions(drawers).axes
    assert [len(each.patches) for each in panels] == [15, 15, 15]
    heights = [patch.get_height() for patch in panels[1].patches]
    assert min(heights) == drawers["a"]["position_rmse"]["light_off"]["ours"]["value"]


def test_each_setting_of_the_sweep_is_named() -> None:
    rows = [
        summary.sweep_row(setting, {"a": [done(3)], "b": [done(4)]}) for setting in table_one.SWEEP
    ]
    (axes,) = errors.sweep(rows).axes
    names = [each.get_text() for each in axes.get_yticklabels()]
    assert len(set(names)) == len(table_one.SWEEP)
    assert "ring of 4, front" in names and "rooms of 0.5 s" in names
    assert "limits without a sound" in names
