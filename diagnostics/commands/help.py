"""`ups-doctor help TOPIC`: the README's part about it, a command's help, or what a code means; or a man page."""

from __future__ import annotations

import inspect
import shutil
import sys
from email.message import Message
from importlib.metadata import PackageNotFoundError, metadata
from typing import cast

import click

from diagnostics.core.console import say
from diagnostics.core.errors import UsageError
from diagnostics.core.spelling import nearest
from diagnostics.manual.man_page import CommandText, man_page
from diagnostics.manual.plain_text import lines_of
from diagnostics.manual.readme import Topic, about, topics_of

WIDEST = 100  # longer lines of prose are hard to read
PACKAGE = "ups-doctor"


@click.command("help")
@click.argument("topic", nargs=-1)
@click.option("--man", is_flag=True, help="Print a man page of all commands, for man -l or a folder man1.")
@click.pass_context
def command(context: click.Context, topic: tuple[str, ...], man: bool) -> None:
    """Shows what the README says about TOPIC; of a command its help, of a code or class what it means.

    Without TOPIC all are listed. Words that begin those of a title are enough: help check machine. A man page:
    ups-doctor help --man > ~/.local/share/man/man1/ups-doctor.1. Exit code: 0 shown, 2 no such topic.
    """
    group = context.find_root().command
    assert isinstance(group, click.Group)  # noqa: S101 - cli.py made it
    if man:
        say(_man_page(group, context), nl=False)
        return
    topics = topics_of(str(_about_package().get_payload()))
    words = " ".join(topic)
    if not words.strip():
        _list(group, context, topics)
    elif len(topic) == 1 and (named := group.get_command(context, words)) is not None:
        say(named.get_help(click.Context(named, info_name=named.name, parent=context.find_root())))
    elif found := about(topics, words):
        _show(found)
    else:
        _explain(group, context, words, topics)


def _show(found: tuple[Topic, ...]) -> None:
    """Prints the one topic, or the titles where the words fit several."""
    if len(found) == 1:
        say("\n".join([found[0].title, "", *lines_of(found[0].text, _width())]))
        return
    say("these have it; name one:")
    say("\n".join(f"  {one.title}" for one in found))


def _list(group: click.Group, context: click.Context, topics: tuple[Topic, ...]) -> None:
    say("ups-doctor help TOPIC, where TOPIC is a title or its words:")
    say("\n".join(f"  {one.title}" for one in topics if one.level == 2))
    say("a command:")
    say("\n".join(f"  {line}" for line in lines_of(" ".join(group.list_commands(context)), _width() - 2)))
    say("or a code, a check's name or a failure class: ups-doctor explain --list")


def _explain(group: click.Group, context: click.Context, words: str, topics: tuple[Topic, ...]) -> None:
    """Prints what `explain` says. Raises UsageError with the nearest of everything."""
    explain = group.get_command(context, "explain")
    try:
        if explain is not None:
            context.invoke(explain, code=words, list_all=False)
    except UsageError as error:
        known = [*group.list_commands(context), *(one.title.lower() for one in topics)]
        raise UsageError(
            f"no topic '{words}'{nearest(words.lower(), known)}", hint="list them: ups-doctor help"
        ) from error


def _man_page(group: click.Group, context: click.Context) -> str:
    commands = []
    for name in group.list_commands(context):
        one = group.get_command(context, name)
        if one is None:
            continue
        own = click.Context(one, info_name=name, parent=context.find_root())
        records = (param.get_help_record(own) for param in one.get_params(own))
        usage = " ".join([name, *one.collect_usage_pieces(own)])
        options = tuple(record for record in records if record is not None and record[1])
        commands.append(CommandText(name=name, usage=usage, text=inspect.cleandoc(one.help or ""), options=options))
    version = str(_about_package()["Version"])
    return man_page(PACKAGE, version, (group.help or "").rstrip("."), commands, group.epilog or "")


def _about_package() -> Message:
    """Returns what was installed with the package, the README among it. Raises UsageError."""
    try:
        return cast(Message, metadata(PACKAGE))
    except PackageNotFoundError as error:
        raise UsageError(f"{PACKAGE} is not installed, and its README came with it", hint="pip install .") from error


def _width() -> int:
    """Returns the columns for prose: those of the terminal, and not too many of them."""
    return min(shutil.get_terminal_size().columns, WIDEST) if sys.stdout.isatty() else WIDEST
