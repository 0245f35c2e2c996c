import os


class Runtime:
    rank = int(os.environ["LOCAL_RANK"])
    world = int(os.environ["WORLD_SIZE"])

    @property
    def device(self):
        return f"cuda:{self.rank}"
