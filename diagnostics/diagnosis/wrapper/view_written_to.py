"""Tensors that share memory where each should have its own.

What it does: takes what autograd, DDP and safetensors say of views that are written to: a view of a leaf, one of
several views of one result, an expanded buffer that DDP broadcasts into, gradients that are views of DDP's buckets,
weights saved twice. It names the line that writes, or that makes the view.

Why it matters: a view looks like a tensor until somebody writes to it; DDP does so in its constructor.

Fix: .clone() or .contiguous() where the view is made, or write out of place.
"""

from __future__ import annotations

import ast
import re

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.error_texts import TextMatch, match_text, merged_locations
from diagnostics.dynamic.job.evidence import names_of
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.model.model_classes import SourceSite, called_name, source_files_of
from diagnostics.dynamic.model.wrap_sites import wrap_sites

CODE = "D605"
NAME = "view-written-to"
CLASS = "shared-view"
EXAMINES = AppliesTo.FAILED

SHARED = re.compile(
    r"(?P<leaf>a view of a leaf Variable that requires grad is being used in an in-place operation)"
    r"|(?P<views>is a view and (?:is being|its base or another view of its base has been) modified inplace)"
    r"|(?P<expanded>more than one element of the written-to tensor refers to a single memory location"
    r"|single memory location\. Please clone)"
    r"|(?P<bucket>Can't detach views in-place)"
    r"|(?P<saved>[Ss]ome tensors share memory|share memory, this will lead to duplicate memory)"
    r"|(?P<overlap>some elements of the input tensor and the written-to tensor refer to a single memory location)"
)
EXPANDS = {"expand", "expand_as", "broadcast_to", "as_strided", "broadcast_tensors"}
KEEPS = {"register_buffer", "Parameter", "register_parameter"}


def match(job: Job) -> Match | None:
    """Returns who shares memory and the line that writes to it or makes it."""
    tellers = match_text(job, SHARED)
    if not tellers:
        return None
    one, processes = tellers[0], [teller.process for teller in tellers]
    made = [place.location(job) for place in _makers(job, one)]
    own = merged_locations(job, tellers)
    locations = distinct([*made, *own]) if one.found["expanded"] else distinct([*own[:1], *made, *own[1:]])
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(processes))} {_meaning(one)}{' at ' + locations[0] if locations else ''}",
        evidence=(*one.evidence(job), *(Evidence(source=line, observed="makes the view") for line in made[:2])),
        fix=_fix(one),
        locations=locations,
        confidence=Confidence.CONFIRMED if own else Confidence.LIKELY,
    )


def _makers(job: Job, one: TextMatch) -> list[SourceSite]:
    if one.found["expanded"]:
        return _expanded(job, one.process)
    if one.found["bucket"]:
        return [place for place in wrap_sites(job, one.process) if "gradient_as_bucket_view" in ast.unparse(place.node)]
    return []


def _expanded(job: Job, process: JobProcess) -> list[SourceSite]:
    """Buffers and parameters kept as an expanded view, written in one statement or through a local name."""
    found: list[SourceSite] = []
    for file in source_files_of(job, process):
        tree = job.sources.file(file).tree
        nodes = list(ast.walk(tree)) if tree is not None else []
        names = {ast.unparse(target) for node in nodes if isinstance(node, ast.Assign) and _expands(node.value)
                 for target in node.targets}  # fmt: skip
        for node in nodes:
            if isinstance(node, ast.Call) and called_name(node) in KEEPS:
                kept = [ast.unparse(argument) for argument in node.args]
                if any(_expands(argument) for argument in node.args) or names & set(kept):
                    found.append(SourceSite(file=file, node=node))
    return found


def _expands(value: ast.expr) -> bool:
    """Whether the outermost calls leave an expanded view: `.expand(8).clone()` does not."""
    while isinstance(value, ast.Call):
        if called_name(value) in EXPANDS:
            return True
        if called_name(value) in ("clone", "contiguous", "repeat", "copy", "tensor") or not isinstance(
            value.func, ast.Attribute
        ):
            return False
        value = value.func.value
    return False


def _meaning(one: TextMatch) -> str:
    said = one.found
    if said["leaf"]:
        return "wrote in place to a view of a parameter"
    if said["views"]:
        return "wrote in place to one of several views of the same result"
    if said["bucket"]:
        return "detached a gradient in place that is a view of a bucket of DDP"
    if said["saved"]:
        return "saved tensors that share memory"
    return "wrote to a tensor whose elements share memory, such as an expanded one"


def _fix(one: TextMatch) -> Fix:
    if one.found["bucket"]:
        return Fix(text="optimizer.zero_grad(set_to_none=True) in place of detach_(), or gradient_as_bucket_view=False")
    if one.found["saved"]:
        return Fix(text="save one of them, or .clone() the other; safetensors.torch.save_model knows tied weights")
    if one.found["leaf"]:
        return Fix(
            text="write out of place, or inside `with torch.no_grad():` where it is meant to change the parameter"
        )
    return Fix(text="give it memory of its own where it is made: .clone() after expand, chunk, unbind or an index")
