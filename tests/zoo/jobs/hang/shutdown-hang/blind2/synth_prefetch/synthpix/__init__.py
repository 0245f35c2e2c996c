from .prefetch import PrefetchingWrapper
from .sampler import FlowSampler

__all__ = ["PrefetchingWrapper", "FlowSampler"]
