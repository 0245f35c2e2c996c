"""One verdict with everything in it, for the renderers."""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Outcome, Severity, Status, Verdict

SHM = "/dev/shm"  # noqa: S108 - nothing is written there
SMALL_SHM = Finding(
    code="P204",
    name="shared-memory-too-small",
    severity=Severity.ERROR,
    title=f"{SHM} holds 64 MiB; 8 workers need about 1.8 GiB",
    where=SHM,
    evidence=(Evidence(source='os.statvfs("/dev/shm")', observed="64.0 MiB free", expected="1.8 GiB"),),
    fix=Fix(
        text="give the container more shared memory, or use fewer workers",
        commands=("docker run --shm-size=4g ...", "ups train CONFIG --set training.workers=0"),
    ),
)
LEFT_OVER = Finding(
    code="P110",
    name="left-over-process",
    severity=Severity.WARNING,
    title="pid 4121 of an earlier run holds port 29500",
    where="pid 4121",
    confidence=Confidence.LIKELY,
    evidence=(Evidence(source="ps -fp 4121", observed="ada 4121 1\npython train.py --token hf_abcdefghijklmnopqrst"),),
    fix=Fix(text="stop it", commands=("kill 4121",), destructive=True),
)


def outcome(code: str, name: str, stage: str, status: Status = Status.DONE, **more: object) -> Outcome:
    """Returns an outcome; `title` defaults to the name in words."""
    fields = {"title": name.replace("-", " "), "seconds": 0.0 if status is Status.SKIPPED else 0.25, **more}
    return Outcome(code=code, name=name, stage=stage, status=status, **fields)  # type: ignore[arg-type]


HEALTHY = Verdict(
    outcomes=(
        outcome(
            "P101",
            "python-and-torch",
            "host",
            title="python 3.11.7, torch 2.13.0+cpu",
            measured={"import_seconds": 1.0625, "torch": "2.13.0+cpu"},
        ),
        outcome("P303", "gloo-rendezvous", "rendezvous", title="2 ranks met on gloo in 41 ms", seconds=0.5),
    ),
    seconds=1.0,
)
MIXED = Verdict(
    outcomes=(
        HEALTHY.outcomes[0],
        outcome("P110", "left-over-processes", "host", findings=(LEFT_OVER,)),
        outcome("P204", "shared-memory", "launch", findings=(SMALL_SHM,), measured={"free_bytes": 67108864}),
        outcome("P301", "nccl-all-reduce", "rendezvous", Status.SKIPPED, reason="needs P204, which found an error"),
        outcome(
            "P302",
            "gloo-rendezvous",
            "rendezvous",
            Status.TIMED_OUT,
            reason="no answer in 30 s; stacks in stacks.txt",
            seconds=30.0,
        ),
        outcome(
            "P401",
            "values",
            "collectives",
            Status.CRASHED,
            reason="ValueError: a fault",
            detail='Traceback (most recent call last):\n  File "values.py", line 3, in probe\nValueError: a fault',
        ),
    ),
    seconds=31.2,
)
