"""FSDP is to wrap the layers of another model family than the one that is trained.

What it does: flags `fsdp_transformer_layer_cls_to_wrap` in the YAML file that `accelerate launch` is given, or among
the options of a launch, where it names the layer class of one family, and the launched program is given, or loads by
name, a published model of another one.

Why it matters: accelerate looks for the class in the model and ends the run at prepare(): "Could not find the
transformer layer class LlamaDecoderLayer in the model". Each rank has loaded the whole model by then.

Bad:

    fsdp_transformer_layer_cls_to_wrap: LlamaDecoderLayer     # accelerate launch ... --model Qwen/Qwen2.5-7B

Good:

    fsdp_transformer_layer_cls_to_wrap: Qwen2DecoderLayer     # or left out: transformers knows its models' layers

What it cannot see: models in local folders, and families whose names do not tell what class their layers are of.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePath

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import embedded_scripts
from diagnostics.static.launch_files.launched_program import script_file
from diagnostics.static.launch_files.launcher_commands import Launch, launcher_calls
from diagnostics.static.launch_files.yaml_nodes import column_of, documents, entries, line_of, mappings, scalar
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A629"
NAME = "layer-of-other-model"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.YAML, FileKind.SHELL})
WORDS = ("fsdp_transformer_layer_cls_to_wrap",)
CHECKLIST = "the layers that FSDP wraps are those of the trained model"
_OPTION = "fsdp_transformer_layer_cls_to_wrap"
# The published models of which a name tells the class of their layers: what has a number of experts or another
# modality in its name is of another class, and no name of it fits.
_PUBLISHED = {
    "LlamaDecoderLayer": r"meta-llama/(?:Llama-2-\d{1,2}b(?:-chat)?(?:-hf)?|(?:Meta-)?Llama-3(?:\.[13])?-\d{1,3}B"
    r"(?:-Instruct)?|Llama-3\.2-[13]B(?:-Instruct)?)|huggyllama/llama-\d{1,2}b",
    "Qwen2DecoderLayer": r"Qwen/Qwen(?:1\.5|2|2\.5)(?:-Coder|-Math)?-[\d.]{1,4}B(?:-Instruct|-Chat)?",
    "Qwen3DecoderLayer": r"Qwen/Qwen3-[\d.]{1,4}B(?:-Base)?",
    "MistralDecoderLayer": r"mistralai/Mistral-7B(?:-Instruct)?-v0\.\d",
    "MixtralDecoderLayer": r"mistralai/Mixtral-8x\d{1,2}B(?:-Instruct)?-v0\.\d",
    "GemmaDecoderLayer": r"google/gemma-(?:1\.1-)?[27]b(?:-it)?",
    "Gemma2DecoderLayer": r"google/gemma-2-\d{1,2}b(?:-it)?",
    "Phi3DecoderLayer": r"microsoft/Phi-3-(?:mini|medium)-\d{1,3}k-instruct",
    "GPTNeoXLayer": r"EleutherAI/(?:pythia-[\d.]{1,5}[mb](?:-deduped)?|gpt-neox-20b)",
    "GPT2Block": r"(?:openai-community/)?gpt2(?:-medium|-large|-xl)?",
    "OPTDecoderLayer": r"facebook/opt-[\d.]{1,4}[mb]",
    "BloomBlock": r"bigscience/bloom(?:-[\db]{2,6})?",
}
_KNOWN = {layer: re.compile(pattern) for layer, pattern in _PUBLISHED.items()}
_GIVEN = re.compile(r"--?(?:base_|pretrained_)?model(?:_name_or_path|_name|_path|_id)?")
_LOADS = frozenset(["from_pretrained", "snapshot_download"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the names of layers that the trained model does not have."""
    if file.kind is FileKind.YAML:
        for node in documents(file):
            for mapping, _, _ in mappings(node):
                named = entries(mapping).get(_OPTION)
                found = _other(scalar(named), _launched_with(file, project)) if named is not None else None
                if named is not None and found is not None:
                    yield _told(file, line_of(named), column_of(named), *found)
    for script in embedded_scripts(file):
        for ran in script.commands:
            for launch in launcher_calls(ran.words):
                given = _value(tuple(ran.words), f"--{_OPTION}")
                found = _other(given, (_trained(launch, file, project, file.place(place(file, ran)[0])),))
                if given and found is not None and launch.script:
                    yield _told(file, *place(file, ran), *found)
                    break


_Trained = tuple[str, str, str]  # the layer's class, the model's name, and where that is given


def _told(file: ProjectFile, line: int, column: int, named: str, trained: _Trained) -> Violation:
    layer, model, where = trained
    return Violation(
        file=file,
        line=line,
        column=column,
        title=f"FSDP is to wrap {named}, and {model} has none: its layers are {layer}, and the run ends when the model "
        "is wrapped",
        fix=f"{_OPTION}: {layer}",
        steps=(ExplanationStep(place=where, text=f"{model} is trained"),),
        confidence=Confidence.LIKELY,
    )


def _other(named: str, trained: tuple[_Trained | None, ...]) -> tuple[str, _Trained] | None:
    """Returns the class of another family, where each launch trains a model that is known not to have it."""
    for one in (part.strip() for part in named.split(",")):
        known = [each for each in trained if each is not None and each[0] != one]
        if one in _PUBLISHED and known and len(known) == len(trained):
            return one, known[0]
    return None


def _launched_with(config: ProjectFile, project: Project) -> tuple[_Trained | None, ...]:
    """Returns what each launch trains that is given this file."""
    name = PurePath(config.shown).name
    return tuple(
        _trained(launch, file, project, where)
        for given, launch, file, where in _accelerated(project)
        if PurePath(given).name == name
    )


@per_project
def _accelerated(project: Project) -> list[tuple[str, Launch, ProjectFile, str]]:
    """Returns the launches by accelerate with the file that each is given."""
    found = []
    for file in project.audited:
        if file.kind is FileKind.SHELL and "accelerate" in file.text:
            for script in embedded_scripts(file):
                for ran in script.commands:
                    for launch in launcher_calls(ran.words):
                        given = launch.option("--config-file") if launch.kind == "accelerate" else ""
                        if given:
                            found.append((given, launch, file, file.place(place(file, ran)[0])))
    return found


def _trained(launch: Launch, file: ProjectFile, project: Project, where: str) -> _Trained | None:
    """Returns the published model that a launch trains: by its arguments, or the only one that its program names."""
    words = launch.arguments
    named = [one for one in words if _GIVEN.fullmatch(one.partition("=")[0])]
    if named:
        return _published(_value(words, named[0].partition("=")[0]), where) if len(named) == 1 else None
    program = script_file(launch, file, project)
    if program is None or program.tree is None:
        return None
    loaded: list[_Trained | None] = []
    for node in walk(program.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LOADS:
            first = node.args[0] if node.args else None
            text = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
            loaded.append(_published(text, program.place(node.lineno)))
    known = {one[0] for one in loaded if one is not None}
    return loaded[0] if len(known) == 1 and None not in loaded else None


def _published(name: str, where: str) -> _Trained | None:
    return next(((layer, name, where) for layer, known in _KNOWN.items() if known.fullmatch(name)), None)


def _value(words: tuple[str, ...], option: str) -> str:
    for at, word in enumerate(words):
        if word == option and at + 1 < len(words):
            return words[at + 1]
        if word.startswith(option + "="):
            return word.partition("=")[2]
    return ""
