"""What a rank says of its try: written anew as each phase begins, so that a crash leaves it."""

import json
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import torch

from .raised import described


class Answer:
    """The answer of one rank, `content`, and the file it is written to."""

    def __init__(self, file):
        self.file = Path(file)
        self.paths = {}  # id of a module -> its dotted path, once the model is known
        self.listener = None  # is told the name of each phase, with "B" as it begins and "E" at its end
        self.content = {
            "torch": str(torch.__version__),
            "phase": "",
            "step": 0,
            "phases": [],
            "losses": [],
            "refusal": "",
            "hint": "",
            "stages": [],
            "error": None,
            "nonfinite": "",
            "nonfinite_step": 0,
            "nonfinite_module": None,
            "nonfinite_frames": [],
            "gradients": "",
            "parameters": "",
            "tree": [],
        }

    @contextmanager
    def phase(self, name, step=0):
        """Announces a phase; what it raises is left to the caller, with the phase still named."""
        self.content.update(phase=name, step=step)
        self.write()
        announce("step %d: %s" % (step, name) if step else name)
        self.tell(name, "B")
        began = time.monotonic()
        yield
        self.tell(name, "E")
        self.content["phases"].append([name, time.monotonic() - began])

    def tell(self, name, kind):
        """Passes the beginning or end of a phase on."""
        if self.listener is not None:
            self.listener(name, kind)

    def note(self, **values):
        """Sets parts of the answer; they are written with the next phase."""
        self.content.update(values)

    def refuse(self, refusal):
        """Says why the case cannot be run as asked."""
        self.content.update(refusal=str(refusal), hint=refusal.hint)
        self.write()

    def fail(self, error):
        """Says what ended the try."""
        at = {"phase": self.content["phase"], "step": self.content["step"]}
        self.content["error"] = {**at, **described(error, self.paths)}
        self.write()

    def finish(self):
        """Says that everything came to its end."""
        self.content.update(phase="")
        self.write()

    def write(self):
        """Replaces the file in one step, so that a crash leaves the answer before it."""
        temporary = self.file.with_name(self.file.name + ".tmp")
        temporary.write_text(json.dumps(self.content), encoding="utf-8")
        temporary.replace(self.file)


def announce(phase):
    """Tells the doctor's agent, where one is in this process, what begins now."""
    agent = sys.modules.get("_ups_doctor_agent")
    if agent is not None:
        agent.mark(phase)
