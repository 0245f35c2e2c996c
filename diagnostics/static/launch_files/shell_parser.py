"""Parses a shell script: lists, pipelines, simple and compound commands, as sh and bash write them. Pure.

Nothing is expanded or run. What cannot be parsed is a ShellError: half a script is not judged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from diagnostics.static.launch_files.shell_lexer import REDIRECTIONS, ShellError, Token, tokens

MOST_CHARACTERS = 1 << 17  # launch scripts are short; reading takes time in proportion
DEEPEST = 40
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_OPENING = {"{": "}", "if": "fi", "while": "done", "until": "done", "for": "done", "select": "done", "case": "esac"}
_CLOSING = frozenset(["}", "fi", "done", "esac", "then", "else", "elif", "do"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Redirect:
    """One redirection; `body` is the text of a here-document."""

    operator: str
    target: Token


@dataclass(frozen=True, slots=True, kw_only=True)
class Simple:
    """One simple command: assignments in front, then its words as they are written."""

    assignments: tuple[Token, ...]
    words: tuple[Token, ...]
    redirects: tuple[Redirect, ...] = ()

    @property
    def first(self) -> Token:
        """Its first token."""
        return (*self.assignments, *self.words, *(one.target for one in self.redirects))[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compound:
    """`kind` is if, while, until, for, select, case, group, subshell or function.

    `header` are the words before the body: of `for`, the variable and what it runs over; of a function, its name.
    `parts` are the lists inside, those of conditions too: of `if`, condition and body by turns, then that of `else`.
    """

    kind: str
    header: tuple[Token, ...]
    parts: tuple[tuple[AndOr, ...], ...]
    first: Token
    redirects: tuple[Redirect, ...] = ()


Command = Simple | Compound


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline:
    """Commands joined by `|`; `negated` by `!` in front."""

    commands: tuple[Command, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AndOr:
    """Pipelines joined by `&&` and `||`; `operators` stand between them."""

    pipelines: tuple[Pipeline, ...]
    operators: tuple[str, ...] = ()
    background: bool = False


def parse(text: str, first_line: int = 1) -> tuple[AndOr, ...]:
    """Returns the statements of a script. Raises ShellError where it is no shell."""
    if len(text) > MOST_CHARACTERS:
        raise ShellError("too long")
    parser = _Parser(tokens(text, first_line))
    found = parser.statements(frozenset(), 0)
    if parser.at < len(parser.tokens):
        raise ShellError(f"line {parser.tokens[parser.at].line}: {parser.tokens[parser.at].text!r} opens nothing")
    return found


class _Parser:
    def __init__(self, found: list[Token]) -> None:
        self.tokens = found
        self.at = 0

    def peek(self) -> Token | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def is_operator(self, *texts: str) -> bool:
        token = self.peek()
        return token is not None and token.kind == "operator" and token.text in texts

    def is_word(self, *texts: str) -> bool:
        token = self.peek()
        return token is not None and token.kind == "word" and token.text in texts

    def take(self) -> Token:
        token = self.peek()
        if token is None:
            raise ShellError("the script ends inside a command")
        self.at += 1
        return token

    def expect(self, *texts: str) -> Token:
        token = self.take()
        if token.kind == "newline" or token.text not in texts:
            raise ShellError(f"line {token.line}: {texts[0]!r} is missing before {token.text!r}")
        return token

    def skip_newlines(self) -> None:
        while (token := self.peek()) is not None and token.kind == "newline":
            self.at += 1

    def statements(self, until: frozenset[str], deep: int) -> tuple[AndOr, ...]:
        if deep > DEEPEST:
            raise ShellError("nested too deeply")
        found: list[AndOr] = []
        while True:
            while (token := self.peek()) is not None and (token.kind == "newline" or self.is_operator(";")):
                self.at += 1
            if token is None or token.text in until or self.is_operator(")", ";;", ";&", ";;&"):
                return tuple(found)
            found.append(self.and_or(deep))

    def and_or(self, deep: int) -> AndOr:
        pipelines, operators = [self.pipeline(deep)], []
        while self.is_operator("&&", "||"):
            operators.append(self.take().text)
            self.skip_newlines()
            pipelines.append(self.pipeline(deep))
        background = self.is_operator("&")
        if background or self.is_operator(";"):
            self.at += 1
        return AndOr(pipelines=tuple(pipelines), operators=tuple(operators), background=background)

    def pipeline(self, deep: int) -> Pipeline:
        negated = False
        while self.is_word("!"):
            self.at += 1
            negated = not negated
        commands = [self.command(deep)]
        while self.is_operator("|", "|&"):
            self.at += 1
            self.skip_newlines()
            commands.append(self.command(deep))
        return Pipeline(commands=tuple(commands), negated=negated)

    def command(self, deep: int) -> Command:
        token = self.peek()
        if token is None:
            raise ShellError("the script ends where a command is expected")
        if self.is_operator("("):
            return self.subshell(deep)
        if token.kind == "word" and token.text in _OPENING:
            return self.compound(deep)
        if token.kind == "word" and (token.text == "function" or self.is_definition()):
            return self.function(deep)
        if token.kind == "word" and token.text in _CLOSING:
            raise ShellError(f"line {token.line}: {token.text!r} closes nothing")
        return self.simple()

    def is_definition(self) -> bool:
        after = [token.text for token in self.tokens[self.at + 1 : self.at + 3] if token.kind == "operator"]
        return after == ["(", ")"]

    def subshell(self, deep: int) -> Compound:
        first = self.take()
        body = self.statements(frozenset(), deep + 1)
        self.expect(")")
        return Compound(kind="subshell", header=(), parts=(body,), first=first, redirects=self.redirects())

    def function(self, deep: int) -> Compound:
        first = self.take()
        name = self.take() if first.text == "function" else first
        if self.is_operator("("):
            self.take()
            self.expect(")")
        self.skip_newlines()
        body = self.command(deep + 1)
        whole = AndOr(pipelines=(Pipeline(commands=(body,)),))
        return Compound(kind="function", header=(name,), parts=((whole,),), first=first)

    def compound(self, deep: int) -> Compound:
        first = self.take()
        header, parts = self.inside(first.text, deep + 1)
        kind = "group" if first.text == "{" else first.text
        return Compound(kind=kind, header=header, parts=parts, first=first, redirects=self.redirects())

    def inside(self, kind: str, deep: int) -> tuple[tuple[Token, ...], tuple[tuple[AndOr, ...], ...]]:
        match kind:
            case "{":
                parts = (self.statements(frozenset("}"), deep),)
                self.expect("}")
                return (), parts
            case "if":
                return (), self.branches(deep)
            case "while" | "until":
                condition = self.statements(frozenset(["do"]), deep)
                return (), (condition, self.loop_body(deep))
            case "for" | "select":
                return self.loop_header(), (self.loop_body(deep),)
            case _:
                return self.cases(deep)

    def branches(self, deep: int) -> tuple[tuple[AndOr, ...], ...]:
        parts = [self.statements(frozenset(["then"]), deep)]
        self.expect("then")
        while True:
            parts.append(self.statements(frozenset(["elif", "else", "fi"]), deep))
            match self.expect("elif", "else", "fi").text:
                case "fi":
                    return tuple(parts)
                case "elif":
                    parts.append(self.statements(frozenset(["then"]), deep))
                    self.expect("then")

    def loop_body(self, deep: int) -> tuple[AndOr, ...]:
        self.expect("do")
        body = self.statements(frozenset(["done"]), deep)
        self.expect("done")
        return body

    def loop_header(self) -> tuple[Token, ...]:
        header: list[Token] = []
        while not self.is_word("do") or (header and header[-1].text == "in" and len(header) == 2):
            token = self.take()
            if token.kind == "word":
                header.append(token)
            elif self.is_word("do"):
                break
        return tuple(header)

    def cases(self, deep: int) -> tuple[tuple[Token, ...], tuple[tuple[AndOr, ...], ...]]:
        subject = self.take()
        self.skip_newlines()
        self.expect("in")
        parts: list[tuple[AndOr, ...]] = []
        while True:
            self.skip_newlines()
            if self.is_word("esac"):
                self.at += 1
                return (subject,), tuple(parts)
            if self.is_operator("("):
                self.take()
            while not self.is_operator(")"):
                self.take()
            self.take()
            parts.append(self.statements(frozenset(["esac"]), deep))
            if self.is_operator(";;", ";&", ";;&"):
                self.at += 1

    def simple(self) -> Simple:
        assignments: list[Token] = []
        words: list[Token] = []
        redirects: list[Redirect] = []
        while (token := self.peek()) is not None and token.kind != "newline":
            if token.kind == "word" and token.text == "[[" and not words:
                words.extend(self.test())
            elif token.kind == "word":
                self.at += 1
                into = assignments if not words and _ASSIGNMENT.match(token.text) else words
                into.append(token)
            elif token.text in REDIRECTIONS:
                redirects.append(self.redirect(words))
            else:
                break
        if not (assignments or words or redirects):
            found = self.peek()
            raise ShellError(f"line {found.line if found else 0}: a command is missing")
        return Simple(assignments=tuple(assignments), words=tuple(words), redirects=tuple(redirects))

    def test(self) -> list[Token]:
        """Returns the words of `[[ ... ]]`, in which `&&`, `<` and parentheses are no operators of the shell."""
        found = [self.take()]
        while found[-1].text != "]]":
            token = self.take()
            if token.kind != "newline":
                found.append(token)
        return found

    def redirect(self, words: list[Token]) -> Redirect:
        operator = self.take()
        if words and words[-1].text.isdigit() and words[-1].end == operator.start:
            words.pop()  # the 2 of 2>&1
        target = self.take()
        if target.kind != "word" and not (operator.text in (">&", "<&") and target.text == "-"):
            raise ShellError(f"line {operator.line}: nothing stands behind {operator.text!r}")
        return Redirect(operator=operator.text, target=target)

    def redirects(self) -> tuple[Redirect, ...]:
        found = []
        spare: list[Token] = []
        while (token := self.peek()) is not None:
            if token.kind == "word" and token.text.isdigit():
                self.at += 1
                if not self.is_operator(*REDIRECTIONS):
                    self.at -= 1
                    break
                continue
            if not self.is_operator(*REDIRECTIONS):
                break
            found.append(self.redirect(spare))
        return tuple(found)
