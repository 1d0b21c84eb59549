"""A simulated arm in the process of its owner, which writes down what it does."""

from ricochet.hardware.robots.simulated import SimulatedArm
from tests.hardware.robots.driver_fakes import Faults, log


class Simulated(SimulatedArm):
    """MuJoCo's arm in real time, which hangs or seizes."""

    def __init__(self, settings):
        self.faults, self.settings = Faults(settings), settings
        super().__init__(paced=True, seized_at=settings.get("seized_at"))

    def advance(self, seconds):
        self.faults.at("advance")
        return super().advance(seconds)

    def stop(self):
        log(self.settings, "stop")
        super().stop()

    def close(self):
        super().close()
        log(self.settings, "close")
