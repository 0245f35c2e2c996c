class RestartRequired(RuntimeError):
    """The worker holds an outdated view of the data set and has to be started again."""
