"""Agents' files that are cut short, garbled or no files: a look says less, and never breaks or waits."""

from __future__ import annotations

import os
import random
import struct
from pathlib import Path

from diagnostics.agent.shared import layout
from diagnostics.record.agent_bytes import AgentFileError
from diagnostics.top.live_file import LiveFile
from diagnostics.top.live_ranks import LiveRanks


def agent_file(seed: int, size: int) -> bytes:
    """Returns a valid header and areas of random bytes, of which some lie behind the end."""
    chance = random.Random(seed)
    text = b"RANK=0\0"
    header = struct.pack(layout.HEADER, layout.MAGIC, 1, layout.HEADER_BYTES, os.getpid(), 1, 1, 0, 0, 0, len(text))
    areas, end = layout.torch_areas(layout.BASE_BYTES)
    table = b"".join(
        struct.pack(layout.AREA_ENTRY, name.encode(), offset, length)
        for name, offset, length in (*layout.base_areas(layout.BASE_BYTES), *areas)
    )
    data = bytearray(chance.randbytes(end))
    data[: layout.HEADER_BYTES] = bytes(layout.HEADER_BYTES)
    data[: len(header)] = header
    data[layout.AREA_TABLE_OFFSET : layout.AREA_TABLE_OFFSET + len(table)] = table[: layout.AREA_COUNT * 32]
    data[layout.TEXT_OFFSET : layout.TEXT_OFFSET + len(text)] = text
    return bytes(data[:size])


def test_random_areas_and_files_that_end_early_are_looked_at_and_nothing_breaks(tmp_path: Path) -> None:
    looked = 0
    for seed, size in enumerate((1 << 30, 700_000, 500_000, 300_000, 140_000, layout.HEADER_BYTES, 4000, 0)):
        path = tmp_path / f"agent-{seed}-1.bin"
        path.write_bytes(agent_file(seed, size))
        try:
            live = LiveFile(path)
            path.write_bytes(agent_file(seed, min(size, 200_000)))  # it shrinks while it is looked at
            live.look()
            looked += 1
        except AgentFileError:
            continue
    assert looked == 6
    LiveRanks(tmp_path).look()


def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "agent-1-1.bin")
    (tmp_path / "agent-2-1.bin").symlink_to("/dev/zero")
    (tmp_path / "agent-3-1.bin").mkdir()
    assert LiveRanks(tmp_path).look() == []
    assert LiveRanks(tmp_path / "nowhere").look() == []
