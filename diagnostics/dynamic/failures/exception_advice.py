"""What to do about an exception, by what its text says; only where the text itself proves it. Pure."""

from __future__ import annotations

import re

# Pattern over "Type: message", and the advice; groups of the pattern fill the words.
_TEXTS = (
    (
        r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)",
        "{module} was made for {3} input features and was given {2}: make it with in_features={2}, "
        "or reshape its input so that the last axis has {3}",
    ),
    (
        r"expected input\[[^\]]{0,200}\] to have (\d+) channels, but got (\d+) channels",
        "{module} was made for {1} channels and was given {2}: change in_channels, or the axis that holds the channels",
    ),
    (
        r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)",
        "two tensors of sizes {1} and {2} on axis {3} meet at {line}: print both shapes above it, "
        "and make the one that is wrong as long as the other",
    ),
    (
        r"Expected all tensors to be on the same device.{0,300}?(cuda:\d{1,3}|cpu).{0,300}?(cuda:\d{1,3}|cpu)",
        "one tensor is on {1}, another on {2}: move the input (or the module) at {line} with .to(device)",
    ),
    (r"Error\(s\) in loading state_dict", "make the model as it was when the file was saved; its keys are above"),
    (r"^KeyError: (.*)", "{1} is not among the keys at {line}: compare them with what made the mapping"),
    (r"^FileNotFoundError: [^'\"]*: (['\"].*['\"])",
     "{1} is missing: create it, or correct the path that leads to {line}"),
    (r"^IndexError: (.*)", "an index at {line} is past the end ({1}): check the length that it was made for"),
    (r"index out of range in self", "an index at {line} is not below num_embeddings: check vocabulary and padding"),
    (r"^NotImplementedError", "{line} calls what its class leaves open: implement it, or use another class"),
    (r"^ZeroDivisionError", "a count at {line} is 0: see what was to fill it"),
    (r"^AssertionError", "the assertion at {line} does not hold: see the values it compares"),
    (r"^(?:yaml|json|configparser|tomllib)\.", "the configuration does not parse: correct the line named"),
    (r"^(?:SyntaxError|IndentationError|TabError)", "{line} does not parse: correct it"),
    (r"does not require grad and does not have a grad_fn", "the loss at {line} depends on no parameter: "
     "look for detach(), no_grad() or frozen parameters before it"),
    (r"backward through the graph a second time", "{line} runs backward twice over one graph: "
     "compute the loss anew, or detach() what is carried from step to step"),
)  # fmt: skip
_KNOWN = tuple((re.compile(pattern, re.DOTALL), words) for pattern, words in _TEXTS)


def advice(text: str, line: str, module: str) -> str:
    """Returns what to change, given "Type: message", the line blamed and the module that was running ("" unknown)."""
    for pattern, words in _KNOWN:
        if found := pattern.search(text):
            values = [group or "" for group in (found[0], *found.groups())]
            return words.format(*values, module=module or f"the module called at {line}", line=line or "the line above")
    return f"correct {line}, or what it is given" if line else "run it again for all of its output"
