"""Where a loader and its sampler were built, and what the program calls its data set there. Pure."""

from __future__ import annotations

import ast
import re
from itertools import takewhile

from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.training_passes import RankLoader
from diagnostics.static.program.ast_walk import walk

PLAIN_SAMPLERS = ("RandomSampler", "SequentialSampler", "_InfiniteConstantSampler")
MOST_WORDS = 60  # characters of an expression that is repeated in a fix
_PACKAGE = re.compile(r"(?:site|dist)-packages/(\w+)/")


def lines_of(job: Job, loader: RankLoader) -> tuple[str, ...]:
    """Returns the line of the sampler, where the job built one, then that of the loader, then those that called it."""
    built, sampler = loader.built_at(), loader.sampler_at()
    frames = [*sampler[:1], *built[:1], *built[1:3]]
    return tuple(distinct([job.line(frame) for frame in frames]))


def dataset_words(job: Job, loader: RankLoader) -> str:
    """Returns the data set as the program writes it where it builds the loader, "dataset" where that cannot be read."""
    call = _loader_call(job, loader.built_at())
    if call is None:
        return "dataset"
    given = next((word.value for word in call.keywords if word.arg == "dataset"), None)
    given = given or next((one for one in call.args if not isinstance(one, ast.Starred)), None)
    words = ast.unparse(given) if given is not None else "dataset"
    return words if len(words) <= MOST_WORDS and "\n" not in words else "dataset"


def name_of(job: Job, loader: RankLoader) -> str:
    """Returns the name that the program gives a loader, "" where that cannot be read."""
    at = loader.built_at()
    statement = job.sources.file(at[0].file).statement_at(at[0].line) if at else None
    target, _ = _assignment(statement)
    return ast.unparse(target) if target is not None else ""


def _assignment(statement: ast.stmt | None) -> tuple[ast.expr | None, ast.expr | None]:
    """Returns the name that a statement gives, and what it names; None twice where it gives none."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return None, None
    value = statement.value
    target = statement.target if isinstance(statement, ast.AnnAssign) else statement.targets[0]
    return (target, value) if isinstance(target, (ast.Name, ast.Attribute)) else (None, None)


def _loader_call(job: Job, at: tuple[Frame, ...]) -> ast.Call | None:
    statement = job.sources.file(at[0].file).statement_at(at[0].line) if at else None
    calls = [node for node in walk(statement) if isinstance(node, ast.Call)] if statement is not None else []
    named = [call for call in calls if ast.unparse(call.func).endswith("DataLoader")]
    return named[0] if named else None


def iterated_at(loader: RankLoader) -> tuple[Frame, ...]:
    """Returns the user's frames where the rank first went over the loader, innermost first."""
    return user_frames(_iterated(loader), agent_folder=loader.process.agent_folder)


def trainer_of(loader: RankLoader) -> str:
    """Returns the installed package whose loop goes over the loader, "" where the program's own does.

    Of several, such as Transformers over Accelerate, it is the one that the program called.
    """
    path = _iterated(loader)
    own = {(frame.file, frame.line) for frame in user_frames(path, agent_folder=loader.process.agent_folder)}
    inside = [frame.file for frame in takewhile(lambda frame: (frame.file, frame.line) not in own, path)]
    packages = [match[1] for file in inside if (match := _PACKAGE.search(file))]
    return packages[-1] if packages else ""


def _iterated(loader: RankLoader) -> tuple[Frame, ...]:
    agent = loader.process.agent
    name = f"dataset={loader.source.facts.get('dataset', '')}"
    seen = [event for event in agent.events if event.kind == "loader-iter"] if agent is not None else []
    told = next((event for event in seen if name in event.text.split()), None)
    return told.path if told is not None else ()


def sampler_name(job: Job, loader: RankLoader) -> str:
    """Returns how the program may call the sampler: its own name, or by the loader's."""
    at = loader.sampler_at()
    statement = job.sources.file(at[0].file).statement_at(at[0].line) if at else None
    target, value = _assignment(statement)
    if target is not None and isinstance(value, ast.Call) and ast.unparse(value.func).endswith("Sampler"):
        return ast.unparse(target)
    name, facts = name_of(job, loader), loader.source.facts
    if not name:
        return "sampler"
    if "batch_size" in facts:
        return f"{name}.sampler"
    own = facts.get("sampler") == facts.get("batch_sampler")  # else the loader's own sampler is a stand-in
    return f"{name}.batch_sampler" if own else f"{name}.batch_sampler.sampler"
