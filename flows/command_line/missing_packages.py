"""What is said where a verb needs a package that the base install leaves out."""

from ricochet.models.core.bad_input import BadInput

LAB = (
    "dvc", "mcap", "mlflow", "mujoco", "optuna", "prefect", "psycopg2", "pyroomacoustics",
    "sqlalchemy", "torch",
)  # fmt: skip
"""Packages of the extra `lab` that are imported by name."""


def refusal(verb: str, error: ModuleNotFoundError) -> BadInput | None:
    """Return what to say of a missing package; None where no extra would bring it."""
    package = (error.name or "").partition(".")[0]
    if package not in LAB:
        return None
    expected = 'the extra `lab`: pip install "ricochet-lab[lab]"'
    return BadInput(f"ricochet {verb}", f"no package {package}", expected)
