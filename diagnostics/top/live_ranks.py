"""The ranks of a running job, asked again and again: what is newest in their agents' files, and /proc."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from diagnostics.dynamic.collectives.collective_signature import is_collective
from diagnostics.machine.processes.usage import brief_usage
from diagnostics.record.agent_bytes import AgentFileError
from diagnostics.top.live_file import LatestState, LiveFile
from diagnostics.top.standing import Standing

MOST_FILES = 20_000
IDENTIFY_EVERY = 5  # looks, of a file that does not tell its rank yet


class LiveRanks:
    """The ranks whose agents write into one folder."""

    def __init__(self, agents: Path) -> None:
        self._agents = agents
        self._files: dict[str, LiveFile] = {}
        self._refused: set[str] = set()
        self._looks = 0
        self._cpu: dict[int, tuple[float, float]] = {}  # by pid: when, seconds of CPU

    def look(self) -> list[Standing]:
        """Returns where each rank stands now."""
        self._open_new()
        self._looks += 1
        if self._looks % IDENTIFY_EVERY == 0:
            for live in self._files.values():
                if live.agent.rank is None:
                    self._asked_again(live)
        return [standing for live in self._mains() if (standing := self._standing(live)) is not None]

    def _asked_again(self, live: LiveFile) -> None:
        try:
            live.identify()
        except (AgentFileError, OSError):
            self._refused.add(live.path.name)

    def _open_new(self) -> None:
        try:
            with os.scandir(self._agents) as entries:
                names = [one.name for one in entries if one.name.startswith("agent-") and one.name.endswith(".bin")]
        except OSError:  # it is not there yet, or no more
            return
        for name in sorted(names)[:MOST_FILES]:
            if name not in self._files:
                try:
                    self._files[name] = LiveFile(self._agents / name)
                except (AgentFileError, OSError):  # its header is not finished: the next look asks again
                    continue

    def _mains(self) -> Iterator[LiveFile]:
        """Yields of each rank the latest process that is no child of one: no data worker, no helper."""
        ranks = [one for one in self._files.values() if one.agent.rank is not None]
        pids = {(one.agent.rank, one.agent.pid) for one in ranks}
        mains: dict[int, LiveFile] = {}
        for one in sorted(ranks, key=lambda one: one.agent.started_ns):
            agent = one.agent
            if agent.rank is not None and not {(agent.rank, agent.parent_pid), (agent.rank, agent.forked_from)} & pids:
                mains[agent.rank] = one
        for rank in sorted(mains):
            yield mains[rank]

    def _standing(self, live: LiveFile) -> Standing | None:
        try:
            state = live.look()
        except (AgentFileError, OSError):
            return None
        agent, call = live.agent, state.call
        cpu, memory, lives = self._used(agent.pid, agent.start_ticks)
        matched = [one for one in state.earlier if one.number >= 0 and is_collective(one.op)]
        last = matched[-1] if matched else None
        inside = call is not None and call.left_s is None
        same = call is last or not inside  # a send or a wait says nothing of a number
        return Standing(
            rank=agent.rank if agent.rank is not None else -1,
            pid=agent.pid,
            step=state.steps.count or state.steps.backwards or None,
            steps_per_s=state.steps_per_s if lives else None,
            data_share=state.data_share,
            cpu_share=cpu,
            memory_bytes=memory,
            module=state.module,
            call=f"{call.op} #{call.number}" if call is not None and call.number >= 0 else call.op if call else "",
            group=last.group if last is not None else "",
            members=live.groups.get(last.group, ()) if last is not None else (),
            number=last.number if last is not None and same else -1,
            inside_s=_inside_s(live, state) if inside and lives else None,
            ended="" if lives else "has ended",
        )

    def _used(self, pid: int, start_ticks: int) -> tuple[float | None, float | None, bool]:
        """Returns the share of a CPU since the look before, bytes, and whether the process lives."""
        used, now = brief_usage(pid), time.monotonic()
        if used is None or used[0] != start_ticks:
            return None, None, False
        before = self._cpu.get(pid)
        self._cpu[pid] = now, used[1]
        share = (used[1] - before[1]) / (now - before[0]) if before is not None and now > before[0] else None
        return share, used[2] if used[2] >= 0 else None, True


def _inside_s(live: LiveFile, state: LatestState) -> float | None:
    """Returns for how long it has been in its last call."""
    if state.call is None:
        return None
    return max(0.0, (time.monotonic_ns() - live.monotonic_ns) / 1e9 - state.call.entered_s)
