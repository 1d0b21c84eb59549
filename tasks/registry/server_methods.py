"""Methods of MLflow's stores that look at what they are given first, and how they decline."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

Check = Callable[[dict[str, Any]], None]
"""Looks at arguments by their names, which it may change, and raises what `refusal` makes."""


def checked(store: Any, name: str, check: Check) -> None:
    """Have a method of a store of MLflow's call a check before anything else."""
    method = getattr(store, name)
    signature = inspect.signature(method)

    @functools.wraps(method)
    def checking(*positional: Any, **named: Any) -> Any:
        call = signature.bind(*positional, **named)
        check(call.arguments)
        return method(*call.args, **call.kwargs)

    setattr(store, name, checking)


def refusal(found: str, expected: str) -> Exception:
    """Return what MLflow's server answers 400 to, with a finding and an expectation."""
    return _exception(f"found {found}, expected {expected}", "INVALID_PARAMETER_VALUE")


def denial(what: str) -> Exception:
    """Return what MLflow's server answers 403 to."""
    return _exception(f"not offered here: {what}", "PERMISSION_DENIED")


def _exception(message: str, code: str) -> Exception:
    from mlflow.exceptions import MlflowException
    from mlflow.protos.databricks_pb2 import ErrorCode

    return MlflowException(message, error_code=ErrorCode.Value(code))
