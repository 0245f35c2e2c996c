import os
import sys


class TileCache:
    """Tiles that were read already."""

    def __init__(self, budget):
        self.budget = budget
        self.tiles = {}

    def read(self, i, image):
        if i % 2 and i > self.budget:
            sys.stderr.write("tile cache: budget spent\n")
            os._exit(3)
        return self.tiles.setdefault(i, image)
