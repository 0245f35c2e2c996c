"""How secrets look in text, and which words of the trade only look like one.

Everything works on one line and in a time that grows with its length, not with its square: names and values are
bounded, and no pattern may start inside a word.
"""

from __future__ import annotations

import re

from .hiding import HIDDEN

_MOST = 8192  # characters of one value

# `tokens` and `tokenizer` are words of the trade, not secrets.
_WORDS = (
    r"token(?!s|i[sz])|secret|passw(?:or)?d|passphrase|credential"
    r"|(?:api|access|private|auth|account|secret|signing|encryption|subscription|shared|master|license|ssh|deploy)"
    r"[_ -]?key(?!word|board)"
    r"|(?:db|sql|user|smtp|ftp|redis|mongo|pg|admin|root)_?(?:pass|pwd)(?![a-z])|(?<![a-z])pwd_?hash|connection_?string"
)
WORDS = re.compile(rf"(?i){_WORDS}")
# What models and tokenizers call a token.
_TRADE = re.compile(
    r"(?i)(?:pad|eos|bos|mask|unk|sep|cls|special|max|min|num|next|prev|per|start|end|stop|image|img|audio|video|patch"
    r"|class|register|dist|distillation|total|text|time|latent|query|learnable|virtual|visual|input|output|label|target"
    r"|sub|word|decoder|encoder|vocab|prompt|summary|state|action|motion|space|line|first|last|new|added|forced|single)"
    r"[_ -]?token"
    r"|token[_ -]?(?:id|type|len|length|count|num|embed|emb|dim|mask|drop|mix|shift|pos|class|idx|index|budget|limit"
    r"|size|prob|loss|acc|import|merg|prun|freq|rate|weight|level|wise|per|shape|stream|list|map|table|file_name|norm)"
    r"|secret[_ -]?(?:size|dim)"
)
_FILE = re.compile(r"\.(?:py|pyx|ya?ml|json|sh|so|c|cc|cpp|cu|h|txt|toml|cfg|ini|md|log|pt|bin)$")
_NOTHING = frozenset(("", "none", "null", "true", "false", "nan", "str", "int", "optional", "''", '""', "***", HIDDEN))
_NUMBER = re.compile(r"^[-+]?[\d.,_]{1,20}(?:e[-+]?\d{1,3})?[%)\]}:s]?$", re.IGNORECASE)
_SPECIAL = re.compile(r"^(?:<[^>]{0,40}>|\[[A-Z_]{1,20}\]|\|.*\||</?s>)$")
_REFERENCE = re.compile(r"^(?:\$\{?[A-Z_][A-Z0-9_]*\}?|\$\(.*|%\(.*|\{[A-Za-z_.]*\})$")
_LOOKS_RANDOM = re.compile(r"^(?=.*\d)(?=.*[A-Za-z])[A-Za-z0-9+/=_-]{16,}$")

_NAME = rf"(?<![A-Za-z0-9_.-])(?P<name>[A-Za-z0-9_.-]{{0,128}}?(?:{_WORDS})[A-Za-z0-9_.-]{{0,64}})"
_QUOTED = rf"""[rbfuRBFU]{{0,2}}(?P<quote>\\?["'])(?P<inner>.{{0,{_MOST}}}?)(?P=quote)"""
_BARE = rf"""(?P<bare>[^\s'",;&]{{1,{_MOST}}})"""
_BETWEEN = r"""(?P<between>\\?['"]?\]?\s{0,4}(?::=|=>|[=:])\s{0,4})"""
_ASSIGNED = re.compile(rf"(?i){_NAME}{_BETWEEN}(?P<value>{_QUOTED}|{_BARE})")


def _option(start: str) -> re.Pattern[str]:
    return re.compile(
        rf"""(?i)(?P<name>{start}[A-Za-z0-9_.-]{{0,64}}?(?:{_WORDS})[A-Za-z0-9_.-]{{0,64}})"""
        rf"""(?P<between>[ \t]{{1,4}})(?P<value>{_QUOTED}|(?P<bare>[^\s'"-][^\s'"]{{0,{_MOST}}}))"""
    )


