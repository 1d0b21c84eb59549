"""What a night that fails must leave, whatever failed."""

import json

import pytest

from ricochet.flows import nightly


def failed_night(tmp_path):
    """Run a night that must fail at its end; returns what result.json holds."""
    with pytest.raises(nightly.IncompleteNightError) as error:
        nightly.nightly.fn(session="tonight", out=str(tmp_path))
    assert json.loads((tmp_path / "result.json").read_text()) == error.value.result
    assert str(error.value) == "; ".join(error.value.result["failures"])
    return error.value.result


def raising(error):
    def fail(*_, **__):
        raise error

    return fail
