"""Which file a failure was about, and where the job's own code loads and saves it. Pure."""

from __future__ import annotations

import ast
import re

from diagnostics.core.frame import Frame
from diagnostics.core.frames import shown_path
from diagnostics.dynamic.failures.error_texts import TextMatch
from diagnostics.dynamic.failures.full_disks import path_in
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.model.model_classes import SourceSite, called_name, source_files_of
from diagnostics.static.program.ast_walk import walk

LOADERS = re.compile(
    r"/torch/(?:serialization|_weights_only_unpickler|storage)\.py$|/numpy/lib/|/numpy/_core/(?:memmap|records)"
    r"|/h5py/|/safetensors/|/(?:gzip|zipfile|tarfile|lzma|bz2|pickle|json)(?:/\w+|\.py)|/pyarrow/|/zarr/"
    r"|/netCDF4/|/PIL/"
)
FILE = re.compile(
    r"^[^ ]*\.(?:pth?|ckpt|bin|np[yz]|h5|hdf5|pkl|pickle|safetensors|gz|zip|tar|json|jsonl|csv|parquet|mm|dat|zarr|nc"
    r"|txt|ya?ml|arrow|tfrecord)$"
)
LOADS = {"load", "load_file", "loads", "File", "safe_open", "open", "memmap", "fromfile", "loadtxt", "from_file",
         "open_memmap", "read_parquet", "load_from_checkpoint", "load_checkpoint", "from_pretrained"}  # fmt: skip
SAVES = {"save", "savez", "dump", "save_file", "write_bytes", "tofile", "savez_compressed", "copyfile", "to_parquet"}
READS_FILES = ("torch", "np", "numpy", "pickle", "h5py", "joblib", "json", "safetensors", "yaml", "gzip", "zarr")


def file_in_error(job: Job, one: TextMatch) -> str:
    """Returns the file as a person names it, from the agent's note of the load or the message; "" where unknown."""
    processes = (one.origin.process, one.process) if one.origin is not None else (one.process,)
    for process in processes:
        for load in reversed(process.loads):
            if load.file and _is_about(load.error, one):
                return shown_path(load.file, job.facts.cwd)
    quoted = path_in(one.found.string)
    return shown_path(quoted, job.facts.cwd) if FILE.search(quoted) else ""


def came_from_loading(one: TextMatch) -> bool:
    """Whether the exception came out of a function that reads files."""
    if one.origin is None:
        return False
    return any(LOADERS.search(frame.file) for frame in one.origin.path[:12]) or any(
        _is_about(load.error, one) for load in (*one.process.loads, *one.origin.process.loads)
    )


def calls_load(job: Job, frame: Frame | None) -> bool:
    """Whether a line of the job calls something that loads a file."""
    statement = job.sources.file(frame.file).statement_at(frame.line) if frame is not None else None
    return any(is_file_call(node, LOADS) for node in walk(statement)) if statement is not None else False


def is_file_call(node: ast.AST, names: set[str]) -> bool:
    """Whether a node is `torch.load(...)`, `h5py.File(...)` or the like, and not `json.loads` of a string."""
    if not isinstance(node, ast.Call) or called_name(node) not in names:
        return False
    receiver = ast.unparse(node.func.value).partition(".")[0] if isinstance(node.func, ast.Attribute) else ""
    return not receiver or receiver in READS_FILES


def saving_lines(job: Job, one: TextMatch, file: str = "") -> tuple[str, ...]:
    """Returns the lines of the job that save a file of this name, or of any where none names it."""
    last = file.rpartition("/")[2]
    named: list[str] = []
    others: list[str] = []
    for name in source_files_of(job, one.process):
        tree = job.sources.file(name).tree
        text = job.sources.file(name).text
        for node in walk(tree) if tree is not None else ():
            if is_file_call(node, SAVES):
                place = SourceSite(file=name, node=node).location(job)
                (named if last and last in ast.unparse(node) else others).append(place)
        if last and last not in text and not named:
            others = others[:2]
    return tuple(dict.fromkeys(named or others))


def _is_about(error: str, one: TextMatch) -> bool:
    said = one.origin.root_text if one.origin is not None else one.line
    return bool(error) and (error[:60] in said or said[:60] in error or one.found[0][:60] in error)
