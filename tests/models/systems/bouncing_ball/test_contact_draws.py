"""Draws of a contact: each row follows its own law of restitution, alone or among others."""

import pickle
from multiprocessing.reduction import ForkingPickler

import numpy as np
import torch

from ricochet.models.systems.bouncing_ball import contact as contacts
from ricochet.models.systems.bouncing_ball import contact_draws
from ricochet.models.systems.bouncing_ball.contact import Contact
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws

SPEEDS = torch.tensor([0.3, 2.0, 4.0], dtype=torch.float64)[:, None]


def draws(count: int = 6) -> ContactDraws:
    level = torch.linspace(0.5, 0.95, count, dtype=torch.float64)
    contact = Contact(
        level, 1e3 * level, 0.02 * level, 0.1 * level, 0.01 * level, 0.1 * level, 1e-3 * level
    )
    return ContactDraws(contact, torch.arange(count) % 2 == 1, 0.01 * level)


def test_every_draw_follows_its_own_law() -> None:
    several = draws()
    found = several.restitution(SPEEDS)
    own = several.contact
    for number in range(6):
        law = contacts.viscoelastic if number % 2 else contacts.linear
        alone = law(own.restitution[number], own.slope[number], SPEEDS[:, 0])
        torch.testing.assert_close(found[:, number], alone)


def test_rows_keep_their_restitution() -> None:
    several, order = draws(), torch.tensor([4, 1, 1])
    found = several.rows(order).restitution(SPEEDS)
    torch.testing.assert_close(found, several.restitution(SPEEDS)[:, order])


def test_a_pair_bounces_as_the_paper_says_at_every_speed_and_meets_no_air() -> None:
    theta = torch.tensor([[0.8, 3.0], [0.9, 2.0]], dtype=torch.float64)
    found = contact_draws.of_pairs(theta)
    torch.testing.assert_close(found.restitution(SPEEDS), theta[:, 0].expand(3, 2))
    torch.testing.assert_close(found.contact.concentration, 10.0 ** theta[:, 1])
    assert not bool(found.drag.any()) and not bool(found.contact.scatter.any())


def test_draws_that_were_sent_to_a_process_keep_their_values_here_and_there() -> None:
    """Tensors sent as such move to shared memory and leave what views them dangling."""
    several = draws()
    views = [column.numpy() for column in vars(several.contact).values()]
    expected = [view.copy() for view in views]
    found = pickle.loads(ForkingPickler.dumps(several))
    for view, value, other in zip(views, expected, vars(found.contact).values(), strict=True):
        np.testing.assert_array_equal(view, value)
        np.testing.assert_array_equal(other.numpy(), value)
    assert torch.equal(found.viscoelastic, several.viscoelastic)
    assert not any(column.is_shared() for column in vars(several.contact).values())
