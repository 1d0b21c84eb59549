"""From sound to posterior for drops from 0.5 m: stated rightly, not at all, and wrongly."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from ricochet.models.core.progress import no_progress
from ricochet.models.systems.bouncing_ball.calibration import calibrate
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball import capture
from ricochet.tasks.systems.bouncing_ball.calibration import detections
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate

HEIGHT = 0.5
TRUTH = (0.85, 3.5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five drops in a room, recorded by the simulated rig."""
    changes = [f"capture.drop_height={HEIGHT}", "capture.drops=5"]
    settings, root = catalogue.load_settings(overrides=changes), tmp_path_factory.mktemp("high")
    capture.capture(
        settings, root, rig="simulated", session="evening", seed=2, progress=no_progress
    )
    return root / "evening"


@pytest.mark.proof
@pytest.mark.parametrize(
    ("stated", "source"), [(HEIGHT, "stated"), (None, "takes"), (0.26, "takes")]
)
def test_the_truth_is_found_and_the_height_with_it(
    folder: Path, stated: float | None, source: str
) -> None:
    """Read as drops from 0.26 m, they gave 3.15 +- 0.11 for 3.5 without a word."""
    path, rules = folder / "session.json", catalogue.load_settings()[Calibrate]
    content = json.loads(path.read_text())
    content["object"]["drop_height"] = stated
    path.write_text(json.dumps(content))
    drops = detections.measured(detections.detect([folder]), release_sd=rules.release_sd)
    found = calibrate.calibrate(drops, draw=torch.Generator().manual_seed(1))
    (height,) = found.heights
    assert (height.stated, height.source) == (stated, source)
    assert abs(height.height - HEIGHT) < 4.0 * height.height_sd < 0.04
    assert any(finding.name == "height" for finding in found.findings) == (stated == 0.26)
    # chi-square of two degrees: beyond 13.8 once in a thousand
    off = found.mean - np.array(TRUTH)
    assert off @ np.linalg.solve(found.covariance, off) < 13.8
