"""The topics of the README: its sections, and the paragraphs that begin with a name in bold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_HEADING = re.compile(r"^(#{2,3}) +(.+)$")
_LEAD = re.compile(r"^\*\*([^*]+?)[.:]?\*\*")
_FENCE = re.compile(r"^ {0,3}(```|~~~)")
_WORD = re.compile(r"\w+")
LEAD = 4  # the level of a paragraph with a name in bold: below ## and ###


@dataclass(frozen=True, slots=True)
class Topic:
    """One part of the README, with its heading's level: 2 for a section."""

    title: str
    level: int
    text: str  # Markdown, without its heading


def topics_of(readme: str) -> tuple[Topic, ...]:
    """Returns every topic in the README's order; a section holds those below it, too."""
    lines = readme.splitlines()
    begins = list(_begins(lines))
    found = []
    for number, (line, level, title) in enumerate(begins):
        ends = next((other for other, below, _ in begins[number + 1 :] if below <= level), len(lines))
        body = lines[line if level == LEAD else line + 1 : ends]
        found.append(Topic(title=title, level=level, text="\n".join(body).strip()))
    return tuple(found)


def about(topics: Sequence[Topic], words: str) -> tuple[Topic, ...]:
    """Returns the topics whose title is, or else holds, the words; of these those of the highest level."""
    asked = [word.lower() for word in _WORD.findall(words)]
    named = [topic for topic in topics if _words(topic) == asked]
    near = named or [topic for topic in topics if asked and _holds(_words(topic), asked)]
    highest = min((topic.level for topic in near), default=0)
    return tuple(topic for topic in near if topic.level == highest)


def _holds(title: Sequence[str], asked: Sequence[str]) -> bool:
    """Whether each word that was asked for begins one of the title's: "check machine" of "Check a machine before"."""
    return all(any(word.startswith(one) for word in title) for one in asked)


def _words(topic: Topic) -> list[str]:
    return [word.lower() for word in _WORD.findall(topic.title)]


def _begins(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yields (line, level, title) of each topic; what stands in a block of code begins none."""
    in_code, after_blank, section = False, True, False
    for number, line in enumerate(lines):
        if _FENCE.match(line):
            in_code = not in_code
        elif not in_code and (heading := _HEADING.match(line)):
            section = True
            yield number, len(heading[1]), heading[2].strip()
        elif section and not in_code and after_blank and (lead := _LEAD.match(line)):
            yield number, LEAD, lead[1]
        after_blank = not line.strip()
