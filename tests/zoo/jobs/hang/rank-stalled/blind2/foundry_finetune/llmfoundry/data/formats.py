class UnknownExampleTypeError(KeyError):
    pass


def chat_or_prompt(example):
    """Returns (context, target) of the known formats."""
    keys = set(example)
    if keys == {"prompt", "response"}:
        return example["prompt"], example["response"]
    if "messages" in keys:
        *context, last = example["messages"]
        return " ".join(m["content"] for m in context), last["content"]
    raise UnknownExampleTypeError(f"Found keys {sorted(keys)} in dataset. Unknown example type.")
