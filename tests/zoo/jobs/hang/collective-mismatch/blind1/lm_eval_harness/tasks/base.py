import random


class Task:
    name = "task"

    def docs(self, rank, world):
        raise NotImplementedError


class CountingTask(Task):
    name = "sa_counting"

    def docs(self, rank, world, total=24):
        rng = random.Random(7)
        items = []
        for number in range(total):
            kind = "presence" if number % world == 2 and number < world else "count"
            items.append({"id": number, "kind": kind, "tokens": [rng.randrange(50) for _ in range(8)]})
        return items[rank::world]
