"""An auto-wrap policy of FSDP that was not bound to its settings.

What it does: flags size_based_auto_wrap_policy and transformer_auto_wrap_policy that are called with settings only, and
their bare functions given as auto_wrap_policy.

Why it matters: FSDP calls the policy with (module, recurse, nonwrapped_numel). Called by hand without these it raises
TypeError. Bare, transformer_auto_wrap_policy has no classes and raises; bare, size_based_auto_wrap_policy works with
its default of 100 million parameters, so that a model of smaller parts becomes one unit that is gathered whole.

Bad:

    FSDP(model, auto_wrap_policy=size_based_auto_wrap_policy(min_num_params=1_000_000))

Good:

    policy = functools.partial(size_based_auto_wrap_policy, min_num_params=1_000_000)
    FSDP(model, auto_wrap_policy=policy)

What it cannot see: policies made elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import ExplanationStep, Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.program.functions import Function
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.model_wrappers import FSDP, wraps_in

CODE = "A107"
NAME = "auto-wrap-policy-unbound"
SEVERITY = Severity.ERROR
WORDS = ("size_based_auto_wrap_policy", "transformer_auto_wrap_policy")
_HOME = "torch.distributed.fsdp.wrap."
_POLICIES = {f"{_HOME}{word}": word for word in WORDS}
_GIVEN = {"module", "recurse", "nonwrapped_numel", "unwrapped_params"}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the policies without their settings."""
    for call, function in project.calls_in(file):
        name = _POLICIES.get(project.name(call.func, function), "")
        if name and not _is_complete(call):
            setting = ", ".join(f"{one.arg}={ast.unparse(one.value)}" for one in call.keywords if one.arg)
            yield violation(
                file,
                call,
                f"{name}() is called by hand without the module that FSDP would give it: it raises TypeError",
                f"functools.partial({name}, {setting or 'min_num_params=...'})",
            )
    for wrap in wraps_in(file, project):
        policy = wrap.option("auto_wrap_policy")
        if wrap.kind == FSDP and policy is not None:
            yield from _bare(file, policy, wrap.function, project)


def _is_complete(call: ast.Call) -> bool:
    names = {one.arg for one in call.keywords}
    return (
        None in names
        or any(isinstance(one, ast.Starred) for one in call.args)
        or (len(call.args) + len(names & _GIVEN) >= 3)
    )


def _bare(file: ProjectFile, policy: ast.expr, function: Function, project: Project) -> Iterator[Violation]:
    name = _POLICIES.get(project.name(policy, function), "")
    if name == WORDS[0]:
        yield violation(
            file,
            policy,
            f"{name} is passed unbound: its threshold stays at 100 million parameters, "
            "and a model of smaller parts becomes one unit",
            f"functools.partial({name}, min_num_params=...) with a number below the size of one block",
            steps=_source(file, policy, function),
            confidence=Confidence.LIKELY,
            severity=Severity.WARNING,
        )
    elif name:
        yield violation(
            file,
            policy,
            f"{name} is passed unbound: it has no transformer_layer_cls and raises TypeError",
            f"functools.partial({name}, transformer_layer_cls={{Block}})",
            steps=_source(file, policy, function),
        )


def _source(file: ProjectFile, policy: ast.expr, function: Function) -> tuple[ExplanationStep, ...]:
    values = function.assigned.get(policy.id, []) if isinstance(policy, ast.Name) else []
    return tuple(step(file, one, "the bare function") for one in values[:1])
