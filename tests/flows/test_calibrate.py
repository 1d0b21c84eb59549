"""The flow of calibrations asks the registry which earlier results it holds."""

from ricochet.flows import calibrate as flows
from ricochet.tasks.systems.bouncing_ball.calibration import targets
from tests.stores import copied
from tests.tasks.systems.bouncing_ball.calibration.test_run import RESULT, write


def test_a_result_that_another_registry_holds_is_not_taken_for_registered(
    tmp_path, monkeypatch, migrated_store
):
    """So it was, whoever started the flow: a verb that knew better, or a night."""
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path))
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    copied(migrated_store, tmp_path / "mlflow")
    (tmp_path / "posterior.json").write_text("a density")
    session, asked = write(tmp_path / "a"), {}

    def run(sessions, request, *, do, registered):
        (target,) = targets.targets(sessions, request.out)
        result = RESULT | {"registered": {"name": target.name, "version": "1"}}
        asked[target.name] = registered(target, request, result)
        return {}

    monkeypatch.setattr(flows.calibration, "run", run)
    flows.calibrate.fn(sessions=[session], out=str(tmp_path / "out"), density=str(tmp_path))
    assert asked == {"ping-pong-table": False}
