"""The one error that is the user's to mend before anything was inspected."""


class Refusal(Exception):  # noqa: N818 - what the command says, no fault of its own
    """The request cannot be met; the text is one sentence, `hint` what to do, `cause` what the user's code raised."""

    def __init__(self, message, hint="", cause=None):
        super().__init__(message)
        self.hint = hint
        self.cause = cause
