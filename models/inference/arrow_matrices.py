r"""Symmetric positive definite matrices of unknowns that many groups share and that each group has.

    A = [ H    B_1  ..  B_R ]    shared unknowns first, then those of each group,
        [ B_1' C_1          ]    which touch one another through the shared ones alone.
        [ ..        ..      ]
        [ B_R'          C_R ]

A = L L' where L is ordered groups first: its last block factors S = H - sum_r B_r C_r^{-1} B_r',
the precision of the shared unknowns when the others are integrated out.
"""

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Arrow:
    """A batch of matrices A.

    Attributes:
        shared: H.
        across: B, of each group.
        own: C, of each group.
    """

    shared: Float[Tensor, "particle shared shared"]
    across: Float[Tensor, "particle group shared own"]
    own: Float[Tensor, "particle group own own"]

    @cached_property
    def factors(self) -> tuple[Tensor, Tensor, Tensor]:
        """Factors of C, L_r^{-1} B_r', and the factor of S; NaN where A is not definite."""
        own, bad = torch.linalg.cholesky_ex(self.own)
        scaled = torch.linalg.solve_triangular(own, self.across.mT, upper=False)
        left = self.shared - torch.einsum("prki,prkj->pij", scaled, scaled)
        shared, worse = torch.linalg.cholesky_ex(left)
        failed = (bad != 0).any(1) | (worse != 0)
        nothing = torch.full_like(shared, torch.nan)
        return own, scaled, torch.where(failed[:, None, None], nothing, shared)

    def solve(
        self, shared: Float[Tensor, "particle shared"], own: Float[Tensor, "particle group own"]
    ) -> tuple[Float[Tensor, "particle shared"], Float[Tensor, "particle group own"]]:
        """Return A^{-1} of a vector."""
        return self.unwhiten(*self.whiten(shared, own))

    def whiten(
        self, shared: Float[Tensor, "particle shared"], own: Float[Tensor, "particle group own"]
    ) -> tuple[Float[Tensor, "particle shared"], Float[Tensor, "particle group own"]]:
        """Return L^{-1} of a vector."""
        factor, scaled, last = self.factors
        own = torch.linalg.solve_triangular(factor, own[..., None], upper=False)[..., 0]
        left = shared - torch.einsum("prki,prk->pi", scaled, own)
        return torch.linalg.solve_triangular(last, left[..., None], upper=False)[..., 0], own

    def unwhiten(
        self, shared: Float[Tensor, "particle shared"], own: Float[Tensor, "particle group own"]
    ) -> tuple[Float[Tensor, "particle shared"], Float[Tensor, "particle group own"]]:
        """Return L'^{-1} of a vector: of white noise, noise of the covariance A^{-1}."""
        factor, scaled, last = self.factors
        shared = torch.linalg.solve_triangular(last.mT, shared[..., None], upper=True)[..., 0]
        own = own - torch.einsum("prki,pi->prk", scaled, shared)
        return shared, torch.linalg.solve_triangular(factor.mT, own[..., None], upper=True)[..., 0]

    def length_squared(
        self, shared: Float[Tensor, "particle shared"], own: Float[Tensor, "particle group own"]
    ) -> Float[Tensor, " particle"]:
        """Return v' A v."""
        moved = torch.einsum("prik,prk->pi", self.across, own)
        alone = torch.einsum("pi,pij,pj->p", shared, self.shared, shared)
        each = torch.einsum("pri,prij,prj->p", own, self.own, own)
        return alone + each + 2.0 * (shared * moved).sum(1)

    def log_determinant(self) -> Float[Tensor, " particle"]:
        """Return log det A."""
        own, _, shared = self.factors
        return 2.0 * (_log_diagonal(own).sum(1) + _log_diagonal(shared))

    def marginal(self) -> Float[Tensor, "particle shared shared"]:
        """Return S."""
        last = self.factors[2]
        return last @ last.mT

    def damped(self, share: Float[Tensor, " particle"]) -> "Arrow":
        """Return A with its diagonal greater by a share of itself (Levenberg and Marquardt)."""
        return Arrow(
            self.shared + torch.diag_embed(share[:, None] * _diagonal(self.shared)),
            self.across,
            self.own + torch.diag_embed(share[:, None, None] * _diagonal(self.own)),
        )


def _diagonal(matrix: Tensor) -> Tensor:
    return matrix.diagonal(dim1=-2, dim2=-1)


def _log_diagonal(factor: Tensor) -> Tensor:
    return _diagonal(factor).log().sum(-1)
