"""Methods of MLflow's stores that look at what they are given first, and how they decline."""

import functools
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

Check = Callable[[dict[str, Any]], None]
"""Looks at arguments by their names, which it may change, and raises what `refusal` makes."""
Around = Callable[[dict[str, Any]], AbstractContextManager[object]]
"""Returns what both the check and the method are done in."""


def checked(
    store: Any, name: str, check: Check, *, around: Around = lambda _: nullcontext()
) -> None:
    """Have a method of a store of MLflow's, or of a class, call a check before anything else."""
    method = getattr(store, name)
    signature = inspect.signature(method)

    @functools.wraps(method)
    def checking(*positional: Any, **named: Any) -> Any:
        call = signature.bind(*positional, **named)
        with around(call.arguments):
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
