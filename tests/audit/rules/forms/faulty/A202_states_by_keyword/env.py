import os


class Env:
    @property
    def rank(self):
        return int(os.environ.get("RANK", "0"))

    @property
    def is_first(self):
        return self.rank == 0
