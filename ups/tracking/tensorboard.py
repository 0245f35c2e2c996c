"""Metrics as TensorBoard event files: tensorboard --logdir <output.dir>/tensorboard."""

from __future__ import annotations

from pathlib import Path

from ups.tracking import Record

NOT_CURVES = ("kind", "stage", "step", "epoch")


class TensorBoard:
    """Writes every number of a record as the scalar <stage>/<name>."""

    def __init__(self, folder: Path) -> None:
        # Imported here: it costs a second, and only rank 0 pays it.
        from tensorboard.compat.proto import event_pb2, summary_pb2
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        self._event, self._summary = event_pb2.Event, summary_pb2.Summary
        self._writer = EventFileWriter(str(folder))

    def log(self, record: Record) -> None:
        """Adds the record's numbers at its step."""
        values = [
            self._summary.Value(tag=f"{record['stage']}/{name}", simple_value=float(value))
            for name, value in record.items()
            if name not in NOT_CURVES and isinstance(value, (int, float))
        ]
        self._writer.add_event(self._event(step=int(record["step"]), summary=self._summary(value=values)))

    def close(self) -> None:
        """Writes what is queued and ends the writer's thread."""
        self._writer.close()
