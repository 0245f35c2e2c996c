import sys

SYMBOLS = "abcdefghijklmnopqrstuvwxyz .,"


def fatal(message, code=1):
    print(f"vocab: {message}", file=sys.stderr)
    sys.exit(code)


def to_ids(text):
    ids = []
    for ch in text:
        pos = SYMBOLS.find(ch)
        if pos < 0:
            fatal(f"no id for symbol {ord(ch)}")
        ids.append(pos)
    return ids
