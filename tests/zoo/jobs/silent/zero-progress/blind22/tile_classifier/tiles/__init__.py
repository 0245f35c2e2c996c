from tiles.data import TileSet, fake_archive
from tiles.engine import Engine
from tiles.net import TileNet

__all__ = ["Engine", "TileNet", "TileSet", "fake_archive"]
