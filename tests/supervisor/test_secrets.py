"""Planted secrets reach no file of a report: not by environment, argv, locals, sources, exceptions or output."""

from __future__ import annotations

import sys
from pathlib import Path

import planted
import pytest
from jobs import report, run

from diagnostics.core import redaction

PLACES = (
    "environment", "argv", "rank-argv", "script", "source", "local", "message", "cause", "stdout", "stderr", "logged",
    "child", "file",
)  # fmt: skip

RUN_SH = """\
#!/bin/bash
# {comment}
export SERVICE_TOKEN={token}
export SMTP_PASSWORD='{password}'
URL="{url}"
{python} -m torch.distributed.run --standalone --nproc-per-node 2 train.py "$@" --api-key {option} --token={token2} \\
    --database {database} --header '{header}'
"""

TRAIN = '''\
import logging, os, subprocess, sys
import torch
import torch.distributed as dist

API_KEY = "{api_key}"
HEADERS = {{"Authorization": "{bearer}"}}
PEM = """{key}"""
SOURCES = {sources!r}


def load(name, auth_token):
    key, connection, settings = {local_key!r}, {local_url!r}, dict(password={local_password!r}, width=4)
    everything = {local!r}
    print("variables", os.environ["HF_TOKEN"], os.environ["DATABASE_URL"], os.environ["MY_PASSWORD"])
    try:
        torch.load(name)
    except Exception as error:
        raise RuntimeError({message!r}) from error


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    for text in {stdout!r}:
        print("rank", rank, text, flush=True)
    for text in {stderr!r}:
        print(text, file=sys.stderr, flush=True)
    for text in {logged!r}:
        try:
            raise ValueError(text)
        except ValueError:
            logging.exception("went on without %s", text)
    subprocess.run([sys.executable, "-c", "import sys; sys.exit(3)", *{child!r}])
    os.system("true " + {child_url!r})
    dist.barrier()
    if rank == 1:
        load({file!r}, auth_token={local_token!r})
    dist.barrier()


main()
'''


def _write_job(folder: Path) -> None:
    one = planted.text
    (folder / "run.sh").write_text(
        RUN_SH.format(
            comment=one("password", "script"),
            token=planted.secret("hugging-face", "script"),
            password=planted.secret("password", "script"),
            url=one("url", "script"),
            python=sys.executable,
            option=planted.secret("option", "rank-argv"),
            token2=planted.secret("github", "rank-argv"),
            database=one("url", "rank-argv"),
            header=one("bearer", "rank-argv"),
        )
    )
    (folder / "train.py").write_text(
        TRAIN.format(
            api_key=planted.secret("openai", "source"),
            bearer=one("bearer", "source").partition(": ")[2],
            key=one("private-key", "source"),
            sources=[text for form, text in planted.all_of("source").items() if form != "private-key"],
            local=list(planted.all_of("local").values()),
            local_key=one("hugging-face", "local"),
            local_url=one("url", "local"),
            local_password=planted.secret("password", "local"),
            local_token=planted.secret("option", "local"),
            message="\n".join(planted.all_of("message").values()),
            stdout=list(planted.all_of("stdout").values()),
            stderr=list(planted.all_of("stderr").values()),
            logged=list(planted.all_of("logged").values()),
            child=["--password", planted.secret("password", "child"), *one("option", "child").split()],
            child_url=one("url", "child"),
            file=one("signed", "file"),
        )
    )


ENVIRONMENT = {
    "HF_TOKEN": planted.text("hugging-face", "environment"),
    "AWS_SECRET_ACCESS_KEY": planted.secret("aws", "environment"),
    "WANDB_API_KEY": planted.secret("wandb", "environment"),
    "DATABASE_URL": planted.text("url", "environment"),
    "MY_PASSWORD": planted.secret("password", "environment"),
    "SSH_PRIVATE_KEY": planted.text("private-key", "environment"),
    "NCCL_AUTH_TOKEN": planted.secret("bearer", "environment"),
    "TORCH_HOOK": planted.text("webhook", "environment"),
    "UPS_DOCTOR_LOCALS": "1",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a 2-rank job with secrets everywhere, one rank of which dies of an exception."""
    tmp_path = tmp_path_factory.mktemp("secrets")
    _write_job(tmp_path)
    arguments = (
        "--api-key", planted.secret("option", "argv"), f"--token={planted.secret('github', 'argv')}",
        planted.text("url", "argv"), planted.text("password", "argv"), planted.text("signed", "argv"),
    )  # fmt: skip
    ended = run(tmp_path, "bash", "run.sh", *arguments, env=ENVIRONMENT)
    assert ended.returncode == 1, ended.stderr.decode()
    assert planted.secret("password", "stdout").encode() in ended.stdout  # the terminal is the user's own
    return tmp_path


def test_no_planted_secret_is_in_any_file_of_the_report(folder: Path) -> None:
    leaks = {
        str(path.relative_to(folder / "report")): sorted(planted.found(path.read_bytes(), PLACES))
        for path in (folder / "report").rglob("*")
        if path.is_file()
    }
    assert len(leaks) > 15
    assert {name: found for name, found in leaks.items() if found} == {}


def test_what_is_no_secret_is_still_there(folder: Path) -> None:
    """The job was found out: what was hidden are the secrets alone."""
    found = report(folder)
    assert (found["failure_class"], found["culprit_ranks"]) == ("python-exception", [1])
    record = folder / "report" / "record"
    agents = b"".join(path.read_bytes() for path in (record / "agents").glob("agent-*.bin"))
    for words in (b"--nproc-per-node", b"--api-key", b"width", b"RuntimeError: ", b"how=logged | ValueError: "):
        assert words in agents
    assert "went on without" in (record / "output" / "all.txt").read_text()
    sources = "".join(path.read_text() for path in (record / "sources").iterdir())
    assert 'API_KEY = "[redacted]"' in sources
    assert "--nproc-per-node 2" in sources


def test_only_its_owner_may_read_the_report(folder: Path) -> None:
    everything = [folder / "report", *(folder / "report").rglob("*")]
    open_to_others = [f"{path.name} {path.stat().st_mode:o}" for path in everything if path.stat().st_mode & 0o077]
    assert open_to_others == []


def test_what_two_ranks_wrote_on_one_line_shows_no_secret_of_either() -> None:
    """Unbuffered ranks write a text and the end of its line apart, and another rank's come between."""
    texts = {(form, place): text for place in ("stdout", "stderr") for form, text in planted.all_of(place).items()}
    leaks = {
        (one, other)
        for one, first in texts.items()
        for other, second in texts.items()
        for shown in [redaction.text(f"{first}{second}\n")]
        if planted.secret(*one) in shown or planted.secret(*other) in shown
    }
    assert leaks == set()
