"""The process that owns a run's trackers: `python -m ups.tracking.sidecar FOLDER`, its launcher's pipe as stdin.

It lives as long as somebody holds the other end of the pipe. A line with the run's exit code ends it; so does the end
of the pipe without one, which says that the launcher was killed. What was not sent is said on stdout.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from ups.run_folder import RunFolder, write_atomically
from ups.tracking.backends import named
from ups.tracking.sending import End, Sending, finish
from ups.tracking.turn import took_turn

KILLED = 128 + signal.SIGKILL
KILLED_FINISH_S = 5.0  # nobody waits for more, and nothing may stay behind


def main(place: str) -> None:
    """Feeds the trackers of the run in a folder until it ends."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)  # meant for the training, which then ends, and says so
    folder = RunFolder(Path(place))
    took_turn(folder)  # so that `ups track sync` keeps off; where one is at work, both send the same rows
    end_file(folder).unlink(missing_ok=True)  # of an earlier start: this one has not ended, and may be killed
    config, end = folder.read_config(), End()
    sendings = {name: Sending(name, how, config, folder, end) for name, how in named(config).items()}
    line = sys.stdin.readline().strip()
    code = int(line) if line else KILLED
    write_atomically(end_file(folder), f"{code}\n".encode())
    end.set(code)
    said = finish(sendings, folder, config.tracking.finish_s if line else KILLED_FINISH_S)
    if said:
        text = "\n".join(said).replace("sync RUN", f"sync {folder.root} sends them")
        print(text, flush=True)  # noqa: T201 - read by the launcher
        # A library that hangs has threads and processes of its own, all of this session, and waits for them.
        os.killpg(0, signal.SIGKILL)


def end_file(folder: RunFolder) -> Path:
    """Returns where the run's exit code is kept."""
    return folder.tracking / "exit_code"


if __name__ == "__main__":
    main(sys.argv[1])
