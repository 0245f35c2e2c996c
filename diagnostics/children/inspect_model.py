"""Steps a model a few times and writes down what source cannot show; run by file path under the job's own Python.

    python inspect_model.py REQUEST.json

Syntax of Python 3.8, nothing of ours but the package `inspection` beside it, loaded under a private name. The
request is {"result", "steps", "device", "targets": [{"factory", "inputs", "name"}]} or, in place of "targets",
{"adapter": {"module", "argv"}}: then the trainer's adapter builds the models and hands them over. What was seen
goes to the file "result", rewritten after each model; stdout belongs to the model's own code.
Exit codes: 0 answered, 2 the request cannot be met (one sentence on stderr), 3 see the answer.
"""

import gc
import importlib.util
import json
import resource
import sys
from pathlib import Path

PACKAGE = "ups_doctor_inspection"
HANDED_OVER = "_ups_doctor_inspection"  # what an adapter looks for in sys.modules


def load_package():
    """Imports the package beside this file under its private name: the job may own one called `inspection`."""
    folder = Path(__file__).resolve().parent / "inspection"
    spec = importlib.util.spec_from_file_location(
        PACKAGE, str(folder / "__init__.py"), submodule_search_locations=[str(folder)]
    )
    sys.modules[PACKAGE] = package = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)


def main():
    """Answers one request."""
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core would land in the user's folder
    request = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    sys.path[0] = str(Path.cwd())  # was this file's folder; `python train.py` and `python -m` find the user's modules
    gc.disable()  # nothing of an import is garbage, and to look for some takes a fifth of its time
    try:
        import torch  # noqa: F401 - said here in one sentence where there is none
    except ImportError as error:
        sys.stderr.write("%s cannot import torch: %s\n" % (sys.executable, error))
        return 2
    gc.freeze()
    gc.enable()
    load_package()
    session = importlib.import_module(PACKAGE + ".session")
    sys.modules[HANDED_OVER] = session
    return session.run(request)


if __name__ == "__main__":
    sys.exit(main())
