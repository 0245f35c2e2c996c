from .async_writer import AsyncCheckpointWriter
from .manager import CheckpointManager

__all__ = ["AsyncCheckpointWriter", "CheckpointManager"]
