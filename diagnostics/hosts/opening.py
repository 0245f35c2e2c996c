"""From what the user named to a survey: a file of hosts, or the tasks of a launcher."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from diagnostics.hosts.host_list import read_hosts
from diagnostics.hosts.launcher import Launched
from diagnostics.hosts.meeting import meet
from diagnostics.hosts.starting import new_token, start_on_all
from diagnostics.hosts.survey import Survey, SurveySettings


@contextmanager
def survey_of_file(path: Path, settings: SurveySettings, *, template: str, within_s: float) -> Iterator[Survey]:
    """Gives the survey of the hosts of a file; their programs end with the block. Raises UsageError."""
    hosts = read_hosts(path)
    conversation = start_on_all(hosts, template=template, python=settings.python, token=new_token(), within_s=within_s)
    try:
        yield Survey(hosts, conversation, settings)
    finally:
        conversation.close()


@contextmanager
def survey_of_launch(launched: Launched, settings: SurveySettings, *, within_s: float) -> Iterator[Survey]:
    """Gives the survey of the hosts on which a launcher has started this command, as the first of them sees it."""
    with meet(launched, python=settings.python, within_s=within_s) as (hosts, conversation):
        yield Survey(hosts, conversation, settings)
