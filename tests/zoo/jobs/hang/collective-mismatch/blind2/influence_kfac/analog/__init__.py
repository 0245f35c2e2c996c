from analog.config import InfluenceConfig
from analog.logging import HookLogger
from analog.state import AnaLogState

__all__ = ["InfluenceConfig", "HookLogger", "AnaLogState"]
