"""A number in a YAML file is read as a text by PyYAML: `lr: 1e-4`.

What it does: flags rates, weights and tolerances in YAML files that are written with an exponent and without a point,
or without a sign in the exponent, in a project that reads YAML by PyYAML and never makes a number of them.

Why it matters: YAML 1.1, which PyYAML reads, knows 1.0e-4 as a number and 1e-4 as a text. An optimizer that is built
with it raises TypeError ('<=' not supported between instances of 'float' and 'str'); a comparison or a product raises
later.

Bad:

    lr: 1e-4

Good:

    lr: 1.0e-4

What it cannot see: which file is read with which library. Projects that use OmegaConf, Hydra, ruamel.yaml,
jsonargparse, pydantic or another reader that makes numbers of texts are left alone, and keys that are handed to
`float()`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import PurePath

import yaml

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.yaml_nodes import column_of, documents, entries, line_of
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A621"
NAME = "number-read-as-text"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.YAML})
CHECKLIST = "numbers in YAML files are numbers for PyYAML"
_TEXT = re.compile(r"[-+]?(?:\d{1,12}[eE][-+]?\d{1,3}|\d{1,12}\.\d{0,12}[eE]\d{1,3})")
_KEYS = re.compile(
    r"(?:\w{1,40}_)?(?:lr|learning_rate|weight_decay|wd|eps|epsilon|tol|tolerance|alpha|beta|gamma|rate|decay|lambda|momentum"
    r"|min_lr|max_lr|warmup_lr|init_lr|base_lr|lr_min|lr_max|coef|coeff|weight|sigma|temperature|clip)(?:_(?:min|max|init))?"
)
_READERS = frozenset(["yaml.safe_load", "yaml.load", "yaml.full_load", "yaml.unsafe_load", "yaml.load_all"])
_OTHER_READERS = frozenset(
    ["omegaconf", "OmegaConf", "hydra", "ruamel", "jsonargparse", "LightningCLI", "pydantic", "dacite",
     "HfArgumentParser", "add_implicit_resolver", "literal_eval", "yacs", "CfgNode", "fvcore", "mmengine",
     "mmcv", "detectron2", "set_defaults", "simple_parsing", "pyrallis", "draccus", "strictyaml", "confuse", "dynaconf",
     "marshmallow",
     "cattrs", "tyro", "chanfig"]
)  # fmt: skip
_KUBERNETES = frozenset(["apiVersion", "services", "jobs", "on"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the numbers that no number comes of."""
    if "e" not in file.text.lower() or not _TEXT.search(file.text):
        return
    read = _reader(project)
    if read is None or not _is_named(file, project):
        return
    for document in documents(file):
        if _KUBERNETES & entries(document).keys():
            continue
        for key, value in _scalars(document):
            if value.style not in (None, "") or not _TEXT.fullmatch(value.value) or not _KEYS.fullmatch(key):
                continue
            if key in _made_numbers(project):
                continue
            yield Violation(
                file=file,
                line=line_of(value),
                column=column_of(value),
                title=f"PyYAML reads {value.value} as the text '{value.value}', not as a number: {key} is of no use to "
                "an optimizer",
                fix=f"{key}: {_with_point(value.value)}",
                steps=(ExplanationStep(place=read, text="YAML is read by PyYAML here"),),
                confidence=Confidence.LIKELY,
            )


def _scalars(document: yaml.Node) -> Iterator[tuple[str, yaml.ScalarNode]]:
    """Yields (key, value) of the mappings of a document, each once."""
    waiting, seen = [document], set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, yaml.SequenceNode):
            waiting += one.value
        elif isinstance(one, yaml.MappingNode):
            for key, value in one.value:
                waiting.append(value)
                if isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode):
                    yield key.value, value


def _is_named(file: ProjectFile, project: Project) -> bool:
    """Whether a program or launch script names a file, or its folder: others are read by other tools."""
    path = PurePath(file.shown)
    names = [one for one in (path.name, path.parent.name) if one]
    kinds = (FileKind.PYTHON, FileKind.SHELL, FileKind.MAKEFILE)
    return any(name in one.text for one in project.audited if one.kind in kinds for name in names)


@per_project
def _reader(project: Project) -> str | None:
    """Returns where YAML is read by PyYAML, None where something else reads it, or makes numbers of texts."""
    if any(not one.words.isdisjoint(_OTHER_READERS) for one in project.python):
        return None
    for name in sorted(_READERS):
        for call, function in project.calls_by_canonical.get(name, ()):
            return project.file_with(function).place(call.lineno)
    return None


@per_project
def _made_numbers(project: Project) -> frozenset[str]:
    """Returns every word in what is handed to float(), and the options whose type is a number."""
    found: set[str] = set()
    for file in project.python:
        if "float" not in file.words:
            continue
        for call, _ in project.calls_in(file):
            named = isinstance(call.func, ast.Name) and call.func.id == "float"
            typed = any(one.arg == "type" and ast.unparse(one.value) == "float" for one in call.keywords)
            if named or typed:
                found.update(re.findall(r"[A-Za-z_]\w*", ast.unparse(call).replace("-", "_")))
        for node in file.all_statements:
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "float":
                found.update(re.findall(r"[A-Za-z_]\w*", ast.unparse(node.target)))
            elif (
                isinstance(node, ast.Assign)
                and "float" in ast.unparse(node.value)
                and "map(" in ast.unparse(node.value)
            ):
                found.update(re.findall(r"[A-Za-z_]\w*", ast.unparse(node)))
    return frozenset(found)


def _with_point(text: str) -> str:
    """Returns a number as YAML 1.1 knows it: with a point, and a sign in the exponent."""
    mantissa, _, exponent = text.lower().partition("e")
    mantissa = mantissa if "." in mantissa else f"{mantissa}.0"
    return f"{mantissa}e{exponent if exponent[:1] in '+-' else '+' + exponent}"
