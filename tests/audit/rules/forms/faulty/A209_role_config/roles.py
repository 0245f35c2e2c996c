from dataclasses import dataclass, field


@dataclass
class Roles:
    rank: int
    actors: list = field(default_factory=lambda: [0, 1])

    @property
    def is_actor(self):
        return self.rank in self.actors
