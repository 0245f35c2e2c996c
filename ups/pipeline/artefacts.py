"""Is a file that a step has made what its name says? Read, not looked at from outside."""

from __future__ import annotations

import json
from pathlib import Path

import yaml

from diagnostics.api import DoctorError

PNG = b"\x89PNG\r\n\x1a\n"
PNG_END = b"IEND\xaeB`\x82"


def read_back(path: Path) -> str:
    """Returns what is wrong with a file or folder, "" where it can be read."""
    if not path.exists():
        return f"{path} is not there"
    try:
        return _problem(path)
    except DoctorError as error:
        return error.message
    except (OSError, ValueError, yaml.YAMLError) as error:
        return f"{path} cannot be read: {error}"


def _problem(path: Path) -> str:
    if path.is_dir():
        from ups.data.latent_cache import read_manifest

        read_manifest(path)
        return ""
    match path.suffix:
        case ".json":
            json.loads(path.read_text(encoding="utf-8"))
        case ".jsonl":
            for line in path.read_text(encoding="utf-8").splitlines():
                json.loads(line)
        case ".yaml":
            yaml.safe_load(path.read_text(encoding="utf-8"))
        case ".png":
            content = path.read_bytes()
            if not (content.startswith(PNG) and content.endswith(PNG_END)):
                return f"{path} is no whole picture"
        case ".pt":
            return _checkpoint(path)
        case ".hdf5" | ".h5":
            from ups.data import hdf5

            with hdf5.reading(path) as file:
                list(file)
        case _:
            if not path.read_text(encoding="utf-8").strip():
                return f"{path} is empty"
    return ""


def _checkpoint(path: Path) -> str:
    from ups import checkpoint

    if path.stem == "autoencoder":
        checkpoint.load(path, "autoencoder")
        return ""
    try:
        checkpoint.load_best(path).predictors()
    except (RuntimeError, KeyError) as error:  # torch's word for a state that does not fit the module
        return f"{path} does not fit its own configuration: {str(error).strip().splitlines()[0]}"
    return ""
