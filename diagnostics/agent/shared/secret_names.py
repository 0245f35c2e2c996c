"""Which names are those of secrets, told by the words that a name is made of: MY_PW, dbPasswd, api-key, creds.

One vocabulary for variables, options, fields, keys of files and words of a sentence. What a model calls a token or a
key (pad_token, key_padding_mask, cache_key) is none.
"""

from __future__ import annotations

import re

# How much a name says. PIN: digits are enough; WEAK: the value itself must look like a secret; KEYED: any value but a
# number or a model's special token; SURE: any value.
NONE, PIN, WEAK, KEYED, SURE = range(5)

_SURE = frozenset((
    "password", "passwords", "passwd", "passwort", "passphrase", "passphrases", "passcode", "secret", "secrets",
    "credential", "credentials", "cred", "creds", "pgpassword",
))  # fmt: skip
_SURE_ENDS = ("password", "passwd", "passphrase", "secret", "passcode")
_WEAK = frozenset((
    "pw", "pwd", "psw", "pass", "auth", "authentication", "jwt", "pat", "sas", "dsn", "webhook", "tokens", "bearer",
    "login", "passw", "key", "authtoken", "mnemonic",
))  # fmt: skip
_PINS = frozenset(("pin", "pincode", "otp", "totp"))
# Whose password a `pass` is, and what a `key` or a `token` opens.
_HOLDERS = frozenset((
    "db", "sql", "user", "smtp", "ftp", "redis", "mongo", "pg", "admin", "root", "mysql", "postgres", "ssh",
    "email", "mail", "proxy", "ldap", "vpn", "sudo", "my", "host", "server", "registry", "docker", "bind", "kafka",
    "http", "database", "git", "cluster", "hub",
))  # fmt: skip
_OPENERS = frozenset((
    "api", "access", "private", "auth", "account", "secret", "signing", "encryption", "subscription", "shared",
    "master", "license", "licence", "ssh", "deploy", "service", "wandb", "openai", "anthropic", "consumer", "hmac",
    "jwt", "storage", "hf", "hub", "huggingface", "github", "gh", "gitlab", "slack", "bot", "oauth", "refresh",
    "personal", "security", "neptune", "comet", "mlflow", "vault", "aws", "azure", "session", "bearer", "kaggle",
    "client", "clearml", "app", "admin", "decryption", "webhook",
))  # fmt: skip
_COMPOUNDS = re.compile(
    r"(?:api|access|auth|secret|private|account|master|license|signing|encryption)keys?$"
    r"|(?:hf|hub|auth|api|access|bot|refresh|session|oauth|github)token$|connectionstring$"
)
_KEYS = frozenset(("key", "keys"))
# Keys of tables, caches and models.
_PLAIN_KEYS = frozenset((
    "primary", "cache", "sort", "store", "state", "dict", "foreign", "public", "query", "partition", "lookup",
    "hash", "image", "metric", "monitor", "prefix", "host", "group", "config", "batch", "data", "column", "attn",
    "attention", "padding", "rng", "prng", "random", "index", "object", "default", "graph", "bucket", "kernel",
    "dispatch", "value", "field", "cell", "file", "param", "parameter", "module", "layer", "mapping", "map", "task",
    "run", "job", "node", "label", "target", "input", "output", "join", "idempotency", "registry", "tune",
    "autotune", "code", "guard",
))  # fmt: skip
# What models and tokenizers call a token.
_TRADE = frozenset((
    "pad", "padding", "eos", "bos", "mask", "masked", "unk", "unknown", "sep", "cls", "special", "max", "min",
    "num", "next", "prev", "previous", "per", "start", "end", "stop", "image", "img", "audio", "video", "patch",
    "class", "register", "dist", "distillation", "total", "text", "time", "latent", "query", "learnable", "virtual",
    "visual", "input", "output", "label", "target", "sub", "word", "decoder", "encoder", "vocab", "prompt",
    "summary", "state", "action", "motion", "space", "line", "first", "last", "new", "added", "forced", "single",
    "draft", "sampled", "generated", "think", "types", "embed", "embedding", "embeddings", "emb", "drop", "dropout",
    "mix", "mixer", "shift", "pos", "position", "positions", "idx", "index", "indices", "budget", "limit", "prob",
    "probs", "loss", "losses", "acc", "accuracy", "merging", "pruning", "freq", "rate", "weight", "weights",
    "level", "wise", "shape", "stream", "list", "map", "table", "norm", "logits", "logit", "score", "scores", "dim",
    "dims", "global", "local", "context", "current", "cur", "bytes", "char", "string", "str", "strings", "spans",
    "span", "classification", "tree",
))  # fmt: skip
# A name that ends with one of these tells of a secret: where it lies, how long it is, whether there is one.
_ABOUT = frozenset((
    "file", "files", "path", "paths", "dir", "folder", "home", "sock", "socket", "name", "names", "id", "ids",
    "endpoint", "type", "types", "helper", "url", "uri", "host", "port", "length", "len", "size", "count", "dim",
    "field", "fields", "prompt", "manager", "provider", "var", "policy", "required", "enabled", "disabled",
    "expired", "expires", "expiry", "expiration", "ttl", "timeout", "error", "errors", "exception", "pattern",
    "regex", "format", "mode", "version", "ref", "arn", "scope", "method", "func", "fn", "function", "class", "cls",
    "strength", "check", "valid", "validator", "hint", "reset", "index", "stdin", "fd", "limit", "usage", "style",
    "option", "options", "mount", "enc", "kwargs", "args", "arg", "callback", "backend", "store", "request",
    "response", "algorithm", "cache", "py", "txt", "json", "yaml", "yml", "toml", "cfg", "ini", "md", "log", "sh",
    "so", "h", "cpp", "word", "words",
))  # fmt: skip
_PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_LONGEST = 160
_known: dict[tuple[str, str], int] = {}
_MOST_KNOWN = 4096
# Words that stand for what the program was given, not for a value.
_HOLDING = frozenset((
    "self", "args", "config", "cfg", "opt", "opts", "options", "settings", "params", "kwargs", "cls", "user",
    "username", "users", "name", "email", "host", "id", "db", "hf", "hub", "env", "environ", "os", "the", "your",
    "new", "old", "default", "get", "input", "value", "wandb", "api", "access", "key", "keys", "token", "private",
    "public", "auth", "type", "string", "client", "session", "admin", "data", "account", "field", "file", "path",
    "basic", "github", "aws",
))  # fmt: skip


