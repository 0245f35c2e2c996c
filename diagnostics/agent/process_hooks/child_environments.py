"""Pythons that a program starts with an environment of its own making: what brings the agent in goes with them.

A launcher that hands its ranks a list of variables leaves ours out without meaning to. Only a Python, or a script of
one, is given them; the mapping that the program made is not touched.
"""

from __future__ import annotations

import os
import sys

from ..patching import disguised

PREFIX, OFF, FOLDER = "UPS_DOCTOR_", "UPS_DOCTOR_OFF", "UPS_DOCTOR_DIR"
SITE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "site")
_ARGS, _EXECUTABLE, _ENV = 1, 2, 7  # of Popen._execute_child, self first, from Python 3.8 to 3.14


def watch_popen(agent):
    """Hands the agent's variables on where subprocess is given an environment without them."""
    owner = sys.modules["subprocess"].Popen
    original = owner.__dict__.get("_execute_child")
    if original is None:
        return

    def call(*args, **kwargs):
        try:
            if len(args) > _ENV and args[_ENV] is not None and _is_python(args[_ARGS], args[_EXECUTABLE]):
                args = (*args[:_ENV], with_agent(args[_ENV]), *args[_ENV + 1 :])
        except Exception:
            pass  # a child that is not watched
        return original(*args, **kwargs)

    owner._execute_child = disguised(call, original)


def with_agent(environment):
    """Returns the environment of a child, with what this process got from the doctor where that is missing."""
    names = {os.fsdecode(name) for name in environment}
    if FOLDER in names or OFF in names or os.environ.get(OFF) == "1" or not os.environ.get(FOLDER):
        return environment
    made = {os.fsdecode(name): os.fsdecode(value) for name, value in environment.items()}
    made.update((name, value) for name, value in os.environ.items() if name.startswith(PREFIX))
    path = made.get("PYTHONPATH", "")
    if SITE not in path.split(os.pathsep):
        made["PYTHONPATH"] = SITE + os.pathsep + path if path else SITE
    return made


def _is_python(args, executable):
    words = [executable] if executable is not None else args if isinstance(args, (list, tuple)) else [args]
    first = os.fsdecode(words[0]).split(" ", 1)[0] if words else ""
    if os.path.basename(first).startswith("python"):
        return True
    script = first if os.sep in first else os.path.join(os.path.dirname(sys.executable), first)
    if not first or not os.path.isfile(script):
        return False
    with open(script, "rb") as file:
        line = file.read(256).split(b"\n", 1)[0]
    return line.startswith(b"#!") and b"python" in line
