"""What the client of an arm and the process that owns it say to each other: lines of JSON.

    client -> owner   start, then beat (20 ms), move, stop, close
    owner -> client   ready or refused, then pulse (20 ms), state (a period), done, fault, closed

Every line is checked for its keys, types and finite numbers; one that is not as it should be ends
the connection, as a death does. Times are those of the machine's monotonic clock, which processes
share. Sending never waits: who does not read is taken for dead by his silence.
"""

import select
import socket
import threading
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AllowInfNan, Field, JsonValue, TypeAdapter

from ricochet.hardware.robots.paddle_arm import ArmState, Refusal

LONGEST_LINE = 65536  # bytes
MOST_UNSENT = 65536  # bytes that may wait for the other side to read
STRICT: Any = {"extra": "forbid", "strict": False, "allow_inf_nan": False}
Finite = Annotated[float, AllowInfNan(False)]


@dataclass(frozen=True)
class Limits:
    """How long anything may take, s.

    Attributes:
        period: From one look at the arm to the next.
        silence: Client and owner hear of each other within it, or the arm is stopped.
        hang: Within which a call of the driver returns, beside the time it was asked to take.
        command: After which a command that was not executed is void.
        opening, closing: Within which the driver takes the arm and lets it go.
        stopping: Within which the way of stopping beside the driver is done.
    """

    __pydantic_config__ = STRICT
    period: float = 0.008
    silence: float = 0.1
    hang: float = 0.1
    command: float = 0.1
    opening: float = 10.0
    closing: float = 2.0
    stopping: float = 1.0


@dataclass(frozen=True)
class Driver:
    """A module that drives an arm, and its settings, plain data.

    The module has `open_arm(settings)`, which returns an `Arm`, and `emergency_stop(settings)`,
    which stops it on another way than through that arm.
    """

    __pydantic_config__ = STRICT
    module: str
    settings: dict[str, JsonValue]


@dataclass(frozen=True)
class Start:
    """Take an arm over."""

    __pydantic_config__ = STRICT
    driver: Driver
    limits: Limits
    kind: Literal["start"] = "start"


@dataclass(frozen=True)
class Beat:
    """The client lives."""

    __pydantic_config__ = STRICT
    kind: Literal["beat"] = "beat"


@dataclass(frozen=True)
class Move:
    """Turn to a target, m, in `duration`, s, unless it is later than `deadline`."""

    __pydantic_config__ = STRICT
    number: int
    deadline: Finite
    point: tuple[Finite, Finite, Finite]
    duration: Finite
    kind: Literal["move"] = "move"


@dataclass(frozen=True)
class Stop:
    """Stop now; every command with a lower number is void."""

    __pydantic_config__ = STRICT
    number: int
    kind: Literal["stop"] = "stop"


@dataclass(frozen=True)
class Close:
    """Stop, let the arm go and end."""

    __pydantic_config__ = STRICT
    kind: Literal["close"] = "close"


@dataclass(frozen=True)
class Ready:
    """The arm is there, and as it should be."""

    __pydantic_config__ = STRICT
    state: ArmState
    kind: Literal["ready"] = "ready"


@dataclass(frozen=True)
class Refused:
    """There is no such arm: the fields of a `BadInput`."""

    __pydantic_config__ = STRICT
    where: str
    found: str
    expected: str
    kind: Literal["refused"] = "refused"


@dataclass(frozen=True)
class Pulse:
    """The owner lives."""

    __pydantic_config__ = STRICT
    kind: Literal["pulse"] = "pulse"


@dataclass(frozen=True)
class State:
    """Where the arm was at a time of the monotonic clock, s."""

    __pydantic_config__ = STRICT
    when: Finite
    state: ArmState
    kind: Literal["state"] = "state"


@dataclass(frozen=True)
class Done:
    """The answer to a command."""

    __pydantic_config__ = STRICT
    number: int
    refusal: Refusal | None
    kind: Literal["done"] = "done"


@dataclass(frozen=True)
class Fault:
    """The arm is stopped for good, and why."""

    __pydantic_config__ = STRICT
    fault: Refusal
    kind: Literal["fault"] = "fault"


@dataclass(frozen=True)
class Closed:
    """The arm is let go, after it was stopped or a fault said that it was not."""

    __pydantic_config__ = STRICT
    kind: Literal["closed"] = "closed"


ToOwner = Start | Beat | Move | Stop | Close
ToClient = Ready | Refused | Pulse | State | Done | Fault | Closed
Message = ToOwner | ToClient
TO_OWNER: TypeAdapter[Any] = TypeAdapter(Annotated[ToOwner, Field(discriminator="kind")])
TO_CLIENT: TypeAdapter[Any] = TypeAdapter(Annotated[ToClient, Field(discriminator="kind")])


class Channel:
    """One end of the connection; many threads may send, one receives."""

    def __init__(
        self, end: socket.socket, *, sends: TypeAdapter[Any], receives: TypeAdapter[Any]
    ) -> None:
        """Take an end of a socket pair, and what may pass in each direction."""
        end.setblocking(False)
        self._socket, self._sends, self._receives = end, sends, receives
        self._poll = select.poll()
        self._poll.register(end, select.POLLIN)
        self._read, self._unsent, self._lock = b"", b"", threading.Lock()

    def send(self, message: Message, *, droppable: bool = False) -> None:
        """Send a message without waiting.

        Args:
            droppable: Whether it may be left out while the other side does not read.

        Raises:
            OSError: The other side is gone, or has not read for long.
        """
        line = bytes(self._sends.dump_json(message)) + b"\n"
        with self._lock:
            if not (droppable and self._unsent):
                self._unsent += line
            if len(self._unsent) > MOST_UNSENT:
                raise BrokenPipeError("the other side does not read")
            try:
                while self._unsent:
                    self._unsent = self._unsent[self._socket.send(self._unsent) :]
            except BlockingIOError:
                return

    def receive(self, patience: float) -> list[Any]:
        """Wait so long, s, for messages and return all that are there.

        What was said before an end is returned; the next call raises that.

        Raises:
            EOFError: The other side has ended the connection.
            ValueError: It sent what is no message.
            OSError: The connection is lost.
        """
        received, ready = list[Any](), bool(self._poll.poll(max(patience, 0.0) * 1e3))
        while ready:
            try:
                content = self._socket.recv(65536)
            except OSError:
                if not received:
                    raise
                return received
            if not content and not received:
                raise EOFError("the other side has ended the connection")
            *lines, self._read = (self._read + content).split(b"\n")
            if len(self._read) > LONGEST_LINE:
                raise ValueError("a line without end")
            received += [self._receives.validate_json(line) for line in lines]
            ready = bool(content and self._poll.poll(0))
        return received

    def close(self) -> None:
        """End the connection."""
        self._socket.close()
