"""Speed of the bouncing ball: the vectorised simulator against a MuJoCo loop, in one run.

    python -m benchmarks.bouncing_ball.simulator

Three bounces a drop, e = 0.8, k = 100 (some exits are drawn again). On the processor one thread
runs and its own time is counted, on the accelerator the time that passes. A rate is the best of
the repeats, since other work on the machine only ever slows one down; the middle one follows.
The column of the accelerator stays empty where none is present.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np
import torch

from ricochet.models.systems.bouncing_ball import mujoco_simulator, simulator

RESTITUTION, CONCENTRATION = 0.8, 100.0
SIZES = (10_000, 100_000, 1_000_000)
MUJOCO_DROPS = 300
REPEATS = 7
TARGET = 0.5e6  # drops a second on one core
DTYPES = {"single": torch.float32, "double": torch.float64}


def main() -> None:
    """Measure and print one table."""
    torch.set_num_threads(1)
    name = torch.cuda.get_device_name() if torch.cuda.is_available() else "none present"
    print(f"three-bounce drops a second; one core; accelerator: {name}")
    loop_best, loop_middle = _rates(_mujoco, MUJOCO_DROPS, repeats=3)
    header = ("method", "precision", "drops", "one core", "middle", "over MuJoCo", "accelerator")
    _line(header)
    _line(("MuJoCo loop", "double", MUJOCO_DROPS, loop_best, loop_middle, "1", "-"))
    slowest = float("inf")
    for precision, dtype in DTYPES.items():
        for size in SIZES:
            best, middle = _rates(_vectorised(size, dtype, "cpu"), size)
            slowest = min(slowest, middle)
            fast = _accelerated_rate(size, dtype)
            ratio = f"{best / loop_best:,.0f}"
            _line(("vectorised", precision, size, best, middle, ratio, fast))
    verdict = "met" if slowest >= TARGET else "MISSED"
    print(f"target {TARGET:,.0f} on one core: {verdict}, lowest middle rate {slowest:,.0f}")


def _accelerated_rate(size: int, dtype: torch.dtype) -> float | str:
    if not torch.cuda.is_available():
        return "-"
    return _rates(_vectorised(size, dtype, "cuda"), size, clock=time.perf_counter)[0]


def _vectorised(size: int, dtype: torch.dtype, device: str) -> Callable[[], None]:
    restitution = torch.full((size,), RESTITUTION, dtype=dtype, device=device)
    concentration = torch.full((size,), CONCENTRATION, dtype=dtype, device=device)
    draw = torch.Generator(device).manual_seed(0)

    def run() -> None:
        simulator.simulate(restitution, concentration, drop_height=0.26, draw=draw)
        if device != "cpu":
            torch.cuda.synchronize()

    return run


def _mujoco() -> None:
    draw = np.random.default_rng(0)
    mujoco_simulator.simulate(
        RESTITUTION, CONCENTRATION, drops=MUJOCO_DROPS, drop_height=0.26, draw=draw
    )


def _rates(
    run: Callable[[], None],
    drops: int,
    *,
    repeats: int = REPEATS,
    clock: Callable[[], float] = time.thread_time,
) -> tuple[float, float]:
    """Return the best and the middle rate, after one run that is not counted."""
    run()
    rates = []
    for _ in range(repeats):
        start = clock()
        run()
        rates.append(drops / (clock() - start))
    return max(rates), statistics.median(rates)


def _line(cells: tuple[str | float, ...]) -> None:
    texts = [cell if isinstance(cell, str) else f"{cell:,.0f}" for cell in cells]
    print(f"{texts[0]:<12}{texts[1]:>10}" + "".join(f"{text:>13}" for text in texts[2:]))


if __name__ == "__main__":
    main()