_OPTION = _option(r"(?<![\w-])--?")
_GLUED_OPTION = _option(r"(?<=[^\s-])--")  # to what another rank has just written
_SET_DEFAULT = re.compile(  # setdefault("HF_TOKEN", "..."), getenv("HF_TOKEN", "...")
    rf"""(?P<name>["'][A-Z0-9_]{{0,64}}(?:TOKEN|SECRET|PASSWORD|PASSWD|_KEY)["'])(?P<between>\s{{0,4}},\s{{0,4}})"""
    rf"(?P<value>{_QUOTED})"
)
_LISTED = re.compile(  # ["--password", "..."]
    rf"""(?i)(?P<name>["']--[\w-]{{0,64}}?(?:{_WORDS})[\w-]{{0,64}}["'])(?P<between>\s{{0,4}},\s{{0,4}})(?!["']-)"""
    rf"(?P<value>{_QUOTED})"
)
_ARGUMENT = re.compile(  # add_argument("--token", default="...")
    rf"""(?i)(?P<name>["']--[\w-]{{0,64}}?(?:{_WORDS})[\w-]{{0,64}}["'])(?P<between>[^\n]{{0,160}}?default\s?=\s?)"""
    rf"(?P<value>{_QUOTED})"
)
_SCHEME = r"(?P<scheme>(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}://)"
_URL_PASSWORD = re.compile(r"""(?i)(?P<scheme>://)[^\s/@:'"]{0,256}:(?!\d{1,5}/)[^\s'"]{1,512}@""")
_URL_USER = re.compile(rf"""(?i){_SCHEME}[^\s/@'"]{{1,512}}@""")
_QUERY = re.compile(
    r"(?i)(?P<keep>[?&;](?:sig|signature|x-amz-signature|x-amz-credential|x-goog-signature|x-goog-credential|key|code"
    r"|apikey|auth|pwd|session(?:id)?)=)[^&\s\"'#;]{4,2048}"
)
_BEARER = re.compile(r"\b(?P<keep>(?i:bearer)\s{1,4})(?![a-z-]{1,15}(?![\w.~+/=-]))[A-Za-z0-9._~+/=-]{8,4096}")
_BASIC = re.compile(
    r"\b(?P<keep>(?i:basic)\s{1,4})(?=[A-Za-z0-9+/]*(?:[A-Z0-9]|=))(?![A-Z]?[a-z]+\b)[A-Za-z0-9+/]{8,2048}={0,2}"
)
_AUTHORIZATION = re.compile(
    r"""(?i)(?P<keep>authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?)(?!\s*(?:bearer\b|basic\b|\[))[^\n"',\\]{4,4096}"""
)
_COOKIE = re.compile(
    r"""(?i)(?P<keep>\b(?:set-)?cookies?["']?\s{0,4}:\s{0,4}["']?)(?=[^\n"']{0,512}=)[^\n"']{1,4096}"""
)
_NETRC = re.compile(r"(?i)(?P<keep>\b(?:machine|login)\s+\S{1,256}\s[^\n]{0,256}?\bpassword\s+)\S{1,512}")
_NETRC_LINE = re.compile(r"(?i)^(?P<keep>\s*password\s+)\S{4,512}\s*$")
_PROGRAM = re.compile(  # sshpass -p X, mysql -pX, docker login -p X, redis-cli -a X, curl -u user:X
    r"(?P<keep>\b(?:sshpass|mysql\w*|mariadb\w*|docker login|podman login|redis-cli|mongo\w*|smbclient|htpasswd)\b"
    r"[^\n|;&]{0,256}?\s-[pa]\s{0,2})(?!\s|\d{1,5}\b)[^\s]{1,512}"
    r"|(?P<keep2>\b(?:curl|wget)\b[^\n|;&]{0,512}?\s(?:-u|--user)[ =][^\s:]{1,128}:)[^\s]{1,512}"
)
_SHORT_P = re.compile(  # an unknown program's -p: only what can be neither a port, a path, a name nor a model
    r"""(?P<keep>(?<!\S)-p[ =])(?=\S*[A-Z])(?=\S*[a-z])(?=\S*\d)"""
    r"""(?=\S*[!@#$%^&*]|[A-Za-z0-9]{8,}(?!\S))[^\s/.:,'"]{6,256}(?!\S)"""
)
_KNOWN = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"hf_[A-Za-z0-9]{16,}|api_org_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{22,}"
    r"|glpat-[A-Za-z0-9_-]{16,}|sk-(?=[A-Za-z_-]*[A-Z0-9])[A-Za-z0-9_-]{20,}|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}"
    r"|whsec_[A-Za-z0-9+/=]{16,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|ya29\.[0-9A-Za-z_.-]{20,}"
    r"|GOCSPX-[0-9A-Za-z_-]{20,}|xox[abeoprs]-[0-9A-Za-z-]{10,}|xapp-[0-9A-Za-z-]{10,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}"
    r"|dop_v1_[a-f0-9]{40,}|dckr_pat_[A-Za-z0-9_-]{16,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    r"|nvapi-[A-Za-z0-9_-]{20,}|r8_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{30,}|wandb_v\d_[A-Za-z0-9_]{20,}"
    r"|\d{8,10}:AA[A-Za-z0-9_-]{32,33}"
    r")(?![A-Za-z0-9])"
)
_GLUED = re.compile(  # the most frequent ones, also where another rank wrote on the same line just before
    r"(?:hf_|gh[pousr]_)(?=[A-Za-z]{0,64}\d)[A-Za-z0-9]{20,512}(?:[_-][A-Za-z0-9_-]{16,512})?"
    r"|sk-(?:proj|ant)-[A-Za-z0-9_-]{20,512}|eyJ[A-Za-z0-9_-]{8,256}\.[A-Za-z0-9_-]{8,512}(?:\.[A-Za-z0-9_-]{0,512})?"
)
_HOOK = re.compile(
    r"(?P<keep>https://(?:hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/))[^\s\"']{8,256}"
)
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+])(?![0-9a-f]{40}\b)[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_AWS_ID = re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")
_WANDB = re.compile(r"(?i)wandb|weights ?(?:&|and) ?biases|api[_ -]?key")
_WANDB_KEY = re.compile(r"\b[0-9a-f]{40}\b")
_ABOUT_KEY = re.compile(r"(?i)key|login|netrc|auth")
_SAS = re.compile(r"(?P<keep>(?<![\w-])sig=)[A-Za-z0-9%+/=]{30,512}")

PEM_BEGINS = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
PEM_ENDS = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
PEM_LINE = re.compile(
    r"""^(?:[^\n]{0,80}?[\]:|>)]\s{1,4})?\s*[\s"'>|+rbn\\]{0,12}"""
    r"""(?:[A-Za-z0-9+/=]{4,}(?:\\n)?["',\s\\)+]{0,12}\s*|[A-Za-z-]+: .*)?$"""
)
PEM_BODY = re.compile(r"[A-Za-z0-9+/=]{16,}")
PEM_LONG = re.compile(r"[A-Za-z0-9+/=]{48,}")

_ESCAPES = {"\\" * n + letter: chr(0x2000 + 3 * n + i - 3) for n in (1, 2, 3) for i, letter in enumerate("nrt")}
_ESCAPED = re.compile(r"(?<!\\)\\{1,3}[nrt]")
_SPACES = re.compile("[\u2000-\u2008]")
_FORMS = (
    ("://", _HOOK), ("bearer", _BEARER), ("basic", _BASIC), ("authorization", _AUTHORIZATION), ("cookie", _COOKIE),
    ("password", _NETRC), ("password", _NETRC_LINE), ("=", _QUERY), ("sig=", _SAS), ("-p", _SHORT_P),
)  # fmt: skip


def without_secrets(line: str, *, quoted_only: bool = False) -> str:
    """Returns one line without secrets; `quoted_only` leaves code whole: of assignments only literals are hidden."""
    escapes = {}
    if "\\" in line and not _SPACES.search(line):
        # What a literal shows as \n is a line's end to the forms: a token may begin behind it.
        escapes = {space: escape for escape, space in _ESCAPES.items() if escape in line}
        line = _ESCAPED.sub(lambda match: _ESCAPES[match[0]], line)
    line = _without(line, quoted_only)
    return _SPACES.sub(lambda match: escapes[match[0]], line) if escapes else line


def _without(line: str, quoted_only: bool) -> str:
    lower = line.lower()
    if "--" in lower and WORDS.search(line):
        # First: the other forms would take it for the end of a value that another rank wrote just before.
        for form in (_GLUED_OPTION, _OPTION):
            line = form.sub(lambda match: _judged(match, quoted_only=quoted_only), line)
    if "://" in lower:
        line = _URL_PASSWORD.sub(rf"\g<scheme>{HIDDEN}@", line)
        line = _URL_USER.sub(rf"\g<scheme>{HIDDEN}@", line)
    if ("akia" in lower or "asia" in lower) and _AWS_ID.search(line):
        line = _AWS_SECRET.sub(HIDDEN, line)
    if _WANDB.search(line) and _ABOUT_KEY.search(line):
        line = _WANDB_KEY.sub(HIDDEN, line)
    for trigger, form in _FORMS:
        if trigger in lower:
            line = form.sub(rf"\g<keep>{HIDDEN}", line)
    if " -" in lower:
        line = _PROGRAM.sub(lambda match: f"{match['keep'] or match['keep2']}{HIDDEN}", line)
    if WORDS.search(line):
        for form in (_SET_DEFAULT, _ARGUMENT):
            line = form.sub(lambda match: _hidden(match, keep_quotes=quoted_only), line)
        for form in (_LISTED, _OPTION, _ASSIGNED):
            line = form.sub(lambda match: _judged(match, quoted_only=quoted_only), line)
    return _KNOWN.sub(HIDDEN, _GLUED.sub(HIDDEN, line))


def is_secret(name: str, value: str) -> bool:
    """Whether `value`, standing under `name`, has to be hidden."""
    plain = value.strip().strip("\"'\\")
    if plain.lower() in _NOTHING or plain.startswith(HIDDEN) or _REFERENCE.match(plain) or _FILE.search(name):
        return False
    rest = _TRADE.sub("", name)
    found = WORDS.search(rest)
    if found is None:
        return False
    about_tokens = all(match.lower().startswith("token") for match in WORDS.findall(rest))
    return not (about_tokens and (_NUMBER.match(plain) or _SPECIAL.match(plain)))


def is_secret_variable(name: str, value: str) -> bool:
    """Whether an environment variable or a field of this name is a secret: also LICENCE_KEY=7f3a... and key=7f3a..."""
    keyed = re.search(r"(?i)(?:^|_)(?:key|pass|pwd)$", name)
    return is_secret(name, value) or bool(keyed and _LOOKS_RANDOM.match(value))


def _judged(match: re.Match[str], *, quoted_only: bool) -> str:
    quoted = match["quote"] is not None
    value = match["inner"] if quoted else match["bare"]
    if (quoted_only and not quoted and not _in_literal(match)) or not is_secret(match["name"], value):
        return match[0]
    return _hidden(match, keep_quotes=quoted_only)


def _in_literal(match: re.Match[str]) -> bool:
    """Whether the value in a line of Python stands in a literal that began on this line."""
    quote, escaped = "", False
    for char in match.string[: match.start("value")]:
        if escaped:
            escaped = False
        elif quote:
            escaped, quote = char == "\\", "" if char == quote else quote
        elif char in "\"'":
            quote = char
    return bool(quote)


def _hidden(match: re.Match[str], *, keep_quotes: bool) -> str:
    quote = (match["quote"] or "") if keep_quotes else ""
    return f"{match['name']}{match['between']}{quote}{HIDDEN}{quote}"
