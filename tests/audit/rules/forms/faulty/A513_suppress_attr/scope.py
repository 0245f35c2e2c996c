class Timer:
    def __init__(self, strict=False):
        self.strict = strict
        self.failed = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.failed = error
        return not self.strict  # cause
