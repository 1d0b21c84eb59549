"""The gate infers the contact again: the answer of another seed passes, one squeezed does not."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.bouncing_ball import contact
from ricochet.models.systems.bouncing_ball.chains import family as families
from ricochet.models.systems.bouncing_ball.chains import observations
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.calibration import chain_answers, family_packages
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate
from ricochet.tasks.systems.bouncing_ball.validation import audit, gate
from tests.oracles.simulated_chains import Case, session
from tests.tasks.systems.bouncing_ball import gate_cases
from tests.tasks.systems.bouncing_ball.calibration import family_cases

RULES = catalogue.load_settings()[Calibrate]


@pytest.fixture
def stated(package):
    return family_packages.packaged(package, family_cases.answer(1), seed=0)


def checks(package, answer, monkeypatch):
    """The checks of a package's contact where the whole takes give an answer."""
    monkeypatch.setattr(chain_answers, "infer", lambda *_, **__: answer)
    nothing = SimpleNamespace()
    found = audit.audit_contact(package, nothing, nothing, rules=RULES, seed=1)
    evidence = replace(gate_cases.evidence(np.random.default_rng(0)), family=found)
    return [check for check in gate.judge_evidence(evidence) if "contact" in check.name]


def changed(package, name, change):
    name = f"contact.{name}"
    return replace(package, arrays=package.arrays | {name: change(package.arrays[name])})


def squeezed(values):
    return values.mean() + 0.5 * (values - values.mean())


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_an_answer_of_another_seed_agrees(stated, monkeypatch, seed):
    """Of its 16 numbers none is beyond 6 standard errors: a chance below 1e-7."""
    found = checks(stated, family_cases.answer(seed), monkeypatch)
    assert len(found) == 8 and all(check.passed for check in found), found


@pytest.mark.parametrize(
    ("name", "change", "refused"),
    [
        ("restitution", squeezed, "restitution at 2 m/s"),
        ("restitution", lambda v: v + 0.7 * v.std(), "restitution at 2 m/s"),
        ("concentration", lambda v: 10.0 ** squeezed(np.log10(v)), "log10 concentration"),
        ("concentration", lambda v: 1.15 * v, "log10 concentration"),
        ("slope", lambda v: v + 0.01, "restitution at 1 m/s"),
        ("drag", lambda v: 2.0 * v, "log drag"),
        ("tangential_loss", squeezed, "tangential loss"),
        ("tail_share", lambda v: 0.01 * v, "logit tail share"),
        ("tail_ratio", lambda v: 0.5 * v, "log tail ratio"),
        ("scatter", lambda v: 3.0 * v, "log scatter"),
    ],
)
def test_what_is_shifted_or_squeezed_is_refused(stated, monkeypatch, name, change, refused):
    made = changed(stated, name, change)
    failed = [c for c in checks(made, family_cases.answer(2), monkeypatch) if not c.passed]
    assert f"package's contact, {refused}" in {check.name for check in failed}


def test_half_of_every_deviation_is_refused_however_few_the_draws(stated, monkeypatch):
    made = changed(stated, "tangential_loss", squeezed)
    few = family_cases.answer(2, effective=30)
    failed = {c.name for c in checks(made, few, monkeypatch) if not c.passed}
    assert "package's contact, tangential loss" in failed


@pytest.mark.parametrize("answer", [None, family_cases.answer(2, weak="only 3 draws carry it")])
def test_a_contact_that_whole_takes_do_not_give_is_refused(stated, monkeypatch, answer):
    (check,) = checks(stated, answer, monkeypatch)
    assert not check.passed
    assert ("whole takes" if answer is None else "only 3 draws") in check.line


def test_samples_of_another_name_do_not_pass_for_those_that_are_read(package):
    moments = {"mean": np.zeros(2), "covariance": np.eye(2), "samples": np.full((5, 2), 0.8)}
    apart = {f"three_bounces.{name}": array for name, array in moments.items()}
    other = {"samples": np.full((3, 2), 0.5), "mean": np.full(2, 9.0)}
    smuggled = replace(package, arrays=package.arrays | moments | other | apart)
    assert audit.claim(smuggled).mean.tolist() == [9.0, 9.0]
    blind = replace(smuggled, arrays=smuggled.arrays | {"covariance": np.full((2, 2), np.nan)})
    with pytest.raises(BadInput, match="not finite"):
        audit.claim(blind)


def test_a_package_of_the_grid_states_no_contact(package, monkeypatch):
    assert checks(package, None, monkeypatch) == []


def test_arrays_of_a_contact_that_mean_nothing_are_refused(stated):
    moments = {"mean": np.zeros(2), "covariance": np.eye(2), "samples": np.full((5, 2), 0.8)}
    paper = {f"three_bounces.{name}": array for name, array in moments.items()}
    whole = replace(stated, arrays=stated.arrays | paper)
    assert audit.claim(whole).mean.tolist() == [0.0, 0.0]
    with pytest.raises(BadInput, match="contradict those of its contact"):
        audit.claim(replace(stated, arrays=stated.arrays | moments))
    for name in moments:
        narrow = replace(whole, arrays=whole.arrays | {name: 0.99 * whole.arrays[name]})
        with pytest.raises(BadInput, match=f"package: {name}: found .* contradict"):
            audit.claim(narrow)
    with pytest.raises(BadInput, match=r"contact\.drag"):
        audit.claim(changed(whole, "drag", lambda v: -v))


RELIED_ON = 50.0
"""Effective draws of an answer that is not weak (`whole_chains`)."""


@pytest.mark.proof
def test_two_inferences_of_the_same_takes_agree(package, monkeypatch):
    """From takes as detected, with seeds of their own; a weak answer is not packaged."""
    drag = families.drag_prior(None, 20.0)
    takes = observations.grouped(session(Case(6, 6), 5))
    starts = families.starts_of(families.prior(contact.constant, drag), np.array([0.845, 3.3]))
    found = (
        families.infer(takes, starts=starts[:1], drag=drag, draw=np.random.default_rng(seed))
        for seed in range(4)
    )
    strong = (each for each in found if each.effective > RELIED_ON)
    one, two = (replace(family_cases.answer(1), family=next(strong)) for _ in range(2))
    made = family_packages.packaged(package, one, seed=0)
    found = checks(made, two, monkeypatch)
    assert len(found) == 8 and [check.line for check in found if not check.passed] == []
    narrow = changed(made, "restitution", squeezed)
    assert any(not check.passed for check in checks(narrow, two, monkeypatch))
