"""A start of Python that waits: `python -m main` with this folder on PYTHONPATH, and UPS_TEST_CONTROL=FD.

Python imports `sitecustomize` before it looks for its program. Here what UPS_TEST_WARM says is imported and requests
are waited for; each fork then goes on as the interpreter that it is: with the environment, arguments, search path and
`sitecustomize` of the request, it runs its program (the main.py of its own folder, or the text behind -c), shows what
that raises and ends, all by itself. No frame of ours is on its stack.
"""

import atexit
import ctypes
import gc
import io
import os
import socket
import sys
import tempfile
import weakref
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
CONTROL, WARM = "UPS_TEST_CONTROL", "UPS_TEST_WARM"
SHARED: set[str] = set()  # the names of what was imported before the first fork


def wait() -> None:
    """Imports what is wanted and returns in each fork."""
    atexit.register(keep_what_was_imported)  # the first to be registered is the last to be called
    sys.path[:] = [path for path in sys.path if path != str(HERE)]
    gc.disable()  # until all forks share what was imported
    {"training": import_training, "doctor": import_doctor}[os.environ.pop(WARM)]()
    sys.path.insert(0, str(HERE.parent))
    import warm_host

    for one in weakref.finalize._registry:  # type: ignore[attr-defined] # torch's, which take its operators out again
        one.atexit = False
    SHARED.update(sys.modules.keys() - {"sys", "builtins", "__main__", "sitecustomize"})
    asked = warm_host.serve(socket.socket(fileno=int(os.environ.pop(CONTROL))))
    if asked is None:
        os._exit(0)
    gc.enable()
    become(asked["argv"], asked["env"])


def import_training() -> None:
    import torch._dynamo  # noqa: F401 - which torch puts off until the first optimizer


def import_doctor() -> None:
    """What `ups-doctor run` imports, from its command line to its pages, and what other commands begin with."""
    from diagnostics import diagnosis
    from diagnostics.commands import audit, fix_cache, run  # noqa: F401
    from diagnostics.core.registry import discover
    from diagnostics.report import html_page, run_sections  # noqa: F401

    discover(diagnosis)
    discover(run_sections, key="ORDER")


def keep_what_was_imported() -> None:
    """Has the end of the interpreter pass by what the host imported, which takes six times as long as a short program.

    To tear it down is to write to all the memory that is shared, page by page. What the program imports, makes and
    leaves to `atexit`, to threads and to `__del__` ends as ever; only that it never finds these modules empty.
    """
    kept = [sys.modules.pop(name) for name in sorted(SHARED & sys.modules.keys())]
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))


def leave_the_libraries() -> None:
    """Has the process end before libraries in C++ tear down what the host loaded, half of what a short program takes.

    Python's own end is whole by then. exit(3) calls first what was registered last: what the program itself loads
    is torn down, too.
    """
    libc = ctypes.CDLL(None)
    libc.on_exit(libc._exit, None)  # on_exit(3) hands it the exit code


def new_streams() -> None:
    """Makes stdout and stderr anew, as the start did: what was here before the fork keeps the others from their end."""
    for name, number in (("stdout", 1), ("stderr", 2)):
        old = getattr(sys, name)
        raw = io.FileIO(number, "w", closefd=False)
        raw.name = f"<{name}>"
        under = raw if isinstance(old.buffer, io.FileIO) else io.BufferedWriter(raw)
        settings = {"line_buffering": old.line_buffering, "write_through": old.write_through}
        new = io.TextIOWrapper(under, encoding=old.encoding, errors=old.errors, **settings)  # type: ignore[arg-type]
        new.mode = "w"  # type: ignore[misc]
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)


def become(argv: list[str], environ: dict[str, str]) -> None:
    """Takes arguments and environment, and does what the start of an interpreter does with them."""
    from warm_looks import look_like

    look_like([sys.executable, *argv], environ)
    sys.argv[1:], sys.orig_argv[1:] = argv[2:], argv
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed()  # those of `random` are another fork's by themselves
    os.environ.clear()
    os.environ.update(environ)
    tempfile.tempdir = None  # it comes from there
    new_streams()
    leave_the_libraries()
    sys.path[:0] = [path for path in environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path.remove(str(HERE.parent))
    for name in ("warm_host", "warm_looks"):
        del sys.modules[name]
    # One that no collection leaves out, as it does what was there before the fork: it is torn down at the end.
    main = ModuleType("__main__")
    vars(main).update(vars(sys.modules["__main__"]))
    sys.modules["__main__"] = main
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        sys.modules["sitecustomize"] = module = module_from_spec(spec)
        spec.loader.exec_module(module)


wait()
