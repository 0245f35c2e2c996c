"""NVIDIA GPUs through NVML, which answers also where CUDA itself hangs or torch is broken."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from diagnostics.machine.facts import Driver, Gpu, GpuProcess, MachineError

# NVML's bits, nvmlClocksEventReasons. Idle (1), a clock set by the user (2) and sync boost (16) slow
# nothing down that was not asked for; they are left out.
_REASONS = {
    0x04: "software power cap",
    0x08: "hardware slowdown",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
}


class NvmlGpus:
    """The Gpus provider. NVML is started and ended within each call: no context stays open."""

    def devices(self) -> tuple[Gpu, ...]:
        """Returns every GPU of the machine, whatever CUDA_VISIBLE_DEVICES says."""
        with _nvml() as nvml:
            return tuple(_gpu(nvml, index) for index in range(nvml.nvmlDeviceGetCount()))

    def driver(self) -> Driver:
        """Returns the driver's version and its newest CUDA."""
        with _nvml() as nvml:
            cuda = nvml.nvmlSystemGetCudaDriverVersion_v2()
            version = _text(nvml.nvmlSystemGetDriverVersion())
            return Driver(version=version, cuda=(cuda // 1000, cuda % 1000 // 10))


@contextmanager
def _nvml() -> Iterator[Any]:
    try:
        import pynvml
    except ImportError as error:
        raise MachineError(f"the NVML bindings do not import ({error}): pip install nvidia-ml-py") from error
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        raise MachineError(f"no NVIDIA driver answers: {error}") from error
    try:
        yield pynvml
    except pynvml.NVMLError as error:
        raise MachineError(f"NVML stopped answering: {error}") from error
    finally:
        pynvml.nvmlShutdown()


def _gpu(nvml: Any, index: int) -> Gpu:
    try:
        return _healthy(nvml, index)
    except nvml.NVMLError as error:
        if error.value not in (nvml.NVML_ERROR_GPU_IS_LOST, nvml.NVML_ERROR_UNKNOWN, nvml.NVML_ERROR_IRQ_ISSUE):
            raise
        # One GPU that fell off the bus hides neither itself nor the others.
        return Gpu(index=index, name="?", uuid="", memory_used_bytes=0, memory_total_bytes=0, fault=str(error))


def _healthy(nvml: Any, index: int) -> Gpu:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    memory = nvml.nvmlDeviceGetMemoryInfo(handle)
    uncorrected = nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED
    reasons = _optional(nvml, nvml.nvmlDeviceGetCurrentClocksThrottleReasons, handle) or 0
    return Gpu(
        index=index,
        name=_text(nvml.nvmlDeviceGetName(handle)),
        uuid=_text(nvml.nvmlDeviceGetUUID(handle)),
        memory_used_bytes=int(memory.used),
        memory_total_bytes=int(memory.total),
        ecc_volatile=_optional(nvml, nvml.nvmlDeviceGetTotalEccErrors, handle, uncorrected, nvml.NVML_VOLATILE_ECC),
        ecc_aggregate=_optional(nvml, nvml.nvmlDeviceGetTotalEccErrors, handle, uncorrected, nvml.NVML_AGGREGATE_ECC),
        throttle_reasons=tuple(text for bit, text in _REASONS.items() if reasons & bit),
        temperature_c=_optional(nvml, nvml.nvmlDeviceGetTemperature, handle, nvml.NVML_TEMPERATURE_GPU),
        processes=tuple(_processes(nvml, handle)),
    )


def _processes(nvml: Any, handle: Any) -> Iterator[GpuProcess]:
    # The third version came with driver 510; asking an older one for it is no NVMLError.
    try:
        running = _optional(nvml, nvml.nvmlDeviceGetComputeRunningProcesses, handle)
    except nvml.NVMLLibraryMismatchError:
        running = _optional(nvml, nvml.nvmlDeviceGetComputeRunningProcesses_v2, handle)
    for found in running or ():
        yield GpuProcess(pid=int(found.pid), memory_bytes=found.usedGpuMemory)


def _optional(nvml: Any, ask: Callable[..., Any], *arguments: Any) -> Any:
    """Returns the answer, None where this model, this driver or this user's rights do not give one."""
    try:
        return ask(*arguments)
    except nvml.NVMLError as error:
        unknown = (nvml.NVML_ERROR_NOT_SUPPORTED, nvml.NVML_ERROR_NO_PERMISSION, nvml.NVML_ERROR_FUNCTION_NOT_FOUND)
        if error.value in unknown:
            return None
        raise


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
