"""One process of a parity experiment, forked with torch imported: a script, a module, a loop, the comparison."""

import importlib
import os
import runpy
import sys
import tempfile
import traceback
import types
from pathlib import Path

from .module import start_agent, use_threads

PACKAGE = "ups_doctor_children"  # private: the job may own a package called `parity`


def run(rank, world_size, arguments):
    """Does what is asked. A script's process ends with its exit code; the comparison answers {}."""
    tempfile.tempdir = None  # asked again: this process has another one than the warm child
    if os.environ.get("UPS_DOCTOR_DIR"):
        use_threads(os.environ.get("OMP_NUM_THREADS", ""))
        start_agent(arguments["agent"])
    kind, request = arguments["kind"], arguments.get("request")
    if kind == "compare":
        return {"compared": _own("comparison").compare(request)}
    code = _exit_code(kind, arguments)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def _own(name):
    package = types.ModuleType(PACKAGE)
    package.__path__ = [str(Path(__file__).parent.parent)]
    sys.modules[PACKAGE] = package
    return importlib.import_module("%s.parity.%s" % (PACKAGE, name))


def _exit_code(kind, arguments):
    """Returns the code that the interpreter would end with; a traceback is printed as it would be."""
    try:
        _do(kind, arguments)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:  # the end of this process's own life: like the interpreter
        traceback.print_exc()
        return 1
    return 0


def _do(kind, arguments):
    if kind == "loop":
        sys.argv = [arguments["request"]["make"].rpartition(":")[0]]  # what it takes for its command line is not ours
        _own("loop").run_or_refuse(arguments["request"])
        return
    sys.argv = list(arguments["argv"])
    if kind == "module":
        sys.path.insert(0, str(Path.cwd()))
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, str(Path(sys.argv[0]).absolute().parent))
        runpy.run_path(sys.argv[0], run_name="__main__")
