"""Model and batches of a captured folder."""


class CannotRebuild(Exception):  # noqa: N818 - what the command says, no fault of its own
    """The captured model cannot be made again; the text is one sentence, `hint` what to do."""

    def __init__(self, message, hint=""):
        super().__init__(message)
        self.hint = hint


def facts(folder):
    """Returns what capture.json says."""
    raise NotImplementedError


def build(folder):
    """Returns the model."""
    raise NotImplementedError


def batches(folder):
    """Returns a function that gives (args, kwargs), None where the run reached no batch."""
    raise NotImplementedError
