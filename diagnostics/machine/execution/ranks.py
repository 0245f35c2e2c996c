"""Runs N ranks: tasks of ours forked from a warm child that has torch, or any program once a rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from diagnostics.core.own_folders import CHILDREN
from diagnostics.core.thresholds import Thresholds
from diagnostics.machine.execution.plain_ranks import GRACE_S, free_port, run_ranks
from diagnostics.machine.execution.torch_host import TorchHost
from diagnostics.machine.facts import NOTHING, ChildTimeout, MachineError, RankResult, TorchFacts

IMPORT_DEADLINE_S = Thresholds().import_deadline_s
ANSWER_GRACE_S = 10.0  # past a task's deadline, for the host to collect stacks and output
# Of the deadline: torch's own error says more than our kill, and its store takes twice the timeout to give up.
GROUP_TIMEOUT_SHARE = 0.4
PORT_TAKEN = "EADDRINUSE"
PORT_TRIES = 3
IMPORTED_LATE = ("torch._dynamo",)  # by the first optimizer that is made, 1.3 s


class TorchRanks:
    """The Ranks provider. One warm child, started on first use and again where it has died."""

    def __init__(self, python: str, *, grace_s: float = GRACE_S, tasks_dir: Path = CHILDREN / "tasks") -> None:
        self._python = python
        self._grace_s = grace_s
        self._tasks_dir = tasks_dir
        self._host: TorchHost | None = None
        self._hello: dict[str, Any] | None = None

    def warm(self, *, for_modules: bool = False) -> None:
        """Starts the warm child where there is none; see contract.Ranks."""
        late = IMPORTED_LATE if for_modules else ()
        if self._host is not None:
            try:
                self._host.import_late(late)
            except MachineError:  # it died meanwhile
                self.close()
        if self._host is None:
            self._host = TorchHost(self._python, late)
            self._hello = None

    def torch_facts(self, deadline_s: float = IMPORT_DEADLINE_S) -> TorchFacts:
        """Waits for the warm child's hello; see contract.Ranks. Raises ChildTimeout where the import hangs."""
        hello = self._greeted(deadline_s)
        if "error" in hello:
            raise MachineError(f"torch does not import under {self._python}: {hello['error']}")
        return TorchFacts(**{name: hello[name] for name in TorchFacts.__dataclass_fields__})

    def run_task(
        self,
        task: str,
        nproc: int,
        *,
        backend: str,
        deadline_s: float,
        arguments: Mapping[str, Any] = NOTHING,
        env: Mapping[str, str] = NOTHING,
        idle_s: float = 0.0,
        imports: Sequence[str] = (),
    ) -> list[RankResult]:
        """Runs a task on every rank, again on another port where the first was taken meanwhile.

        The task finds `backend` and `timeout_s` for its process group among its arguments. Ranks that are
        still there at the deadline are ended after they wrote their stacks to stderr.
        """
        self.torch_facts()
        request = {
            "task": task,
            "tasks_dir": str(self._tasks_dir),
            "nproc": nproc,
            "arguments": {"backend": backend, "timeout_s": max(1.0, deadline_s * GROUP_TIMEOUT_SHARE), **arguments},
            "deadline_s": deadline_s,
            "grace_s": self._grace_s,
            "idle_s": idle_s,
        }
        for _ in range(PORT_TRIES):
            port = {"MASTER_PORT": str(free_port())}
            results = self._answer({**request, "env": {**port, **env}}, deadline_s, imports)
            if "MASTER_PORT" in env or not any(PORT_TAKEN in result.stderr for result in results):
                break
        return results

    def run_command(
        self,
        argv: Sequence[str],
        nproc: int,
        *,
        deadline_s: float,
        env: Mapping[str, str] = NOTHING,
        cwd: Path | None = None,
    ) -> list[RankResult]:
        """Starts argv once a rank; see contract.Ranks."""
        return run_ranks(argv, nproc, deadline_s=deadline_s, env=env, cwd=cwd, grace_s=self._grace_s)

    def close(self) -> None:
        """Ends the warm child and its ranks; may be called twice."""
        host, self._host, self._hello = self._host, None, None
        if host is not None:
            host.close()

    def _greeted(self, deadline_s: float) -> dict[str, Any]:
        self.warm()
        if self._hello is None and self._host is not None:
            try:
                self._hello = self._host.receive(deadline_s)
            except (MachineError, ChildTimeout) as error:
                self.close()
                raise type(error)(f"`import torch` under {error}") from error
        return self._hello or {}

    def _answer(self, request: dict[str, Any], deadline_s: float, imports: Sequence[str]) -> list[RankResult]:
        if self._host is None:
            raise MachineError("the warm child is closed")
        try:
            self._host.import_late(imports)
            self._host.imported(IMPORT_DEADLINE_S)
            self._host.send(request)
            answer = self._host.receive(deadline_s + ANSWER_GRACE_S)
        except BaseException:  # also Ctrl-C: an answer that comes late must not be taken for the next one
            self.close()
            raise
        return [RankResult(**rank) for rank in answer["ranks"]]
