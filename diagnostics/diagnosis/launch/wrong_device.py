"""A rank uses a device that it does not have or that another rank uses.

What it does: takes "invalid device ordinal", NCCL's "Duplicate GPU detected" and CUDA asked for where there is none,
and names the line that chooses the device.

Why it matters: with RANK in place of LOCAL_RANK it works on one node and fails on the second.

Fix: torch.device("cuda", int(os.environ["LOCAL_RANK"])), and as many ranks on a node as it has GPUs.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Evidence, Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import match_text, merged_locations
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.launch.init_progress import variable
from diagnostics.dynamic.launch.launch_settings import lines_setting, lines_with

CODE = "D109"
NAME = "wrong-device"
CLASS = "device-misassigned"
EXAMINES = AppliesTo.FAILED

WRONG = re.compile(
    r"(?P<ordinal>invalid device ordinal)|(?P<twice>Duplicate GPU detected)"
    r"|(?P<none>not compiled with CUDA|Found no NVIDIA driver|No CUDA GPUs are available|'_cuda_setDevice'"
    r"|no CUDA-capable device is detected|Cannot access accelerator device when none is available|Invalid device id"
    r"|Device index must not be negative)"
    r"|(?P<placed>device_ids and output_device arguments only work with|device_ids can only be None or contain a single"
    r"|must have its parameters and buffers on device|input module must be on the same type of devices)"
)
CHOOSES = re.compile(r"set_device\s*\(|device\(\s*[\"']cuda|\.cuda\(|[\"']cuda:|CUDA_VISIBLE_DEVICES|device_ids\s*=")


def match(job: Job) -> Match | None:
    """Returns the ranks, the device and the line that chooses it."""
    tellers = match_text(job, WRONG)
    if not tellers:
        return None
    one = tellers[0]
    processes = [teller.process for teller in tellers]
    chosen = [line.location for line in lines_with(job, CHOOSES, "python")]
    visible = lines_setting(job, ("CUDA_VISIBLE_DEVICES",))
    own = merged_locations(job, tellers)
    # NCCL finds out in the first collective, far from the line that chose the device.
    locations = distinct([*chosen, *own, *visible]) if one.found["twice"] else distinct([*own, *visible])
    local = ", ".join(
        f"rank {process.rank} LOCAL_RANK={variable(process, 'LOCAL_RANK') or '?'}" for process in processes[:8]
    )
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(processes))} {_meaning(job, one.found)}",
        evidence=(
            *one.evidence(job),
            Evidence(source="this machine", observed=f"GPUs: {', '.join(job.facts.gpus) or 'none'}; {local}"),
        ),
        fix=_fix(one.found),
        locations=locations,
    )


def _meaning(job: Job, found: re.Match[str]) -> str:
    if found["ordinal"]:
        return f"chose a GPU that does not exist: {len(job.facts.gpus)} are here"
    if found["twice"]:
        return "use the same GPU as another rank"
    if found["placed"]:
        return f"wrapped a model that lies on another device than it was told: {found.string.strip()[:160]}"
    return f"asked for CUDA where this torch can use none: {found.string.strip().splitlines()[0][:160]}"


def _fix(found: re.Match[str]) -> Fix:
    if found["placed"]:
        return Fix(text="move the model first, as in model.to(device), and give DistributedDataParallel "
                   "device_ids=[local_rank] for a model on that GPU, none for one on the CPU")  # fmt: skip
    if found["none"]:
        return Fix(
            text='device = torch.device("cuda" if torch.cuda.is_available() else "cpu"), or a torch built for CUDA',
            commands=("nvidia-smi", "python -c 'import torch; print(torch.__version__, torch.version.cuda)'"),
        )
    return Fix(text='torch.cuda.set_device(int(os.environ["LOCAL_RANK"])) before init_process_group, and no more ranks '
               "on a node than it has GPUs", commands=("nvidia-smi -L",))  # fmt: skip
