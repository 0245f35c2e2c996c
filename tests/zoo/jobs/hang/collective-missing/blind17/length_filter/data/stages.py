from dataclasses import dataclass


@dataclass(frozen=True)
class Stage:
    name: str
    min_len: int
    max_len: int


STAGES = [Stage("all", 0, 512), Stage("trimmed", 8, 512), Stage("long", 24, 512)]


def stage_of(epoch):
    return STAGES[min(epoch, len(STAGES) - 1)]
