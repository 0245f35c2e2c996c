from .schedules import Schedule1F1B
from .stage import PipelineStage

__all__ = ["PipelineStage", "Schedule1F1B"]
