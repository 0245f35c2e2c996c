"""In place of NVIDIA's library of that name: two GPUs that are not there, with the fault that NVML_FAULT names.

Names and numbers are those of nvml.h. Only what the doctor calls is here.
"""

from __future__ import annotations

import os
from types import SimpleNamespace

NVML_ERROR_NOT_SUPPORTED, NVML_ERROR_NO_PERMISSION = 3, 4
NVML_ERROR_DRIVER_NOT_LOADED, NVML_ERROR_IRQ_ISSUE, NVML_ERROR_FUNCTION_NOT_FOUND = 9, 11, 13
NVML_ERROR_GPU_IS_LOST, NVML_ERROR_UNKNOWN = 15, 999
NVML_MEMORY_ERROR_TYPE_UNCORRECTED = 1
NVML_VOLATILE_ECC, NVML_AGGREGATE_ECC = 0, 1
NVML_TEMPERATURE_GPU = 0
TEXTS = {3: "Not Supported", 4: "Insufficient Permissions", 9: "Driver Not Loaded", 15: "GPU is lost"}
FAULT = os.environ.get("NVML_FAULT", "")
started = 0


class NVMLError(Exception):
    """The library's error; `value` is its number."""

    def __init__(self, value: int) -> None:
        super().__init__(TEXTS[value])
        self.value = value


class NVMLLibraryMismatchError(Exception):
    """A driver without a newer function; it is no NVMLError."""


def nvmlInit() -> None:
    global started
    if FAULT == "no driver":
        raise NVMLError(NVML_ERROR_DRIVER_NOT_LOADED)
    started += 1


def nvmlShutdown() -> None:
    global started
    started -= 1


def nvmlSystemGetDriverVersion() -> bytes:
    assert started
    return b"470.82.01" if FAULT == "old driver" else b"570.86.10"


def nvmlSystemGetCudaDriverVersion_v2() -> int:
    assert started
    return 11040 if FAULT == "old driver" else 12080


def nvmlDeviceGetCount() -> int:
    assert started
    return 2


def nvmlDeviceGetHandleByIndex(index: int) -> int:
    if FAULT == "lost" and index == 1:
        raise NVMLError(NVML_ERROR_GPU_IS_LOST)
    return index


def nvmlDeviceGetName(handle: int) -> bytes:
    return b"NVIDIA H100 80GB HBM3"


def nvmlDeviceGetUUID(handle: int) -> str:
    return f"GPU-{handle}"


def nvmlDeviceGetMemoryInfo(handle: int) -> SimpleNamespace:
    return SimpleNamespace(total=80 << 30, free=79 << 30, used=1 << 30)


def nvmlDeviceGetTotalEccErrors(handle: int, kind: int, counter: int) -> int:
    if FAULT == "no ecc":
        raise NVMLError(NVML_ERROR_NOT_SUPPORTED)
    assert kind == NVML_MEMORY_ERROR_TYPE_UNCORRECTED
    return 2 if counter == NVML_VOLATILE_ECC else 7


def nvmlDeviceGetCurrentClocksThrottleReasons(handle: int) -> int:
    return 0x01 | 0x04 | 0x40 if handle else 0x01  # idle; idle, software power cap, hardware thermal slowdown


def nvmlDeviceGetTemperature(handle: int, sensor: int) -> int:
    assert sensor == NVML_TEMPERATURE_GPU
    return 91 if handle else 40


def nvmlDeviceGetComputeRunningProcesses(handle: int) -> list[SimpleNamespace]:
    if FAULT == "old driver":
        raise NVMLLibraryMismatchError("Unversioned function called")
    if FAULT == "forbidden":
        raise NVMLError(NVML_ERROR_NO_PERMISSION)
    return nvmlDeviceGetComputeRunningProcesses_v2(handle)


def nvmlDeviceGetComputeRunningProcesses_v2(handle: int) -> list[SimpleNamespace]:
    return [SimpleNamespace(pid=4121, usedGpuMemory=None if handle else 1 << 30)]
