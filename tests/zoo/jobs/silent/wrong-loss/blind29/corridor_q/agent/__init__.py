from .dqn import DQN
from .memory import ReplayMemory

__all__ = ["DQN", "ReplayMemory"]
