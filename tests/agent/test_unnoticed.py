"""What stands in for functions of Python is not noticed: same names, same pickles, same warnings, same output."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from diagnostics.record.record import AGENT_SITE

VERSIONS = ["3.8", "3.11", "3.12", "3.13"]

IDENTITY = """
    import atexit, copy, inspect, logging, os, pickle, signal, subprocess, sys, threading, traceback
    import multiprocessing.process
    functions = (os.kill, os.killpg, os.waitpid, os.wait, os.waitid, os._exit, os.abort, sys.exit, atexit.register,
                 signal.raise_signal, signal.pthread_kill)
    for function in functions:
        assert pickle.loads(pickle.dumps(function)) is function is copy.deepcopy(function), function
        assert callable(function) and function == function and hash(function)
        print(repr(function), function.__module__, function.__qualname__, inspect.getdoc(function)[:40])
    print(inspect.signature(os.kill), inspect.signature(subprocess.Popen))
    for method in (subprocess.Popen.__init__, threading.Thread.start, logging.LogRecord.__init__,
                   traceback.TracebackException.__init__, multiprocessing.process.BaseProcess.start):
        print(method.__qualname__, method.__module__, inspect.isfunction(method), inspect.signature(method))
    class Uses:
        kill, wait, leave = os.kill, os.waitpid, os._exit
    Uses().kill(os.getpid(), 0)
    print(sys.excepthook is sys.__excepthook__, sys.unraisablehook is sys.__unraisablehook__)
    print(threading.excepthook, getattr(threading, "__excepthook__", threading.excepthook) is threading.excepthook)
    print(os.supports_fd == set(os.supports_fd), sorted(vars(threading.Thread(target=print)))[:3])
"""


BUSY = """
    import asyncio, concurrent.futures, faulthandler, logging, multiprocessing, os, signal, subprocess, sys, threading
    import traceback, warnings
    def square(x): return x * x
    def die(x): os.kill(os.getpid(), signal.SIGTERM)
    class Own(threading.Thread):
        def __init__(self): super().__init__(); self.done = False
        def start(self): super().start(); return "started"
        def run(self): self.done = True
    async def child():
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", "import sys; sys.exit(3)")
        return await process.wait()
    def main():
        os.chdir("/")
        print(asyncio.run(child()))
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(square, range(4)))
            try: pool.apply(int, ("x",))
            except ValueError as error: print(error, type(error.__cause__).__name__)
        with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
            print(pool.submit(square, 3).result())
        own = Own(); print(own.start(), own.join(), own.done)
        print(subprocess.run([sys.executable, "-c", "print('hello')"], stdout=subprocess.PIPE).stdout)
        try: subprocess.run(["/absent"])
        except FileNotFoundError as error: print(error)
        print(os.system("exit 4"), os.popen("echo x").read(), os.spawnl(os.P_WAIT, "/bin/true", "true"))
        pid = os.posix_spawn("/bin/false", ["false"], {}); print(os.waitpid(pid, 0)[1])
        def again(number, frame): signal.signal(number, signal.SIG_IGN); os.kill(os.getpid(), number)
        signal.signal(signal.SIGUSR1, again); os.kill(os.getpid(), signal.SIGUSR1)
        try: os.kill(os.getpid(), "x")
        except TypeError as error: print(error)
        try: os.waitpid(-1, os.WNOHANG)
        except ChildProcessError as error: print(error)
        logging.warning("a %s", "line", stack_info=True)
        try: {}["x"]
        except KeyError: logging.exception("caught"); traceback.print_exc()
        process = multiprocessing.get_context("fork").Process(target=die, args=(1,)); process.start(); process.join()
        print(process.exitcode)
        pid = os.fork()
        if not pid: os._exit(9)
        print(os.waitpid(pid, 0)[1])
        class Destroyed:
            def __del__(self): raise ValueError("x")
        warnings.simplefilter("default")
        warnings.warn("mine", stacklevel=1)
    if __name__ == "__main__":
        main()
        thread = threading.Thread(target=lambda: int("thread")); thread.start(); thread.join()
        def deep(n): return deep(n + 1)
        try: deep(0)
        except RecursionError as error: logging.error("too deep", exc_info=False)
        int("main")
