"""Variables of `--backend-debug`: what torch and NCCL say about themselves for one run, kept apart by process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def variables(record: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Returns what is to be set; what the user has set himself stays.

    TORCH_DISTRIBUTED_DEBUG is never DETAIL: it kills the constructor of DDP in torch 2.13.
    """
    wanted = {
        "NCCL_DEBUG": "INFO",
        "NCCL_DEBUG_FILE": str(record / "captures" / "nccl-%p.log"),
        "TORCH_DISTRIBUTED_DEBUG": "INFO",
        "TORCH_CPP_LOG_LEVEL": "INFO",
        "TORCH_SHOW_CPP_STACKTRACES": "1",
        "CUDA_LAUNCH_BLOCKING": "1",
        "TORCH_NCCL_ASYNC_ERROR_HANDLING": "1",
        "TORCH_NCCL_DUMP_ON_TIMEOUT": "1",
        "TORCH_NCCL_DESYNC_DEBUG": "1",
        "TORCH_NCCL_ENABLE_TIMING": "1",
        "TORCH_FR_BUFFER_SIZE": "2000",
        "TORCH_FR_DUMP_TEMP_FILE": str(record / "captures" / "nccl-trace-"),
    }
    return {name: value for name, value in wanted.items() if name not in environ}
