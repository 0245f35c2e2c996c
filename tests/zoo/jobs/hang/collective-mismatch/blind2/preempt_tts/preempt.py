import logging
import os
import signal

logger = logging.getLogger(__name__)


class PreemptionGuard:
    """Turns SIGUSR1 and SIGTERM into a flag that is looked at between two steps."""

    def __init__(self, signals=(signal.SIGUSR1,)):
        self._requested = False
        for sig in signals:
            signal.signal(sig, self._handle)

    def _handle(self, signum, frame):
        logger.warning("received %s, will stop after this step", signal.Signals(signum).name)
        self._requested = True

    @property
    def requested(self):
        return self._requested

    @staticmethod
    def publish_pid(run_dir, rank):
        if rank == 0:
            tmp = os.path.join(run_dir, ".pid")
            with open(tmp, "w") as f:
                f.write(str(os.getpid()))
            os.rename(tmp, os.path.join(run_dir, "trainer.pid"))
