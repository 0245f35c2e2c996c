from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def _unwatched() -> Iterator[None]:
    """Trainings of these tests run by themselves; those that are about being watched switch the doctor on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UPS_NO_DOCTOR", "1")
        yield
