"""The trainer's errors: one sentence, a hint and an exit code, caught once by the command line."""

from __future__ import annotations

from diagnostics.errors import DoctorError, UsageError, from_os_error

__all__ = ["ConfigError", "DataError", "UpsError", "from_os_error"]


class UpsError(DoctorError):
    """Something of the trainer's that the user can act on."""


class ConfigError(UpsError, UsageError):
    """The configuration or the command line does not fit: nothing was started."""


class DataError(UpsError):
    """A data file is missing, damaged, or not what the configuration says it is."""
