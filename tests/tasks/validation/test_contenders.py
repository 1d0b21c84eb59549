"""Who is compared is looked up first."""

from types import SimpleNamespace

import pytest
from mlflow.store.entities import PagedList

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from ricochet.tasks.validation import contenders
from ricochet.tasks.validation.contenders import Contenders


@pytest.mark.parametrize("candidate", [None, "same"])
def test_who_is_compared_is_looked_up_first(monkeypatch, candidate):
    found = {"candidate": candidate, "champion": "same"}
    there = PagedList([SimpleNamespace(name=name) for name in ("golf-concrete", "nonsense")], None)
    client = SimpleNamespace(search_registered_models=lambda page_token: there)
    tracker = SimpleNamespace(client=client)
    monkeypatch.setattr(contenders.registry, "resolve", lambda tracker, name, role: found[role])
    if candidate is None:
        with pytest.raises(BadInput, match=r"no candidate .* one of golf-concrete, or .*calibrate"):
            contenders.load(tracker, "tennis-table", POSTERIOR)
    else:
        assert contenders.load(tracker, "tennis-table", POSTERIOR) is None


def test_a_first_candidate_has_no_champion():
    alone = Contenders("tennis-table", {"candidate": "2"}, {})
    assert (alone.candidate, alone.champion) == ("2", None)
    assert alone.where("candidate") == "tennis-table version 2"
