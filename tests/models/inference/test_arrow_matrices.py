"""Matrices of shared and own unknowns, against the same ones written out."""

import numpy as np
import pytest
import torch

from ricochet.models.inference.arrow_matrices import Arrow

PARTICLES, GROUPS, SHARED, OWN = 3, 4, 2, 5
SIZE = SHARED + GROUPS * OWN


def written_out(arrow: Arrow) -> torch.Tensor:
    found = torch.zeros(PARTICLES, SIZE, SIZE, dtype=torch.float64)
    found[:, :SHARED, :SHARED] = arrow.shared
    for group in range(GROUPS):
        own = slice(SHARED + group * OWN, SHARED + (group + 1) * OWN)
        found[:, own, own] = arrow.own[:, group]
        found[:, :SHARED, own] = arrow.across[:, group]
        found[:, own, :SHARED] = arrow.across[:, group].mT
    return found


@pytest.fixture
def arrow() -> Arrow:
    """The products of rows that touch what is shared and one group each."""
    draw = np.random.default_rng(0)
    shared = torch.from_numpy(draw.standard_normal((PARTICLES, GROUPS, 9, SHARED)))
    own = torch.from_numpy(draw.standard_normal((PARTICLES, GROUPS, 9, OWN)))
    return Arrow((shared.mT @ shared).sum(1), shared.mT @ own, own.mT @ own)


@pytest.fixture
def vector() -> tuple[torch.Tensor, torch.Tensor]:
    draw = np.random.default_rng(1)
    shared = torch.from_numpy(draw.standard_normal((PARTICLES, SHARED)))
    return shared, torch.from_numpy(draw.standard_normal((PARTICLES, GROUPS, OWN)))


def joined(shared: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    return torch.cat((shared, own.flatten(1)), 1)


def test_it_solves_as_the_whole_matrix_does(arrow, vector) -> None:
    expected = torch.linalg.solve(written_out(arrow), joined(*vector))
    torch.testing.assert_close(joined(*arrow.solve(*vector)), expected)


def test_lengths_determinant_and_marginal_are_those_of_the_whole_matrix(arrow, vector) -> None:
    whole, flat = written_out(arrow), joined(*vector)
    expected = torch.einsum("pi,pij,pj->p", flat, whole, flat)
    torch.testing.assert_close(arrow.length_squared(*vector), expected)
    torch.testing.assert_close(arrow.log_determinant(), torch.logdet(whole))
    inverse = torch.linalg.inv(whole)[:, :SHARED, :SHARED]
    torch.testing.assert_close(arrow.marginal(), torch.linalg.inv(inverse))


def test_white_noise_gets_the_covariance_of_the_inverse(arrow) -> None:
    one = torch.eye(SIZE, dtype=torch.float64)
    columns = [
        joined(*arrow.unwhiten(each[None, :SHARED].expand(PARTICLES, -1), _groups(each)))
        for each in one
    ]
    factor = torch.stack(columns, 2)
    torch.testing.assert_close(factor @ factor.mT, torch.linalg.inv(written_out(arrow)))


def _groups(row: torch.Tensor) -> torch.Tensor:
    return row[SHARED:].reshape(GROUPS, OWN).expand(PARTICLES, -1, -1)


def test_whitening_is_undone(arrow, vector) -> None:
    length = sum(each.square().flatten(1).sum(1) for each in arrow.whiten(*vector))
    flat = joined(*vector)
    inverse = torch.linalg.inv(written_out(arrow))
    torch.testing.assert_close(length, torch.einsum("pi,pij,pj->p", flat, inverse, flat))


def test_damping_adds_a_share_of_the_diagonal(arrow) -> None:
    whole, share = written_out(arrow), torch.tensor([0.0, 0.5, 2.0], dtype=torch.float64)
    diagonal = whole.diagonal(dim1=1, dim2=2)
    expected = whole + torch.diag_embed(share[:, None] * diagonal)
    torch.testing.assert_close(written_out(arrow.damped(share)), expected)


def test_a_matrix_that_is_not_definite_gives_no_number(arrow, vector) -> None:
    sign = torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)
    found = Arrow(arrow.shared * sign[:, None, None], arrow.across, arrow.own)
    shared, _ = found.solve(*vector)
    assert torch.isfinite(shared).all(1).tolist() == [True, False, True]
