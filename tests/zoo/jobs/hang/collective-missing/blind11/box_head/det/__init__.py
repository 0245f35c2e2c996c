from .head import BoxHead
from .data import Scenes

__all__ = ["BoxHead", "Scenes"]
