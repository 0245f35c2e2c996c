"""What a host says of itself: its names as it resolves them, its interfaces, its versions. Imports no torch."""

import fcntl
import importlib.metadata
import importlib.util
import os
import platform
import re
import socket
import struct
import sys
import threading
import time
from pathlib import Path

SIOCGIFFLAGS, SIOCGIFADDR, SIOCGIFMTU = 0x8913, 0x8915, 0x8921
IFF_UP, IFF_LOOPBACK = 0x1, 0x8
OF_THE_JOB = ("NCCL_", "GLOO_", "TORCH_", "MASTER_", "TP_")


def facts(names, deadline_s):
    """Returns all of it; names that a server does not resolve in time are told so."""
    own = socket.gethostname()
    resolved = resolve([own, *names], deadline_s)
    return {
        "hostname": own,
        "own": resolved[own],
        "names": {name: resolved[name] for name in names},
        "interfaces": interfaces(),
        "versions": versions(),
        "variables": {name: value for name, value in os.environ.items() if name.startswith(OF_THE_JOB)},
        "reached_at": (os.environ.get("SSH_CONNECTION", "").split() + [""] * 3)[2],
        "cores": len(os.sched_getaffinity(0)),
    }


def resolve(names, deadline_s):
    """Returns {"addresses", "error", "seconds"} for each name, all asked at the same time."""
    rows = {name: {"addresses": [], "error": "no answer within %.0f s" % deadline_s, "seconds": deadline_s}
            for name in names}  # fmt: skip
    threads = [threading.Thread(target=ask, args=(name, row), daemon=True) for name, row in rows.items()]
    for thread in threads:
        thread.start()
    until = time.monotonic() + deadline_s
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return {name: dict(row) for name, row in rows.items()}


def ask(name, row):
    """Fills in what one name resolves to, as torch asks for it."""
    began = time.monotonic()
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
        row["addresses"], row["error"] = sorted({one[4][0] for one in found}), ""
    except OSError as error:
        row["error"] = error.strerror or str(error)
    except UnicodeError as error:
        row["error"] = str(error)
    row["seconds"] = time.monotonic() - began


def interfaces():
    """Returns name, MTU, addresses and state of each interface, by the kernel's own calls: `ip` may be missing."""
    found = []
    six = addresses_of_version_six()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for _, name in socket.if_nameindex():
            flags = struct.unpack_from("H", control(asked, SIOCGIFFLAGS, name) or bytes(32), 16)[0]
            mtu = struct.unpack_from("i", control(asked, SIOCGIFMTU, name) or bytes(32), 16)[0]
            four = control(asked, SIOCGIFADDR, name)
            addresses = [socket.inet_ntoa(four[20:24])] if four else []
            found.append({"name": name, "mtu": mtu, "up": bool(flags & IFF_UP), "loopback": bool(flags & IFF_LOOPBACK),
                          "addresses": addresses + six.get(name, [])})  # fmt: skip
    return found


def control(asked, question, name):
    """Returns the kernel's answer about an interface, None where it has none."""
    try:
        return fcntl.ioctl(asked.fileno(), question, struct.pack("256s", name.encode()[:15]))
    except OSError:
        return None


def addresses_of_version_six():
    """Returns the global IPv6 addresses of each interface."""
    found = {}
    try:
        text = Path("/proc/net/if_inet6").read_text()
    except OSError:
        return found
    for line in text.splitlines():
        digits, _, _, scope, _, name = line.split()
        if scope == "00":
            found.setdefault(name, []).append(socket.inet_ntop(socket.AF_INET6, bytes.fromhex(digits)))
    return found


def versions():
    """Returns what has to be the same on all hosts, "" for what is not there."""
    return {
        "python": platform.python_version(),
        "executable": sys.executable,
        **torch_versions(),
        "nccl": package("nvidia-nccl"),
        "driver": driver(),
        "gpus": gpus(),
        "kernel": os.uname().release,
        "libc": "-".join(platform.libc_ver()),
    }


def torch_versions():
    """Returns torch's version and CUDA as its files say: an import takes seconds, and may be what hangs."""
    try:
        found = importlib.util.find_spec("torch")
        place = Path(found.origin).parent / "version.py" if found and found.origin else None
        text = place.read_text() if place else ""
    except (ImportError, OSError, ValueError):
        text = ""
    return {"torch": said("__version__", text), "cuda": said("cuda", text), "torch_commit": said("git_version", text)}


def said(name, text):
    """Returns the string that a generated version file gives to a name."""
    for line in text.splitlines():
        left, _, right = line.partition("=")
        value = right.strip()
        if left.partition(":")[0].strip() == name and value[:1] in ("'", '"'):
            return value.strip("'\"")
    return ""


def package(beginning):
    """Returns the version of the installed package whose name begins so."""
    for one in importlib.metadata.distributions():
        if str(one.metadata["Name"] or "").lower().replace("_", "-").startswith(beginning):
            return one.version
    return ""


def driver():
    """Returns the version of NVIDIA's kernel driver."""
    try:
        found = re.search(r"\b(\d{3}\.\d+(\.\d+)?)\b", Path("/proc/driver/nvidia/version").read_text())
    except OSError:
        return ""
    return found.group(1) if found else ""


def gpus():
    """Returns the GPUs as the driver names them, such as `8 x NVIDIA H100`."""
    models = []
    for file in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        found = re.search(r"^Model:\s*(.+)$", file.read_text(errors="replace"), re.MULTILINE)
        models.append(found.group(1).strip() if found else "GPU")
    return ", ".join("%d x %s" % (models.count(model), model) for model in sorted(set(models)))
