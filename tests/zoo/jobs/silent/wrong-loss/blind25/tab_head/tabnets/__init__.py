from .layers import build_mlp
from .trainer import Trainer

__all__ = ["build_mlp", "Trainer"]
