import fcntl


class Results:
    """One row for each rank and setting in a file that all processes share."""

    def __init__(self, path):
        self.path = path
        self.file = None

    def append(self, *row):
        self.file = open(self.path, "a")
        fcntl.flock(self.file, fcntl.LOCK_EX)
        self.file.write(",".join(map(str, row)) + "\n")
        self.file.flush()
