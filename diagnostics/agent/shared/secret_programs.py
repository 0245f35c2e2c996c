"""Secrets on the command lines of known programs, in a script, in a list of words and in a message: curl -u bob:X."""

from __future__ import annotations

import re

from .secret_values import is_generated, is_mixed, is_nothing, like_password
from .trigger_words import HIDDEN

# Between two words: spaces, the sign that joins the words of a command line here, or the quotes of a list.
_GAP = r"""(?:[ \t\x1f]{1,8}|["'],\s{0,4}["'])"""
_WORD = r"""(?P<value>"[^"\n]{1,512}"|'[^'\n]{1,512}'|[^\s"'|;&]{1,512})"""
_REACH = 400  # characters behind a program's name

# Programs (words before the option that have to be there), and the option that a password follows.
_PROGRAMS = tuple(
    (frozenset(programs.split()), needed, re.compile(rf"(?P<keep>{_GAP}[\"']?{option}){_WORD}"))
    for programs, needed, option in (
        ("sshpass", "", rf"-p{_GAP}?"),
        ("mysql mysqldump mysqladmin mysqlimport mariadb mariadb-dump mycli", "", r"-p(?![ \t\x1f\"'])"),
        ("docker podman helm nerdctl oras crane skopeo buildah", "login", rf"-p{_GAP}?"),
        ("redis-cli redis-benchmark", "", rf"-a{_GAP}"),
        ("mongo mongosh mongodump mongorestore mongoimport mongoexport", "", rf"-p{_GAP}"),
        ("smbclient rpcclient", "", rf"-U{_GAP}?[^\s%\"']{{1,64}}%"),
        ("lftp", "", rf"-u{_GAP}?[^\s,\"']{{1,64}},"),
        ("zip unzip sqlcmd bcp ipmitool", "", rf"-P{_GAP}?"),
        ("7z 7za 7zr rar unrar", "", r"-p(?![ \t\x1f])"),
        ("ldapsearch ldapadd ldapmodify ldapwhoami", "", rf"-w{_GAP}"),
        ("snmpget snmpwalk", "", rf"-[AX]{_GAP}"),
        ("htpasswd", "", rf"-\w{{0,4}}b\w{{0,4}}{_GAP}(?:[^\s-]\S{{0,80}}{_GAP}){{1,2}}"),
        ("curl wget http https xh git", "",
         rf"(?:-u|-a|-U|--user|--proxy-user|--auth)(?:{_GAP}|=)?[\"']?[^\s:\"']{{1,128}}:"),
        ("mc", "alias set", rf"set{_GAP}\S{{1,64}}{_GAP}\S{{1,256}}{_GAP}\S{{1,128}}{_GAP}"),
        ("mc", "host add", rf"add{_GAP}\S{{1,64}}{_GAP}\S{{1,256}}{_GAP}\S{{1,128}}{_GAP}"),
    )
)  # fmt: skip
_NAMES = {name: [form for form in _PROGRAMS if name in form[0]] for form in _PROGRAMS for name in form[0]}
_NAMED = re.compile(rf"(?<![\w.-])(?:{'|'.join(sorted(map(re.escape, _NAMES), reverse=True))})(?=[ \t\x1f\"'])")
_ENDS = re.compile(r"[\n|;&]")
_OPENSSL = re.compile(rf"(?P<keep>(?<![\w.-])-pass(?:in|out)?{_GAP}pass:){_WORD}")
_USER = re.compile(  # an unknown program's -u bob:X, -a bob:X
    rf"(?P<keep>(?<![\w.-])(?:-u(?:{_GAP}|=)?|-a{_GAP}|(?:--user|--userpass|--basic-auth)"
    rf"(?:{_GAP}|=))[\"']?[^\s:/\"']{{1,128}}:){_WORD}"
)
_SHORT_P = re.compile(rf"(?P<keep>(?<![\w.-])-p(?:{_GAP}|=)){_WORD}")  # an unknown program's -p
# What is written into the standard input of a program that asks for a secret.
_SINK = re.compile(
    r"--password-stdin|--pass(?:word|phrase)?-?(?:stdin|fd|file=-)|--with-token|--token-stdin|--stdin"
    r"|sudo\s[^|\n]{0,80}?-\w{0,4}S"
    r"|\b(?:chpasswd|passwd|kinit|cryptsetup|ssh-add|vncpasswd|htpasswd|gpg|openssl|docker login|wandb login)\b"
    r"|\bread\b[^|\n]{0,80}?(?:PASS|TOKEN|SECRET|KEY|PW|PIN)\w{0,40}"
)
_PIPED = re.compile(
    r"""(?P<keep>\b(?:echo|printf|print)\s{1,4}(?:-\w{1,4}\s{1,4}){0,3}(?:["']?%s(?:\\n|[\u2000-\u2008])?"""
    r"""["']?\s{1,4})?)"""
    r"""(?P<value>"[^"\n]{1,512}"|'[^'\n]{1,512}'|[^\s"'|;&]{1,512})(?=\s{0,4}\|(?!\|))"""
)
_SENT = re.compile(rf"(?P<keep>\bsend(?:line)?[ (]{{1,2}}(?:--\s)?){_WORD}")  # to a program that expects it
_HERE = re.compile(rf"(?P<keep><<<\s{{0,4}}){_WORD}")
_PGPASS = re.compile(r"^(?P<keep>[\w.*-]{1,128}:(?:\d{1,5}|\*):[\w.*-]{1,64}:[\w.*@-]{1,64}:)(?P<value>\S{4,256})$")


