"""One rank of one try of a bisection, as a program of its own; run by file path under the job's own Python.

    python trial_rank.py REQUEST.json

RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT are set as a launcher would. See `children/trial`.
"""

import gc
import importlib
import json
import os
import resource
import sys
import types
from pathlib import Path

PACKAGE = "ups_doctor_children"  # private: the job may own a package called `trial`


def main():
    """Tries the case; ends without the interpreter's shutdown, in which threads of a process group may abort."""
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core would land in the user's folder
    request = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.path[0] = str(Path.cwd())  # was this file's folder; `python train.py` and `python -m` find the user's modules
    os.environ.update(request["settings"].get("env", ()))
    package = types.ModuleType(PACKAGE)
    package.__path__ = [str(Path(__file__).resolve().parent)]
    sys.modules[PACKAGE] = package
    gc.disable()  # nothing of an import is garbage, and to look for some takes a fifth of its time
    try:
        import torch  # noqa: F401 - said here in one sentence where there is none
    except ImportError as error:
        sys.stderr.write("%s cannot import torch: %s\n" % (sys.executable, error))
        os._exit(2)
    gc.freeze()
    gc.enable()
    session = importlib.import_module(PACKAGE + ".trial.session")
    session.leave(session.run(request, int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))))


if __name__ == "__main__":
    main()
