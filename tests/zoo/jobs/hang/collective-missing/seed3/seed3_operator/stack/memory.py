OOM_WORDS = ("out of memory", "can't allocate memory", "not enough memory")


def is_oom(error):
    return any(words in str(error).lower() for words in OOM_WORDS)
