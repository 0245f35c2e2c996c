"""A real Slurm on this machine for as long as a `with` lasts: munged, slurmctld and slurmds, from Debian's packages.

Everything lives in one temporary folder, in processes of this one's own; all are ended and the folder removed at the
end. Needs root, `slurm-wlm` and `munge`.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "sinfo", "scontrol", "scancel")
UP_S = 30.0
CONFIG = """\
ClusterName=doctor
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SelectType=select/cons_tres
SlurmdParameters=config_overrides
SelectTypeParameters=CR_Core
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
JobRequeue=1
KillWait=5
SlurmdTimeout=20
InactiveLimit=0
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
{nodes}
PartitionName=low Nodes=ALL Default=YES MaxTime=60 State=UP PriorityTier=1 PreemptMode=REQUEUE
PartitionName=high Nodes=ALL MaxTime=60 State=UP PriorityTier=10 PreemptMode=OFF
"""


def why_not() -> str:
    """Returns what is missing for a cluster here, "" for nothing."""
    if os.geteuid() != 0:
        return "Slurm's daemons are started as root"
    missing = [name for name in NEEDED if not (shutil.which(name) or Path(f"/usr/sbin/{name}").exists())]
    return f"{', '.join(missing)} are not installed: apt-get install slurm-wlm munge" if missing else ""


class SlurmCluster:
    """Brings the daemons up, and down again whatever happens."""

    def __init__(self, nodes: int, folder: Path | None = None) -> None:
        self.names = [f"n{number}" for number in range(1, nodes + 1)]
        self.folder = folder or Path(tempfile.mkdtemp(prefix="ups-slurm-"))
        self.environ = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"),
                        "PATH": f"{os.environ['PATH']}:/usr/sbin"}  # fmt: skip
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> SlurmCluster:
        try:
            self._munge()
            self._configure()
            self._start("slurmctld", "slurmctld", "-D")
            for name in self.names:
                self.start_node(name)
            self._wait_until_idle()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *ended: object) -> None:
        for process in reversed(self.daemons.values()):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in reversed(self.daemons.values()):
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start_node(self, name: str) -> None:
        """Starts one slurmd under a host name of its own, as srun's tasks will see it."""
        self._start(name, "unshare", "--uts", "sh", "-c", f"hostname {name}; exec slurmd -D -N {name}")

    def run(self, *words: str, within_s: float = 120.0, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a command of Slurm."""
        return subprocess.run(words, env=self.environ, cwd=cwd, capture_output=True, text=True, check=False,
                              timeout=within_s)  # fmt: skip

    def state_of(self, job: str) -> str:
        """Returns the state of a job in Slurm's own word."""
        told = self.run("scontrol", "show", "job", job).stdout
        return next((word.partition("=")[2] for word in told.split() if word.startswith("JobState=")), "")

    def wait_for(self, job: str, states: tuple[str, ...], within_s: float = 90.0) -> str:
        """Returns the state of a job once it is one of these. Raises TimeoutError."""
        end = time.monotonic() + within_s
        while (state := self.state_of(job)) not in states:
            if time.monotonic() > end:
                raise TimeoutError(f"job {job} is {state}, not {states}")
            time.sleep(0.2)
        return state

    def _munge(self) -> None:
        self.folder.chmod(0o755)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        place = self.folder
        files = [f"--log-file={place}/munged.log", f"--pid-file={place}/munged.pid", f"--seed-file={place}/munge.seed"]
        words = ["--foreground", "--force", f"--socket={place}/munge.socket", f"--key-file={key}", *files]
        self._start("munged", "munged", *words)
        self._until(lambda: (place / "munge.socket").exists(), "munged made no socket")

    def _configure(self) -> None:
        ports = _free_ports(len(self.names) + 1)
        nodes = "\n".join(
            f"NodeName={name} NodeHostname={socket.gethostname()} NodeAddr=127.0.0.1 Port={port} CPUs=4 "
            "RealMemory=2000 State=UNKNOWN"
            for name, port in zip(self.names, ports[1:], strict=True)
        )
        (self.folder / "state").mkdir()
        text = CONFIG.format(host=socket.gethostname(), port=ports[0], folder=self.folder, nodes=nodes)
        (self.folder / "slurm.conf").write_text(text)

    def _start(self, name: str, *words: str) -> None:
        with (self.folder / f"{name}.output").open("ab") as output:
            self.daemons[name] = subprocess.Popen(words, env=self.environ, stdout=output, stderr=output,
                                                  start_new_session=True)  # fmt: skip

    def _wait_until_idle(self) -> None:
        def idle() -> bool:
            told = self.run("sinfo", "-h", "-N", "-p", "low", "-o", "%N %t").stdout.split("\n")
            return sum(line.endswith(" idle") for line in told) == len(self.names)

        self._until(idle, "the nodes did not become idle")

    def _until(self, done: object, problem: str) -> None:
        assert callable(done)
        end = time.monotonic() + UP_S
        while not done():
            if time.monotonic() > end:
                logs = "\n".join(path.read_text(errors="replace")[-600:] for path in self.folder.glob("*.output"))
                raise TimeoutError(f"{problem} within {UP_S:.0f} s\n{logs}")
            time.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [int(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports
