"""A Python that has imported torch once and forks itself for each command: python warm_host.py CONTROL_FD.

What is run here is run by a real process with its own streams, environment, folder and exit code; only the seconds
of the imports are shared. Ranks that a command starts through torch's elastic are forks of that command, too, and so is
what it starts through multiprocessing, by "spawn" or "forkserver".
A request is one message: JSON, with the connection that is told the exit code, stdout and stderr as descriptors.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import multiprocessing.process
import multiprocessing.util
import os
import random
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import types
import weakref
from collections.abc import Sequence
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any, NoReturn

from warm_looks import look_like

# What a training imports, the parts that torch puts off until the first optimizer among them.
IMPORTS = ("h5py", "numpy", "torch", "torch._dynamo", "torch.utils.tensorboard", "torch.distributed.launcher.api")
IMPORTS += ("click", "ups.stages.runner", "ups.launch.run", "ups.plots")
MESSAGE_BYTES = 1 << 17
MARK = "UPS_TEST_MARK"  # in the environment: who looks for such a process looks into /proc
COLD_RANKS = "UPS_TEST_COLD_RANKS"  # in the environment: ranks get interpreters of their own
PATH = tuple(sys.path[1:])  # without our own folder
UNBUFFERED = "-u"
STARTED_BY_MULTIPROCESSING = "from multiprocessing.spawn import", "from multiprocessing.forkserver import"
interpreter_started = multiprocessing.util.spawnv_passfds


def main(control: socket.socket) -> None:
    """Forks a process for each request, which becomes the program that was asked for."""
    sys.path[:] = PATH  # a folder of tests has the name of the trainer
    for name in IMPORTS:
        importlib.import_module(name)
    import torch
    from torch.distributed.elastic.multiprocessing.subprocess_handler import subprocess_handler

    if torch.version.cuda is None:  # a fork of a launcher that has asked the driver for its GPUs cannot use them
        subprocess_handler.Popen = ForkedRank  # type: ignore[misc]
        multiprocessing.util.spawnv_passfds = forked_child
    asked = serve(control)
    if asked is not None:
        be_python(asked["argv"], asked["env"])


def serve(control: socket.socket) -> dict[str, Any] | None:
    """Forks for each request until nobody can ask any more; then no fork is left, and None is returned.

    In a fork it returns the request, with that one's streams and folder.
    """
    gc.collect()
    gc.freeze()  # the memory that all forks share stays shared
    running: dict[int, tuple[int, socket.socket]] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is control:
                    message, descriptors, _, _ = socket.recv_fds(control, MESSAGE_BYTES, 3)
                    if not message:
                        for pid, _ in running.values():
                            os.kill(pid, signal.SIGKILL)
                        return None
                    connection, stdout, stderr = descriptors
                    pid = os.fork()
                    if pid == 0:
                        os.close(connection)
                        control.close()
                        for descriptor, (_, other) in running.items():
                            os.close(descriptor)
                            other.close()
                        return begun(json.loads(message), stdout, stderr)
                    os.close(stdout)
                    os.close(stderr)
                    ended = os.pidfd_open(pid)
                    running[ended] = pid, socket.socket(fileno=connection)
                    say(running[ended][1], pid)
                    selector.register(ended, selectors.EVENT_READ)
                elif key.fd in running:
                    selector.unregister(key.fd)
                    end(key.fd, *running.pop(key.fd))


def begun(asked: dict[str, Any], stdout: int, stderr: int) -> dict[str, Any]:
    """In a fork: takes its streams and its folder."""
    for number, descriptor in enumerate((stdout, stderr), 1):
        os.dup2(descriptor, number)
        os.close(descriptor)
    if asked["session"]:
        os.setsid()
    os.chdir(asked["cwd"])
    return asked


def end(ended: int, pid: int, connection: socket.socket) -> None:
    """Tells how a process ended."""
    os.close(ended)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with connection:
        say(connection, code)


def say(connection: socket.socket, number: int) -> None:
    """Sends a pid or an exit code, unless who asked waits no longer."""
    with contextlib.suppress(BrokenPipeError):
        connection.send(str(number).encode())


class ForkedRank(subprocess.Popen[Any]):
    """What elastic starts: a fork of its own process in place of a new interpreter."""

    def _execute_child(self, args: Any, executable: Any, *rest: Any) -> None:
        env = rest[4]
        if COLD_RANKS in env:
            super()._execute_child(args, executable, *rest)  # type: ignore[misc]
            return
        assert (Path(args[0]), self.stdout, self.stderr) == (Path(sys.executable), None, None)
        self.pid = os.fork()
        if self.pid == 0:
            os.setsid()
            be_python(list(args[1:]), env)
        self._child_created = True


def forked_child(path: bytes, args: Sequence[str | bytes], passed: Sequence[int]) -> int:
    """What multiprocessing starts: a fork of its own process; its tracker of resources stays an interpreter."""
    argv = [os.fsdecode(word) for word in args[1:]]
    if COLD_RANKS in os.environ or not any(word.startswith(STARTED_BY_MULTIPROCESSING) for word in argv):
        return interpreter_started(path, args, passed)
    pid = os.fork()
    if pid == 0:
        close_all_but({0, 1, 2, *passed})
        be_python(argv[next(place for place, word in enumerate(argv) if word == "-c") :], dict(os.environ))
    return pid


def close_all_but(kept: set[int]) -> None:
    """Closes what exec would: pipes and sockets, whose other ends wait for that. Of files a library may know."""
    for one in [*Path("/proc/self/fd").iterdir()]:
        with contextlib.suppress(OSError):  # the one that listed them
            if int(one.name) not in kept and not one.readlink().is_absolute():
                os.close(int(one.name))


def be_python(argv: list[str], env: dict[str, str]) -> NoReturn:
    """Does what `python ARGV...` does, with its exit code, in this process that is a fork."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():  # as exec does it: what is ignored stays so
        if callable(signal.getsignal(number)) and number != signal.SIGINT:
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(env)
    if not look_like([sys.executable, *argv], env) and MARK in env:
        os.execve(sys.executable, [sys.executable, *argv], env)  # noqa: S606 - it is a Python
    forget_the_parent()
    code = 1
    try:
        interpret(argv)
        code = 0
    except SystemExit as request:
        code = exit_code(request.code)
    except BaseException:  # as the interpreter would show it
        traceback.print_exc()
    finally:
        leave(code)


