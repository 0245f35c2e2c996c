"""Copies checkpoints to the model store while the training goes on."""
import logging
import shutil
import threading
import time
from pathlib import Path

log = logging.getLogger("sft")


def store_path(uri, run):
    if not uri.startswith("file://"):
        raise ValueError(f"unsupported store {uri}")
    return Path(uri[len("file://") :]) / run


def upload_directory(folder, uri, run):
    target = store_path(uri, run) / folder.name
    partial = target.with_suffix(".partial")
    for source in sorted(folder.iterdir()):
        destination = partial / source.relative_to(folder.parent).name
        shutil.copyfile(source, destination)
    partial.rename(target)


class UploadCallback:
    def __init__(self, uri, run, enabled):
        self.uri, self.run, self.enabled = uri, run, enabled
        self.threads = []

    def on_save(self, folder):
        if not self.enabled:
            return
        thread = threading.Thread(target=upload_directory, args=(folder, self.uri, self.run), name=f"upload-{folder.name}")
        thread.start()
        self.threads.append(thread)
        log.info("uploading %s in the background", folder.name)

    def on_train_end(self):
        started = time.monotonic()
        for thread in self.threads:
            thread.join(timeout=600)
        if self.enabled:
            log.info("uploads complete after %.1f s, model is at %s", time.monotonic() - started,
                     store_path(self.uri, self.run))
