from .accel import Launcher
from .schedules import get_schedule

__all__ = ["Launcher", "get_schedule"]
