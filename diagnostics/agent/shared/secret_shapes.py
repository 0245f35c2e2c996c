"""Secrets that are known by their own form, whatever their name: tokens, keys, headers, passwords in addresses.

Everything works on one line and in a time that grows with its length: names and values are bounded, and no pattern may
start inside a word.
"""

from __future__ import annotations

import re

from .trigger_words import HIDDEN

_SCHEME = r"(?P<scheme>(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}://)"
_URL_PASSWORD = re.compile(r"""(?i)(?P<scheme>://)[^\s/@:'"]{0,256}:(?!\d{1,5}/)[^\s'"]{1,512}@""")
_URL_USER = re.compile(rf"""(?i){_SCHEME}(?![a-z]{{1,12}}@)[^\s/@'"]{{1,512}}@""")
_QUERY = re.compile(
    r"(?i)(?P<keep>[?&;](?:sig|signature|x-amz-signature|x-amz-credential|x-goog-signature|x-goog-credential|key|code"
    r"|apikey|auth|pwd|session(?:id)?)=)[^&\s\"'#;]{4,2048}"
)
_BEARER = re.compile(r"\b(?P<keep>(?i:bearer)\s{1,4})(?=[a-z._~+/=-]{0,512}[A-Z0-9])[A-Za-z0-9._~+/=-]{8,4096}")
_BASIC = re.compile(
    r"\b(?P<keep>(?i:basic)\s{1,4})(?=[A-Za-z0-9+/]{0,2048}?(?:[0-9]|=|[a-z][A-Z]))[A-Za-z0-9+/]{8,2048}={0,2}"
)
_HEADER = re.compile(  # behind the header's own name any word is a secret
    r"""(?i)(?P<keep>authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?:bearer|basic|token)\s{1,4})"""
    r"""(?!\[)[^\s"',\\]{4,4096}"""
)
_AUTHORIZATION = re.compile(
    r"""(?i)(?P<keep>authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?)(?!\s*(?:bearer\b|basic\b|\[))[^\n"',\\]{4,4096}"""
)
_DIGEST = re.compile(r"""(?i)(?P<keep>authorization\\?["']?\s{0,4}:\s{0,4}["']?digest\s)(?!\[)[^\n]{1,4096}""")
_COOKIE = re.compile(
    r"""(?i)(?P<keep>\b(?:set-)?cookies?["']?\s{0,4}:\s{0,4}["']?)(?=[^\n"']{0,512}=)[^\n"']{1,4096}"""
)
_KNOWN = re.compile(
    r"(?<![A-Za-z0-9_-])(?:"
    r"hf_[A-Za-z0-9]{16,}|api_org_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|github_pat_[A-Za-z0-9_]{22,}"
    r"|glpat-[A-Za-z0-9_-]{16,}|sk-(?=[A-Za-z_-]*[A-Z0-9])[A-Za-z0-9_-]{20,}|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}"
    r"|whsec_[A-Za-z0-9+/=]{16,}|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}|ya29\.[0-9A-Za-z_.-]{20,}"
    r"|GOCSPX-[0-9A-Za-z_-]{20,}|xox[abeoprs]-[0-9A-Za-z-]{10,}|xapp-[0-9A-Za-z-]{10,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?|npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}"
    r"|dop_v1_[a-f0-9]{40,}|dckr_pat_[A-Za-z0-9_-]{16,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    r"|nvapi-[A-Za-z0-9_-]{20,}|r8_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{30,}|wandb_v\d_[A-Za-z0-9_]{20,}"
    r"|dapi[0-9a-f]{32}|shp(?:at|ca|pa|ss)_[a-f0-9]{32}|hvs\.[A-Za-z0-9_-]{24,}|ATATT3[A-Za-z0-9_=-]{40,}"
    r"|xai-[A-Za-z0-9]{40,}"
    r"|pplx-[A-Za-z0-9]{40,}|glsa_[A-Za-z0-9_]{32,}|sntrys_[A-Za-z0-9_+/=]{32,}|lin_api_[A-Za-z0-9]{32,}"
    r"|pul-[a-f0-9]{40}"
    r"|ntn_[A-Za-z0-9]{32,}|AGE-SECRET-KEY-1[A-Z0-9]{40,}|LTAI[A-Za-z0-9]{16,24}|(?:AC|SK|key-)[0-9a-f]{32}"
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
    r"""(?:[A-Za-z0-9+/=]{4,}(?![A-Za-z0-9+/=])(?:\\n)?["',\s\\)+]{0,12}\s*|[A-Za-z-]+: .*)?$"""
)
PEM_BODY = re.compile(r"[A-Za-z0-9+/=]{16,}")
PEM_LONG = re.compile(r"[A-Za-z0-9+/=]{48,}")

_FORMS = (
    ("://", _HOOK), ("bearer", _BEARER), ("basic", _BASIC), ("authorization", _HEADER), ("authorization", _DIGEST),
    ("authorization", _AUTHORIZATION), ("cookie", _COOKIE),
    ("=", _QUERY), ("sig=", _SAS),
)  # fmt: skip


def without_shapes(line: str, lower: str) -> str:
    """Returns one line without the secrets that tell themselves by what stands around them, names apart."""
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
    return line


def without_known(line: str) -> str:
    """Returns one line without tokens of known makers."""
    return _KNOWN.sub(HIDDEN, _GLUED.sub(HIDDEN, line))
