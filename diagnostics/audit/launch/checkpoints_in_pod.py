"""Checkpoints lie in a pod, and are gone with it: the pod that takes its place begins from nothing.

What it does: flags the emptyDir volume in which a Kubernetes container that trains is told, by an option or a variable,
to keep the checkpoints that it goes on from, where a controller puts other pods in the place of those that go.

Why it matters: an emptyDir is deleted with its pod. After an eviction, on a spot node that goes away, or where a job
starts its pods anew, the folder is empty and the job begins at step 0. What rank 0 wrote there, the other pods never
had: they do not resume where it does.

Bad:

    volumes:
      - name: checkpoints
        emptyDir: {}

Good:

    volumes:
      - name: checkpoints
        persistentVolumeClaim: {claimName: checkpoints}

What it cannot see: folders that only the program names, paths of the image itself, and what others copy away.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from diagnostics.audit.rule import ExplanationStep, Violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.launch_files.command_locations import place
from diagnostics.static.launch_files.embedded_scripts import Script, embedded_scripts
from diagnostics.static.launch_files.launched_program import training
from diagnostics.static.launch_files.yaml_nodes import column_of, entries, items, line_of, mappings, scalar
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

CODE = "A635"
NAME = "checkpoints-in-pod"
SEVERITY = Severity.ERROR
READS = frozenset({FileKind.YAML})
CHECKLIST = "checkpoints outlive the pod"
_KEPT = re.compile(
    r"check_?points?(?:_|$)|(?:^|_)ckpts?(?:_|$)|(?:^|_)resume|(?:^|_)snapshots?(?:_|$)"
    r"|^(?:out|output|save|run|work)_?(?:dir|path|folder)$|^(?:out|output)$"
)
_NOT_KEPT = re.compile(r"interval|freq|every|steps|epochs|limit|pretrain|init|load|base|format|num|activation|gradient")
_COPIED = frozenset(["boto3", "s3fs", "gcsfs", "fsspec", "upload_file", "upload_folder", "push_to_hub", "gsutil",
                     "rclone", "s5cmd", "upload"])  # fmt: skip
_COPIES = re.compile(r"\b(?:aws s3|gsutil|gcloud storage|rclone|rsync|s5cmd|azcopy|mc cp|hdfs dfs)\b")
_RESUMES = frozenset(["load_state_dict", "load_checkpoint", "resume_from_checkpoint", "ckpt_path", "load_state",
                      "auto_resume"])  # fmt: skip
_RESTARTED = frozenset(["Job", "JobSet", "PyTorchJob", "MPIJob", "TrainJob", "StatefulSet", "Deployment", "RayJob",
                        "ReplicaSet", "HyperPodPyTorchJob", "MXJob", "TFJob"])  # fmt: skip


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the volumes, or the options, that keep checkpoints in a pod."""
    for script in embedded_scripts(file):
        pod = next((one for one in reversed(script.around) if "containers" in entries(one)), None)
        if script.home != "container" or pod is None or not _is_replaced(script.around):
            continue
        for ran in script.commands:
            found = training(ran, file, project)
            words = project.fact(ImportClosures).closure(found.program.shown) if found and found.program else ()
            known = frozenset[str]().union(*(project.by_path[one].words for one in words))
            if found is None or known & _COPIED or _COPIES.search(file.text):
                continue
            resumes = bool(known & _RESUMES)
            told = [(place(file, ran, at)[0], shown, name, path) for at, shown, name, path in _options(ran.words)]
            told += [one for one in _variables(script) if one[1].partition("=")[0] in known]
            for line, shown, name, path in told:
                node = _volume(path, script, pod) if resumes or "resume" in name else None
                if node is not None:
                    yield Violation(
                        file=file,
                        line=line_of(node),
                        column=column_of(node),
                        title=f"the checkpoints in {path} lie in an emptyDir, which goes with its pod: the next one "
                        "begins from nothing, and no other pod has them",
                        fix="a persistentVolumeClaim, or another volume that all pods share",
                        steps=(ExplanationStep(place=file.place(line), text=f"'{shown}': what it goes on from"),),
                        confidence=Confidence.LIKELY,
                    )
                    break


def _is_replaced(around: tuple[yaml.MappingNode, ...]) -> bool:
    """Whether a kind of object starts pods anew."""
    kinds = {scalar(entries(one).get("kind")) for one in around}
    limits = [scalar(entries(one).get("backoffLimit")) for one in around]
    return bool(kinds & _RESTARTED) and "0" not in limits


def _options(words: tuple[str, ...]) -> Iterator[tuple[int, str, str, str]]:
    """Yields (place, as it is written, name, path) of the options that say where something is kept."""
    for at, word in enumerate(words):
        name, equals, value = word.lstrip("-").partition("=")
        name = name.rpartition(".")[2].replace("-", "_").lower()
        value = value if equals else words[at + 1] if word.startswith("--") and at + 1 < len(words) else ""
        if value.startswith("/") and _is_kept(name):
            yield at, word if equals else f"{word} {value}", name, value


def _variables(script: Script) -> Iterator[tuple[int, str, str, str]]:
    """Yields (line, as it is written, name, path) of a container's variables that say where something is kept."""
    for one in items(entries(script.node).get("env")):
        name, value = scalar(entries(one).get("name")), scalar(entries(one).get("value"))
        if value.startswith("/") and _is_kept(name.lower()):
            yield line_of(one), f"{name}={value}", name.lower(), value


def _is_kept(name: str) -> bool:
    return bool(_KEPT.search(name)) and not _NOT_KEPT.search(name)


def _volume(path: str, script: Script, pod: yaml.MappingNode) -> yaml.Node | None:
    """Returns the emptyDir that a path lies in; None where it is another volume, or other containers have it, too."""
    mounts = {scalar(entries(one).get("mountPath")).rstrip("/"): scalar(entries(one).get("name"))
              for one in items(entries(script.node).get("volumeMounts"))}  # fmt: skip
    above = [one for one in mounts if one and (path + "/").startswith(one + "/")]
    if not above:
        return None
    name = mounts[max(above, key=len)]
    users = [
        one for one, _, _ in mappings(pod) if "mountPath" in entries(one) and scalar(entries(one).get("name")) == name
    ]
    for volume in items(entries(pod).get("volumes")) if len(users) == 1 else ():
        if isinstance(volume, yaml.MappingNode) and scalar(entries(volume).get("name")) == name:
            return next((key for key, _ in volume.value if scalar(key) == "emptyDir"), None)
    return None
