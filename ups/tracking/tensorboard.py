"""Metrics as TensorBoard event files: tensorboard --logdir <output.dir>/tensorboard."""

from __future__ import annotations

from pathlib import Path

from ups.tracking import Record, curves


class TensorBoard:
    """Writes every number of a record as the scalar <stage>/<name>."""

    def __init__(self, folder: Path) -> None:
        from tensorboard.compat.proto import event_pb2, summary_pb2
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        self._event, self._summary = event_pb2.Event, summary_pb2.Summary
        self._writer = EventFileWriter(str(folder))

    def log(self, record: Record) -> None:
        """Adds the record's numbers at its step."""
        values = [self._summary.Value(tag=name, simple_value=value) for name, value in curves(record).items()]
        self._writer.add_event(self._event(step=int(record["step"]), summary=self._summary(value=values)))

    def finish(self, exit_code: int) -> None:
        """Writes what is queued and ends the writer's thread; event files know no exit code."""
        self._writer.close()
