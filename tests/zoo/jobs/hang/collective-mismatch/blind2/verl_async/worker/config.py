from dataclasses import dataclass


@dataclass(frozen=True)
class AsyncConfig:
    rounds: int = 6
    prompts: int = 16
    prompt_length: int = 10
    vocab: int = 40
    updates_per_round: int = 4
    staleness: int = 1
    token_seconds: float = 0.02
