"""Why a captured model cannot be made again."""


class CannotRebuild(Exception):  # noqa: N818 - what the command says, no fault of its own
    """The captured model cannot be made again; the text is one sentence, `hint` what to do."""

    def __init__(self, message, hint=""):
        super().__init__(message)
        self.hint = hint
