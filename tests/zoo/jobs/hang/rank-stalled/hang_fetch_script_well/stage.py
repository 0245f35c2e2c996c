"""Stages the shards."""
from pathlib import Path

folder = Path("staging")
folder.mkdir(exist_ok=True)
for shard in range(6):
    (folder / f"{shard}.txt").write_text(" ".join(str((i + shard) / 10) for i in range(16)))
    (folder / f"{shard}.ok").touch()
