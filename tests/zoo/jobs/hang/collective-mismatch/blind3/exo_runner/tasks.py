from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    task_id: str
    prompt: str


@dataclass(frozen=True)
class TextGeneration(Task):
    max_tokens: int = 4


@dataclass(frozen=True)
class TextEmbedding(Task):
    pass
