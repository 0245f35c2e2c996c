from .stages import PatchSource, Stream

__all__ = ["PatchSource", "Stream"]
