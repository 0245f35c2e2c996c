from .evaluation import DistEvalHook
from .hook import Hook
from .logger import TextLoggerHook
from .optimizer import OptimizerHook

__all__ = ["Hook", "DistEvalHook", "TextLoggerHook", "OptimizerHook"]