def pieces(name: str) -> list[str]:
    """Returns the words of a name, in small letters: MY_dbPasswd is my, db, passwd."""
    return [piece.lower() for piece in _PIECE.findall(name[-_LONGEST:])]


def strength(name: str, before: str = "") -> int:
    """Returns how much a name says; `before` is the word before it in a sentence: API of "API key"."""
    known = _known.get((name, before))
    if known is None:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        known = _known[name, before] = _strength(name, before)
    return known


def is_name(value: str) -> bool:
    """Whether a value is itself the name of a secret or of what holds one: "password", "HF_TOKEN", args.api_key."""
    if len(value) > _LONGEST or any(not char.isalpha() and char not in "_.- :" for char in value):
        return False
    words = pieces(value)
    return bool(words) and all(word in _SURE or word in _WEAK or word in _HOLDING or word in _PINS for word in words)


def _strength(name: str, before: str) -> int:
    field = name.strip("-_.").rpartition(".")[2].rpartition("/")[2]
    words = pieces(field)
    if not words or words[-1] in _ABOUT:
        # An id that belongs to a secret is often one: secret_id, private_key_id.
        return WEAK if words[-1:] == ["id"] and _strength("_".join(words[:-1]), before) >= KEYED else NONE
    around = pieces(before) + pieces(name)
    if any(word in _SURE or word.endswith(_SURE_ENDS) for word in words):
        return SURE
    last = words[-1]
    if "pass" in words and len(words) > 1 and not _HOLDERS.isdisjoint(words):
        return SURE
    if words[-2:] == ["connection", "string"] or _COMPOUNDS.search(last):
        return KEYED
    if last in _KEYS:
        if not _OPENERS.isdisjoint(around):
            return KEYED
        return WEAK if last == "key" and _PLAIN_KEYS.isdisjoint(around) else NONE
    if "token" in words or last == "tokens":
        opens = not _OPENERS.isdisjoint(around)
        if not opens and not _TRADE.isdisjoint(around):
            return NONE
        return KEYED if "token" in words or opens else WEAK
    if last in _PINS:
        return PIN
    return WEAK if last in _WEAK else NONE
