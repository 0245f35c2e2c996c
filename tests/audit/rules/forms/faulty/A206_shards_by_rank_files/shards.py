from pathlib import Path


class ShardReader:
    def __init__(self, folder, rank, world):
        self.files = sorted(Path(folder).glob("*.pt"))[rank::world]

    def __iter__(self):
        for path in self.files:
            yield path
