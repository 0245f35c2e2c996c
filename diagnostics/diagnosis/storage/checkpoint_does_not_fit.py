"""A checkpoint does not fit the model or optimizer it is loaded into, or holds something else.

What it does: takes load_state_dict's list of keys and shapes, and entries that a checkpoint lacks, says where only a
prefix of a wrapper ("module.", "_orig_mod.") is in the way, and names the line that loads it.

Why it matters: with strict=False the same keys are left out silently, and training goes on from nothing.

Fix: save model.module.state_dict() or take the prefix off; build the model from the checkpoint's own configuration.
"""

from __future__ import annotations

import ast
import re

from diagnostics.core.findings import Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import TextMatch, match_text, merged_locations
from diagnostics.dynamic.failures.file_errors import file_in_error, saving_lines
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.model.model_classes import called_name

CODE = "D704"
NAME = "checkpoint-does-not-fit"
CLASS = "corrupt-checkpoint"
EXAMINES = AppliesTo.FAILED

MISFIT = re.compile(
    r"(?P<model>Error\(s\) in loading state_dict for (?P<kind>\w{1,200}))"
    r"|(?P<optimizer>loaded state dict (?:contains a parameter group that doesn't match|has a different number of "
    r"parameter)"
    r"[^\n]*)"
    r"|(?P<other>invalid load key, '[^\\']'|Unsupported operand \d+|Invalid magic number; corrupt file"
    r"|unpickling stack underflow"
    r"|(?:checkpoint|state[_ ]dict|weights?)\b[^\n]{0,300}\b(?:corrupt\w*|non-?finite|contains? (?:NaN|inf)|has NaN)"
    r"|(?:corrupt\w*|NaN|non-?finite)\b[^\n]{0,300}\b(?:in|from) (?:the )?checkpoint)",
    re.IGNORECASE,
)
# torch adds "your checkpoint file is corrupted" to what it says of a file that ends too early: that one is cut short.
CUT = re.compile(r"failed finding central directory")
NO_KEY = re.compile(r"^KeyError: '(?P<absent>[\w.]+)'$")
LOADING = re.compile(r"load|ckpt|checkpoint|restore|resume|snapshot", re.IGNORECASE)
MISSING = re.compile(r"Missing key\(s\) in state_dict: (?P<keys>[^\n]+)")
UNEXPECTED = re.compile(r"Unexpected key\(s\) in state_dict: (?P<keys>[^\n]+)")
SIZES = re.compile(r"size mismatch for (?P<key>[\w.]+): copying a param with shape (?P<has>torch\.Size\(\[[\d, "
    r"]*\]\)) from "
                   r"checkpoint, the shape in current model is (?P<wants>torch\.Size\(\[[\d, ]*\]\))")  # fmt: skip
PREFIXES = ("module.", "_orig_mod.", "_fsdp_wrapped_module.", "model.", "net.", "state_dict.")


def match(job: Job) -> Match | None:
    """Returns what does not fit and the line that loads it."""
    tellers = tuple(one for one in match_text(job, MISFIT) if not CUT.search(one.found.string))
    tellers = tellers or tuple(one for one in match_text(job, NO_KEY) if _of_a_checkpoint(job, one))
    if not tellers:
        return None
    one, processes = tellers[0], [teller.process for teller in tellers]
    file = file_in_error(job, one)
    prefix = _prefix(one)
    saves = saving_lines(job, one, file)
    own = merged_locations(job, tellers)
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(processes))} could not load {file or 'a checkpoint'}: {_meaning(one, prefix)}",
        evidence=one.evidence(job),
        fix=_fix(one, prefix),
        locations=distinct([*own[:1], *saves[:2], *own[1:]]),
        module=one.found.groupdict().get("kind") or "",
    )


def _of_a_checkpoint(job: Job, one: TextMatch) -> bool:
    """Whether the key was looked up in what a function loads that also fills a model or optimizer from it."""
    frame = one.origin.frame if one.origin is not None else None
    source = job.sources.file(frame.file) if frame is not None else None
    if source is None or frame is None or source.tree is None:
        return False
    around = source.function_at(frame.line) or source.tree
    calls = [node for node in ast.walk(around) if isinstance(node, ast.Call)]
    if not any(called_name(call) == "load_state_dict" for call in calls):
        return False
    loaded = {
        target.id
        for node in ast.walk(around)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and LOADING.search(called_name(node.value))
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return any(
        _looks_up(node, one.found["absent"], loaded) for node in ast.walk(source.statement_at(frame.line) or around)
    )


def _looks_up(node: ast.AST, key: str, loaded: set[str]) -> bool:
    """Whether a node is `state["key"]`, also `state["model"]["key"]`, of something that was loaded."""
    if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == key):
        return False
    held: ast.AST = node
    while isinstance(held, ast.Subscript):
        held = held.value
    if isinstance(held, ast.Call):
        return LOADING.search(called_name(held)) is not None
    return isinstance(held, ast.Name) and held.id in loaded


def _keys(found: re.Match[str] | None) -> list[str]:
    return re.findall(r'"([^"]+)"', found["keys"]) if found else []


def _prefix(one: TextMatch) -> str:
    """Returns "+module." where the file's keys have a prefix that the model's lack, "-module." for the reverse."""
    missing, extra = _keys(MISSING.search(one.found.string)), _keys(UNEXPECTED.search(one.found.string))
    for prefix in PREFIXES if missing and extra else ():
        if all(key.startswith(prefix) for key in extra[:8]) and extra[0].removeprefix(prefix) in missing:
            return f"+{prefix}"
        if all(key.startswith(prefix) for key in missing[:8]) and missing[0].removeprefix(prefix) in extra:
            return f"-{prefix}"
    return ""


def _meaning(one: TextMatch, prefix: str) -> str:
    if prefix.startswith("+"):
        return f"its keys begin with {prefix[1:]!r}, those of the model do not: it was saved from a wrapped model"
    if prefix.startswith("-"):
        return f"the model is wrapped, so that its keys begin with {prefix[1:]!r}; those of the file do not"
    if size := SIZES.search(one.found.string):
        return f"{size['key']} has {size['has'][10:]} in the file and {size['wants'][10:]} in the model"
    missing, extra = _keys(MISSING.search(one.found.string)), _keys(UNEXPECTED.search(one.found.string))
    if missing or extra:
        return (f"{len(missing)} keys of the model are not in it ({', '.join(missing[:3])}), {len(extra)} of its keys "
                f"are not in the model ({', '.join(extra[:3])})")  # fmt: skip
    if "absent" in one.found.groupdict():
        return f"it has no entry {one.found['absent']!r}"
    return one.line[:200]


def _fix(one: TextMatch, prefix: str) -> Fix:
    if prefix.startswith("+"):
        return Fix(text=f"save model.module.state_dict(), or load "
            f"{{key.removeprefix({prefix[1:]!r}): value for key, value "
                   "in state.items()}")  # fmt: skip
    if prefix.startswith("-"):
        return Fix(text="load before wrapping, or into model.module")
    if "absent" in one.found.groupdict():
        return Fix(text="look up an entry that the file has, or load a checkpoint that the code of this version wrote")
    if one.found["optimizer"]:
        return Fix(text="load the optimizer's state into one with the same parameter groups, in the same order, "
            "or start it "
                   "anew")  # fmt: skip
    if one.found["other"]:
        return Fix(text="go back to an earlier checkpoint, or fetch the file again: it may be a web page or a "
            "pointer of "
                   "Git LFS", commands=("head -c 200 FILE | strings",))  # fmt: skip
    return Fix(
        text="build the model with the configuration that the checkpoint was saved with, or load the one that fits"
    )
