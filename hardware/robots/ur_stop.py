"""A way of stopping a UR robot beside its driver: a script of one line to its secondary interface.

The controller ends whatever program runs when it is sent another, among them the one through which
`servoJ` acts, and the other brakes the joints. It needs neither ur_rtde nor its connections. The
controller may discard what was sent by who leaves before it answered: ANSWER bytes are awaited.
No robot has run this; it is tested against a server that behaves as the script manual says.
"""

import socket
import time

PORT = 30002
DECELERATION = 15.0  # rad/s^2, of the joints
ANSWER = 79  # bytes; the controller sends its state ten times a second
PATIENCE = 0.5  # s, for each of connecting and the answer
SCRIPT = f"def ricochet_stop():\n  stopj({DECELERATION})\nend\n"


def stop(host: str, port: int = PORT) -> None:
    """Stop the robot at an address.

    Raises:
        OSError: If the controller cannot be reached, leaves, or does not answer in time.
    """
    with socket.create_connection((host, port), timeout=PATIENCE) as connection:
        connection.sendall(SCRIPT.encode())
        received, end = 0, time.monotonic() + PATIENCE
        while received < ANSWER:
            content = connection.recv(4096)
            received += len(content)
            if not content or (received < ANSWER and time.monotonic() > end):
                raise ConnectionError(f"{received} bytes from the controller, expected {ANSWER}")


def check(host: str, port: int = PORT) -> None:
    """Raise OSError if the robot at an address could not be stopped on this way."""
    socket.create_connection((host, port), timeout=PATIENCE).close()
