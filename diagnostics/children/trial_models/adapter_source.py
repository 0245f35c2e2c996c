"""A model that a trainer's adapter hands over: its verb `inspect` runs in this process, up to the stage wanted."""

import io
import itertools
import runpy
import sys

from ..inspection.refusal import Refusal
from ..inspection.targets import as_call, check_call

HANDED_OVER = "_ups_doctor_inspection"  # what an adapter looks for in sys.modules


class Leave(BaseException):
    """Ends the adapter's work once it has handed over what was wanted."""


class Adapter:
    """In sys.modules it stands for the inspection: `device` and `inspect` are what adapters call."""

    def __init__(self, request, answer):
        source, settings = request["source"], request["settings"]
        self.module, self.argv = source["adapter"][0], list(source["adapter"][1:])
        for override in request["edits"].get("overrides", ()):
            self.argv += ["--set", override]
        self.stage, self.answer = source.get("stage", ""), answer
        self.wanted = settings["steps"] * settings["accumulate"]
        self.model, self.batches = None, ()

    def load(self):
        """Imports nothing: the adapter's own program does, when it builds."""

    def build(self):
        """Returns the model of the stage wanted, the first one where none is named."""
        sys.modules[HANDED_OVER] = self
        told = Tee(sys.stderr)
        before, sys.argv, sys.stderr = (sys.argv, sys.stderr), [self.module, *self.argv], told
        try:
            runpy.run_module(self.module, run_name="__main__", alter_sys=True)
        except Leave:
            return self.model
        except SystemExit as left:
            if left.code == 2:
                lines = told.getvalue().strip().splitlines() or ["the adapter %s refuses this CONFIG" % self.module]
                raise Refusal(lines[0], "\n".join(line.strip() for line in lines[1:])) from None
            if left.code:
                raise
        finally:
            sys.argv, sys.stderr = before
            del sys.modules[HANDED_OVER]
        known = ", ".join(self.answer.content["stages"]) or "none"
        raise Refusal("the adapter %s hands over no stage %r" % (self.module, self.stage), "it has: %s" % known)

    def calls(self, model, count):
        """Returns the arguments of `count` calls; where the adapter has fewer batches, the last one again."""
        calls = [as_call(model, batch) for batch in self.batches]
        for args, kwargs in calls:
            check_call(model, self.stage or type(model).__name__, args, kwargs)
        return calls + calls[-1:] * (count - len(calls))

    def device(self):
        """Called by the adapter: models and batches are moved later, in a phase of their own."""
        return "cpu"

    def inspect(self, name, model, batches, note=""):
        """Called by the adapter for each of its models. Batches are read here: their files are open now."""
        self.answer.note(stages=[*self.answer.content["stages"], name])
        if self.stage in ("", name):
            self.model, self.batches = model, list(itertools.islice(batches, self.wanted))
            if self.wanted and not self.batches:
                raise Refusal("the adapter %s has no batch for %s" % (self.module, name))
            raise Leave


class Tee(io.StringIO):
    """Keeps what is written and passes it on."""

    def __init__(self, other):
        super().__init__()
        self.other = other

    def write(self, text):
        """Writes to both."""
        self.other.write(text)
        return super().write(text)

    def flush(self):
        """Flushes what it passes on to."""
        self.other.flush()

    def fileno(self):
        """Returns the other's, for faulthandler and children."""
        return self.other.fileno()
