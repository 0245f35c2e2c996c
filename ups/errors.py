"""The trainer's errors: one sentence, a hint and an exit code, caught once by the command line."""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from diagnostics.api import DoctorError, UsageError, from_os_error

__all__ = [
    "AgreedError", "CacheRefusedError", "ConfigError", "DataError", "ForeignFileError", "UpsError", "from_os_error",
    "naming",
]  # fmt: skip


class UpsError(DoctorError):
    """Something of the trainer's that the user can act on."""


class ConfigError(UpsError, UsageError):
    """The configuration or the command line does not fit: nothing was started."""


class DataError(UpsError):
    """A data file is missing, damaged, or not what the configuration says it is."""


class ForeignFileError(DataError, UsageError):
    """A file that was named is whole, and of another kind than the one that is needed: wrong use."""


class AgreedError(UpsError):
    """Every rank knows it and raises it at the same step; rank 0 says it for all."""

    @classmethod
    def of(cls, error: DoctorError) -> AgreedError:
        """Returns what one rank met as what all of them know."""
        return cls(error.message, hint=error.hint, exit_code=error.exit_code)


class CacheRefusedError(AgreedError, DataError):
    """The latent cache would harm the training: nothing of it was read, and no worker was started."""


@contextlib.contextmanager
def naming(config: Path, overrides: Sequence[str]) -> Iterator[None]:
    """Makes the commands in the hints of what is raised inside exact: CONFIG becomes what the user named."""
    named = shlex.join([str(config), *(word for override in overrides for word in ("--set", override))])
    try:
        yield
    except DoctorError as error:
        error.hint = re.sub(r"\bCONFIG\b", lambda _: named, error.hint)
        raise
