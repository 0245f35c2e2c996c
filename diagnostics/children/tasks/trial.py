"""One rank of one try of a bisection, forked with torch already imported; see `children/trial`."""

import importlib
import os
import sys
import types
from pathlib import Path

from .module import start_agent

PACKAGE = "ups_doctor_children"  # private: the job may own a package called `trial`


def run(rank, world_size, arguments):
    """Tries the case and ends this process with its exit code; the answer lies in the request's file."""
    sys.path.insert(0, str(Path.cwd()))
    if os.environ.get("UPS_DOCTOR_DIR"):
        start_agent(arguments["agent"])
    package = types.ModuleType(PACKAGE)
    package.__path__ = [str(Path(__file__).parent.parent)]
    sys.modules[PACKAGE] = package
    request = {"timeout_s": arguments["timeout_s"], **arguments["request"]}
    session = importlib.import_module(PACKAGE + ".trial.session")
    session.leave(session.run(request, rank, world_size))