def forget_the_parent() -> None:
    """Leaves to the parent what it has to do at its end, and gives this fork random numbers of its own."""
    import numpy as np

    tempfile.tempdir = None  # it comes from the environment
    atexit._clear()
    multiprocessing.process._children.clear()  # type: ignore[attr-defined] # they are ended at the end
    multiprocessing.process.ORIGINAL_DIR = str(Path.cwd())  # type: ignore[attr-defined] # where it was imported
    weakref.finalize._registry.clear()  # type: ignore[attr-defined] # such as the removal of a temporary folder
    atexit.register(weakref.finalize._exitfunc)  # type: ignore[attr-defined]
    atexit.register(multiprocessing.util._exit_function)  # type: ignore[attr-defined]
    random.seed()
    np.random.seed()  # torch's generator begins alike in every interpreter


def interpret(argv: list[str]) -> None:
    sys.orig_argv[:] = [sys.executable, *argv]
    if argv[0] == UNBUFFERED:
        argv = argv[1:]
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(write_through=True)  # type: ignore[union-attr]
    what, *rest = argv
    searched = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    first = {"-c": "", "-m": str(Path.cwd())}.get(what, str(Path(what).parent))
    sys.path[:] = [*searched, *PATH]
    site = PathFinder.find_spec("sitecustomize", searched) if searched else None
    if site is not None and site.loader is not None:
        sys.modules["sitecustomize"] = module = module_from_spec(site)
        site.loader.exec_module(module)
    sys.path.insert(0, first)
    if what == "-c":
        sys.argv, main = ["-c", *rest[1:]], types.ModuleType("__main__")
        sys.modules["__main__"] = main
        exec(compile(rest[0], "<string>", "exec"), vars(main))  # noqa: S102 - it is a Python
    elif what == "-m":
        sys.argv = ["-m", *rest[1:]]
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = argv
        runpy.run_path(what, run_name="__main__")


def exit_code(asked: object) -> int:
    """Returns what the interpreter makes of the argument of sys.exit."""
    if asked is None or isinstance(asked, int):
        return int(asked or 0) & 0xFF
    print(asked, file=sys.stderr)
    return 1


def leave(code: int) -> NoReturn:
    """Ends as an interpreter does, but for the freeing of what the imports hold."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
