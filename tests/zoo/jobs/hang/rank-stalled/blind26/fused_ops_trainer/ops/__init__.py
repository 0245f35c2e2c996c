from .loader import load_fused
from .functional import swiglu

__all__ = ["load_fused", "swiglu"]
