from .registry import registry
from .uploader import Uploader

__all__ = ["registry", "Uploader"]
