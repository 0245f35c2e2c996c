from .base import Metric
from .mean_ap import MeanRecall

__all__ = ["Metric", "MeanRecall"]
