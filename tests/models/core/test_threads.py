"""Threads of torch: one inside, as before afterwards, whatever happens inside."""

import pytest
import torch

from ricochet.models.core.threads import one_thread
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import likelihood, posterior


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_threads_are_as_before_even_after_a_failure():
    with pytest.raises(ValueError, match="inside"), one_thread():
        assert torch.get_num_threads() == 1
        raise ValueError("inside")
    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_an_exact_posterior_from_python_is_computed_on_one_thread(monkeypatch):
    seen = []

    def spy(*arguments):
        seen.append(torch.get_num_threads())
        raise ValueError("enough")

    monkeypatch.setattr(likelihood, "check", spy)
    noise, release = problem.constant_noise((2,)), problem.constant_release((2,))
    drops = problem.simulate_drops(noise, release, draw=torch.Generator().manual_seed(0))
    with pytest.raises(ValueError, match="enough"):
        posterior.posterior(drops.features, noise, release)
    assert seen == [1] and torch.get_num_threads() == 2
