class Stage:
    """Keeps what ended it; who uses it asks."""

    def __init__(self, name):
        self.name, self.error = name, None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.error = error
        return isinstance(error, Exception)
