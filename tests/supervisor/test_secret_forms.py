"""Each form of a secret is hidden where its language is spoken; ordinary text and code stay as they are."""

from __future__ import annotations

import ast
import shlex
from pathlib import Path

import pytest
from planting import LANGUAGES, Planted, everything

from diagnostics.agent.shared import redaction as hiding
from diagnostics.core import redaction

ORDINARY = (Path(__file__).parent / "ordinary.txt").read_text()


def _shown(one: Planted) -> str:
    """Returns what is left of the text, by the way that texts of its language come in."""
    match one.language:
        case "argv":
            return " ".join(redaction.argv(shlex.split(one.text)))
        case "variable":
            name, _, value = one.text.partition("=")
            return redaction.variable(name, value)
        case "shell" | "yaml" | "python":
            return redaction.source(one.text, python=one.language == "python")
    return redaction.text(one.text)


def _leaks(one: Planted, shown: str) -> bool:
    return any(
        half in shown for secret in one.secrets for half in (secret[: len(secret) // 2], secret[len(secret) // 2 :])
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_form_of_a_secret_comes_through(language: str) -> None:
    planted = [one for one in everything("forms") if one.language == language]
    assert len(planted) >= 10
    assert all(_leaks(one, one.text) for one in planted)
    assert [one.form for one in planted if _leaks(one, _shown(one))] == []


@pytest.mark.parametrize("language", ["prose", "repr", "file", "address", "shape"])
def test_nor_through_the_agent_and_a_stream_that_comes_in_pieces(language: str) -> None:
    for one in everything("pieces"):
        if one.language == language:
            data, stream = one.text.encode(), redaction.Stream()
            pieces = b"".join(stream.feed(data[at : at + 7]) for at in range(0, len(data), 7)) + stream.flush()
            assert not _leaks(one, pieces.decode()), one.form
            assert not _leaks(one, hiding.hide(one.text)), one.form


def test_what_is_hidden_once_stays_as_it_is() -> None:
    for one in everything("twice"):
        if one.language not in ("argv", "variable"):
            assert redaction.text(_shown(one)).count("\n") == one.text.count("\n")


def test_python_without_its_secrets_is_python() -> None:
    for one in everything("python"):
        if one.language == "python":
            text = f"{one.text} pass" if one.text.endswith(":") else one.text
            ast.parse(redaction.source(text, python=True))


def test_ordinary_text_of_the_trade_comes_through_unchanged() -> None:
    assert ORDINARY.count("\n") >= 290
    assert redaction.text(ORDINARY).split("\n") == ORDINARY.split("\n")
    assert redaction.source(ORDINARY, python=False).split("\n") == ORDINARY.split("\n")
    assert hiding.hide(ORDINARY).split("\n") == ORDINARY.split("\n")


def test_each_ordinary_line_comes_through_alone_and_as_the_words_of_a_command() -> None:
    lines = [line for line in ORDINARY.split("\n") if line]
    assert [line for line in lines if redaction.text(line) != line] == []
    starts = ("python ", "torchrun ", "srun ", "docker run ", "ssh ", "scp ", "rsync ", "curl ", "chown ", "trainer.")
    words = [tuple(line.split()) for line in lines if line.startswith(starts)]
    assert len(words) >= 10
    assert [one for one in words if redaction.argv(one) != one] == []
