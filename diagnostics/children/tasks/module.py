"""`python -m MODULE ARGUMENT...` in a rank that has torch already: what its imports cost is paid once for all ranks.

The module finds what it would find in a process of its own: its argv, `__main__`, the current directory first on
the search path, its exit code, and the doctor's agent where the environment asks for one.
"""

import faulthandler
import importlib
import os
import runpy
import sys
import traceback
import types
from pathlib import Path

AGENT = "_ups_doctor_agent"


def run(rank, world_size, arguments):
    """Runs the module and ends this process with its exit code; what it answers is not ours."""
    sys.argv = [arguments["module"], *arguments["argv"]]
    sys.path.insert(0, str(Path.cwd()))
    use_threads(os.environ.get("OMP_NUM_THREADS", ""))
    if os.environ.get("UPS_DOCTOR_DIR"):
        start_agent(arguments["agent"])
    code = exit_code(arguments["module"])
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def exit_code(module):
    """Returns the code that the interpreter would end with; a traceback is printed as it would be."""
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:  # the end of this process's own life: like the interpreter
        traceback.print_exc()
        return 1
    return 0


def use_threads(number):
    """Does what OMP_NUM_THREADS does to a process that imports torch: ours was imported before it was set."""
    import torch

    if number.isdigit() and int(number):
        torch.set_num_threads(int(number))


def start_agent(folder):
    """Starts the agent as its `sitecustomize` does; it finds torch imported and watches it from here on."""
    faulthandler.disable()  # the host's: the agent's goes to a file, and leaves alone what was on before
    package = types.ModuleType(AGENT)
    package.__path__ = [folder]
    sys.modules[AGENT] = package
    importlib.import_module(AGENT + ".boot").start(package)
