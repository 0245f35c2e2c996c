"""Starts the agent in a Python process whose PYTHONPATH holds this folder, then hands over to a shadowed namesake.

Python imports `sitecustomize` once, before the job's first line. `python -I`, `-E` and `-S` do not, and so
stay unwatched; the missing agent file shows it.
"""

import os
import sys
from importlib.machinery import PathFinder

_HERE = os.path.dirname(__file__)  # as it stands on the search path, and without asking for the working directory


def _start_agent():
    if os.environ.get("UPS_DOCTOR_OFF") == "1" or not os.environ.get("UPS_DOCTOR_DIR"):
        return
    try:
        # A package of our own making: its files are found by folder, and no search path changes.
        package = type(sys)("_ups_doctor_agent")
        package.__path__ = [os.path.dirname(os.path.abspath(_HERE))]
        sys.modules["_ups_doctor_agent"] = package
        from _ups_doctor_agent import boot

        boot.start(package)
    except Exception:
        sys.modules.pop("_ups_doctor_agent", None)


def _is_here(folder):
    try:
        return os.path.samefile(folder or ".", _HERE)
    except OSError:
        return False


def _run_shadowed():
    elsewhere = [folder for folder in sys.path if not _is_here(folder)]
    spec = PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is None or spec.loader is None:
        return
    module = type(sys)("sitecustomize")
    module.__spec__, module.__loader__, module.__file__ = spec, spec.loader, spec.origin
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)  # what it raises is the job's, and site reports it as ever


_start_agent()
_run_shadowed()
