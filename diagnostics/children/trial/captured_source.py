"""A model and a batch that a script's run left in a folder."""

from ..inspection.refusal import Refusal
from . import captured


class Captured:
    """`folder` as the agent in the script's run wrote it."""

    def __init__(self, folder):
        self.folder = folder

    def load(self):
        """Reads what lies in the folder."""
        said(captured.facts, self.folder)

    def build(self):
        """Returns the model; what its constructor raises is a failure and no refusal."""
        return said(captured.build, self.folder)

    def calls(self, model, count):
        """Returns the first call of the run, as often as it is asked for."""
        following = said(captured.batches, self.folder) if count else None
        if count and following is None and count:
            hint = "name a function that makes a batch: --inputs module:make_batch"
            raise Refusal("the run that was captured reached no batch", hint)
        return [following() for _ in range(count)]


def said(function, folder):
    """Calls the function; where the folder cannot be made a model of, its sentence becomes a Refusal."""
    try:
        return function(folder)
    except captured.CannotRebuild as error:
        raise Refusal(str(error), error.hint) from error
