"""Stands between a job's output and ours.

`python -I -S relay.py CONTROL LISTENER AGENTS_FOLDER KEEPER DEST=FD=NAME...`: started by the supervisor in a
session of its own, so that neither Ctrl-C nor the supervisor's death ends it; the job's output goes on to where it was
meant to go, byte for byte. DEST is 1 or 2, our own stdout or stderr; FD is the reading end of what the job writes to,
NAME the file that tells agents so. The agent in each Python process hands over a stream of its own through the
listening socket LISTENER; so each process's output is also kept apart. The agent waits for a byte that says that its
parent's stream has been emptied, and at its end asks "end NAME..." for the same of its own: so the order is that of
writing. One thread a destination: where nobody reads our stdout, the job's stdout blocks, as it would without us, and
its stderr does not.

Lines on CONTROL (a socket), from the supervisor: "size" (the window changed; answer "resized"), "copies" (write the
copies now; answer "copied"), "total" (answer "total BYTES"), "leave" (the supervisor goes, others write on: pass on
what is there, write; answer "left"), "finish" (the job is over: take what is there, write, end). Without a supervisor
all goes on until every writer has gone. The copies hold what the job wrote, secrets too: they are given to the
program KEEPER, which hides them and writes.
"""

import importlib
import os
import resource
import sys
import types
from contextlib import suppress
from pathlib import Path

PACKAGE = "ups_doctor_children"  # `-I` leaves this file's folder out of the search path


def main():
    """Runs the relay with the arguments of this program."""
    control, listener, folder, keeper, *mains = sys.argv[1:]
    for fd in (control, listener):
        os.set_inheritable(int(fd), False)
    with suppress(OSError, ValueError):  # fewer processes will have a stream of their own
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 1 << 16) if hard > 0 else 1 << 16, hard))
    with suppress(OSError):  # not root
        os.setpriority(os.PRIO_PROCESS, 0, -5)  # the order between processes is that in which we wake up
    package = types.ModuleType(PACKAGE)
    package.__path__ = [str(Path(__file__).resolve().parent)]
    sys.modules[PACKAGE] = package
    relay = importlib.import_module(PACKAGE + ".output.relay").Relay(int(control), int(listener), folder, keeper)
    for word in mains:
        number, fd, name = word.split("=")
        relay.add_main(int(number), int(fd), name)
    relay.run()


if __name__ == "__main__":
    main()
