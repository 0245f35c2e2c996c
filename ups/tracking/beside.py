"""Starts the process that owns a run's trackers, and tells it how the run ended; training waits for neither."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

from ups.config import UpsConfig
from ups.run_folder import RunFolder
from ups.tracking.backends import named

OF_RANKS = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "MASTER_ADDR", "MASTER_PORT")
MORE_S = 5.0  # beyond what trackers get


class Beside:
    """The trackers of one run, from before its ranks until after them."""

    def __init__(self, config: UpsConfig, environ: Mapping[str, str] = os.environ) -> None:
        """The run's folder is there, and its data was seen to be readable."""
        self._folder, self._finish_s = RunFolder(config.output.dir), config.tracking.finish_s
        self._process: subprocess.Popen[str] | None = None
        if not named(config):
            return
        self._folder.tracking.mkdir(parents=True, exist_ok=True)
        clean = {name: value for name, value in environ.items() if name not in OF_RANKS}
        with (self._folder.tracking / "log.txt").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ups.tracking.sidecar", str(self._folder.root)],
                env=clean | {"UPS_DOCTOR_OFF": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,  # a signal to the launcher's group is not meant for it
            )

    def finish(self, exit_code: int) -> list[str]:
        """Tells the trackers how the run ended and waits for them, not for long; returns what they did not take."""
        process, self._process = self._process, None
        if process is None:
            return []
        try:
            said, _ = process.communicate(f"{exit_code}\n", timeout=self._finish_s + MORE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return [f"the trackers' process did not end: ups track sync {self._folder.root}"]
        if process.returncode and not said:
            log = self._folder.tracking / "log.txt"
            return [f"the trackers' process ended early, see {log}: ups track sync {self._folder.root}"]
        return said.splitlines()