def without_programs(line: str, lower: str) -> str:
    """Returns one line without the passwords that its programs are given."""
    if ("|" in line or "<<<" in line) and _SINK.search(line):
        line = _PIPED.sub(_any, line)
        line = _HERE.sub(_any, line)
    if "send" in lower:
        line = _SENT.sub(_strict, line)
    if line.count(":") == 4:
        line = _PGPASS.sub(_guarded, line)
    line = _in_programs(line)
    if "pass:" in lower:
        line = _OPENSSL.sub(_any, line)
    if "-u" in line or "-a" in line or "--" in line:
        line = _USER.sub(_guarded, line)
    return _SHORT_P.sub(_strict, line) if "-p" in line else line


def asks_for_a_secret(line: str) -> bool:
    """Whether a program on this line reads a secret from its standard input."""
    return _SINK.search(line) is not None


def _in_programs(line: str) -> str:
    shown: list[str] = []
    at = 0
    while (named := _NAMED.search(line, at)) is not None:
        limit = named.end() + _REACH
        ends = _ENDS.search(line, named.end(), limit)
        end = ends.start() if ends else min(len(line), limit)
        other = _NAMED.search(line, named.end(), end)  # of a wrapper's words: sudo -E sshpass ... mysql -p
        end = other.start() if other is not None else end
        words = line[named.end() : end]
        for _, needed, form in _NAMES[named[0]]:
            if not needed or all(word in words for word in needed.split()):
                words = form.sub(_any, words)
        shown += (line[at : named.end()], words)
        at = end
    return "".join((*shown, line[at:])) if shown else line


def _any(match: re.Match[str]) -> str:
    plain = match["value"].strip("\"'")
    if is_nothing(plain) or plain.startswith("-") or (plain.isdigit() and len(plain) < 6):
        return match[0]
    return _hidden(match)


def _guarded(match: re.Match[str]) -> str:
    plain = match["value"].strip("\"'")
    return (
        _hidden(match)
        if is_generated(plain) or like_password(plain) or (is_mixed(plain) and len(plain) > 7)
        else match[0]
    )


def _strict(match: re.Match[str]) -> str:
    """Only what can be neither a port, a path, a name nor a model."""
    plain = match["value"].strip("\"'").strip()
    odd = any(sign in plain for sign in "/.:,'\"")
    return _hidden(match) if not odd and like_password(plain) else match[0]


def _hidden(match: re.Match[str]) -> str:
    value = match["value"]
    quote = value[0] if value[0] in "\"'" and value[-1] == value[0] else ""
    return "".join((match["keep"], quote, HIDDEN, quote))
