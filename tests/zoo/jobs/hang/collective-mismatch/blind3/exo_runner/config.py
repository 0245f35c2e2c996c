from dataclasses import dataclass


@dataclass
class ClusterConfig:
    hidden: int = 64
    layers: int = 2
    poll_seconds: float = 0.3
    # one way delays from the api node, seconds: (node 0, node 1)
    chat_route: tuple = (0.02, 0.08)
    embed_route: tuple = (0.08, 0.02)
    rounds: int = 12
