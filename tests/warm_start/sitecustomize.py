"""A start of Python that waits: `python -m main` with this folder on PYTHONPATH, and UPS_TEST_CONTROL=FD.

Python imports `sitecustomize` before it looks for its program. Here torch is imported and requests are waited for; each
fork then goes on as the interpreter that it is: with the environment, search path and `sitecustomize` of the request,
it runs the main.py of its own folder, shows what that raises and ends, all by itself. No frame of ours is on its stack.
"""

import os
import socket
import sys
import tempfile
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
CONTROL = "UPS_TEST_CONTROL"


def wait() -> None:
    """Imports what a training imports and returns in each fork."""
    sys.path[:] = [path for path in sys.path if path != str(HERE)]
    sys.path.insert(0, str(HERE.parent))
    import torch._dynamo  # noqa: F401 - which torch puts off until the first optimizer
    import warm_host

    asked = warm_host.serve(socket.socket(fileno=int(os.environ.pop(CONTROL))))
    if asked is None:
        os._exit(0)
    sys.path.pop(0)
    become(asked["env"])


def become(environ: dict[str, str]) -> None:
    """Takes the environment, and does what the start of an interpreter does with it."""
    import numpy as np

    np.random.seed()  # those of `random` are another fork's by themselves
    os.environ.clear()
    os.environ.update(environ)
    tempfile.tempdir = None  # it comes from there
    sys.path[:0] = [path for path in environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    del sys.modules["warm_host"]
    # One that no collection leaves out, as it does what was there before the fork: it is torn down at the end.
    main = ModuleType("__main__")
    vars(main).update(vars(sys.modules["__main__"]))
    sys.modules["__main__"] = main
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        sys.modules["sitecustomize"] = module = module_from_spec(spec)
        spec.loader.exec_module(module)


wait()
