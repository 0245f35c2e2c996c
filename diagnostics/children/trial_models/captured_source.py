"""A model and a batch that a script's run left in a folder."""

from ..inspection.refusal import Refusal
from ..inspection.targets import load
from . import captured
from .factory_source import calls_of


class Captured:
    """`folder` as the agent in the script's run wrote it; `inputs` as for a factory, "" for the captured batch."""

    def __init__(self, folder, inputs, workers):
        self.folder, self.inputs, self.workers = folder, inputs, workers
        self.loaded_inputs = None

    def load(self):
        """Reads what lies in the folder."""
        said(captured.facts, self.folder)
        self.loaded_inputs = load(self.inputs) if self.inputs else None

    def build(self):
        """Returns the model; what its constructor raises is a failure and no refusal."""
        return said(captured.build, self.folder)

    def calls(self, model, count):
        """Returns the first call of the run as often as it is asked for, or calls with batches of the user's."""
        if count and self.loaded_inputs is not None:
            return calls_of(model, self.inputs, self.loaded_inputs, self.workers, count)
        following = said(captured.batches, self.folder) if count else None
        if count and following is None:
            hint = "name a function that makes a batch, before --script: --inputs module:make_batch"
            raise Refusal("the run that was captured reached no batch", hint)
        return [following() for _ in range(count)]


def said(function, folder):
    """Calls the function; where the folder cannot be made a model of, its sentence becomes a Refusal."""
    try:
        return function(folder)
    except captured.CannotRebuild as error:
        raise Refusal(str(error), error.hint) from error