"""


def without_addresses(text: str) -> list[str]:
    return [re.sub(r"0x[0-9a-f]+|pid=\d+|subprocess \d+|name=\d+", "*", line) for line in text.splitlines()]


def python(version: str) -> str:
    """Returns an interpreter of this version, from pyenv or on PATH."""
    found = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"))
    for path in [*map(str, found), shutil.which(f"python{version}")]:
        if path and subprocess.run([path, "-c", "pass"], capture_output=True, check=False).returncode == 0:
            return path
    pytest.skip(f"no python{version} on this machine")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("source", [IDENTITY, BUSY], ids=["identity", "busy"])
def test_a_program_sees_and_prints_what_it_would_without_the_agent(watch, source, version):
    interpreter = (python(version), "-W", "error", "-W", "ignore::DeprecationWarning")
    bare = watch(source, python=interpreter, watched=False)
    watched = watch(source, python=interpreter)
    assert (watched.returncode, watched.stdout) == (bare.returncode, bare.stdout)
    assert without_addresses(watched.stderr) == without_addresses(bare.stderr)
    assert bare.stdout.count("\n") > 5
    assert watched.record.agents[0].dropped_events == 0


WARNED = """
    import warnings
    import torch
    torch.save({}, "x.pt")
    class Warns(torch.serialization._open_zipfile_reader):
        def __init__(self, *args):
            warnings.warn("look at the caller", FutureWarning, stacklevel=3)
            super().__init__(*args)
    torch.serialization._open_zipfile_reader = Warns
    torch.load("x.pt")
"""


def test_a_warning_of_a_watched_function_names_the_line_it_named_before(watch):
    run = watch(WARNED)
    assert run.returncode == 0, run.stderr
    assert [line.split(": ")[0].rpartition("/")[2] for line in run.stderr.splitlines() if "FutureWarning" in line] == [
        "main.py:10"
    ]


@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_the_warning_of_a_fork_among_threads_names_the_line_that_forked(watch, version):
    run = watch(
        "import os, threading\nevent = threading.Event()\nthreading.Thread(target=event.wait).start()\n"
        "pid = os.fork()\nif not pid: os._exit(0)\nos.waitpid(pid, 0); event.set()",
        python=(python(version),),
    )
    assert run.returncode == 0
    assert "main.py:4: DeprecationWarning" in run.stderr


@pytest.mark.parametrize("version", ["3.11", "3.13"])
def test_an_agent_whose_folder_disappears_harms_nobody(watch, tmp_path, version):
    shutil.copytree(AGENT_SITE.parent, tmp_path / "agent", ignore=shutil.ignore_patterns("__pycache__"))
    source = """
        import os, shutil, sys
        shutil.rmtree("agent"); shutil.rmtree("record"); os.mkdir("record")
        import logging, multiprocessing, os, subprocess, threading, traceback
        try: int("x")
        except ValueError: print(traceback.format_exc(limit=0).splitlines()[-1], flush=True)
        threading.Thread(target=int, args=("y",)).start()
        print(subprocess.call([sys.executable, "-c", "pass"]), flush=True)
        pid = os.fork()
        if pid: print(os.waitpid(pid, 0)[1])
        raise KeyError("z") from ValueError()
    """
    run = watch(source, python=(python(version),), env={"PYTHONPATH": str(tmp_path / "agent" / "site")})
    assert run.returncode == 1
    assert run.stdout == "ValueError: invalid literal for int() with base 10: 'x'\n0\n256\n"
    assert "_ups_doctor" not in run.stderr
    assert "agent/" not in run.stderr
