import random
import sqlite3


def create(path, n=4000, seed=1):
    rng = random.Random(seed)
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE IF NOT EXISTS events (id INTEGER PRIMARY KEY, user INT, item INT, clicked INT)")
        db.execute("DELETE FROM events")
        db.executemany(
            "INSERT INTO events (user, item, clicked) VALUES (?, ?, ?)",
            [(rng.randrange(300), rng.randrange(500), int(rng.random() < 0.2)) for _ in range(n)],
        )


class EventLog:
    """Cursor over the click log of one shard."""

    def __init__(self, path, shard, shards):
        self.db = sqlite3.connect(path)
        self.shard, self.shards = shard, shards

    def __len__(self):
        (n,) = self.db.execute("SELECT COUNT(*) FROM events WHERE id % ? = ?", (self.shards, self.shard)).fetchone()
        return n

    def scan(self, after=0, limit=64):
        return self.db.execute(
            "SELECT id, user, item, clicked FROM events WHERE id > ? AND id % ? = ? ORDER BY id LIMIT ?",
            (after, self.shards, self.shard, limit),
        ).fetchall()
