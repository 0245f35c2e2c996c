"""One of our own streams, stdout or stderr, and the reading ends whose bytes go there."""

import errno
import os
import select
import threading
from contextlib import suppress

CHUNK_BYTES = 1 << 16
DRAIN_BYTES = 4 << 20  # taken from one writer after the end; one that was left alone may write for ever


def is_ready(fd, event, longest_ms):
    """Whether a descriptor can be read or written now; select.select refuses those from 1024 on."""
    poll = select.poll()
    poll.register(fd, event)
    return bool(poll.poll(longest_ms))


class Source:
    """A reading end: of the job's main pipe, or of one process's own."""

    def __init__(self, fd, name_file, copy):
        self.fd, self.name_file, self.copy = fd, name_file, copy


class Destination:
    """One of our own streams, and all that is written to it."""

    def __init__(self, relay, number):
        self.relay, self.number = relay, number
        self.poll = select.epoll()
        self.sources = {}
        self.open = True
        self.lock = threading.Lock()
        self.wake, self.woken = os.pipe()[::-1]
        self.settling = []  # (source or None, the agent that waits until it is empty)
        self.poll.register(self.woken, select.EPOLLIN)
        self.thread = threading.Thread(target=self.run, daemon=True)

    def add(self, source):
        """Takes over a source; where our reader has gone it is closed at once."""
        with self.lock:
            if self.open:
                os.set_blocking(source.fd, False)
                self.sources[source.fd] = source
                self.poll.register(source.fd, select.EPOLLIN)
                return
        self.relay.drop(source)

    def run(self):
        """Passes on until the job is over."""
        while self.step(None):
            pass

    def step(self, longest_s):
        """Waits for what is written and passes it on; False once the job is over."""
        ready = [fd for fd, _ in self.poll.poll(longest_s)]
        settling = []
        if self.woken in ready:
            os.read(self.woken, 64)
            with self.lock:
                settling, self.settling = self.settling, []
            if self.relay.finishing:
                self.drain()
                return False
            ready.remove(self.woken)
            if settling:  # what was written meanwhile counts, too
                ready = [fd for fd, _ in self.poll.poll(0) if fd != self.woken]
        for fd in self.in_order(ready):
            source = self.sources.get(fd)
            if source is not None and not self.take(source):
                self.end(source)
        for source, agent in settling:
            self.settle(source, agent)
        if not self.sources and self.relay.orphaned:
            self.relay.tell_main()
        return True

    def known_sources(self):
        """Returns the sources of this moment; from another thread."""
        with self.lock:
            return list(self.sources.values())

    def ask_to_settle(self, name, agent):
        """Has the stream of this name emptied and the agent told of it; from another thread."""
        with self.lock:
            source = next((one for one in self.sources.values() if one.name_file.name == name), None)
            self.settling.append((source, agent))
        os.write(self.wake, b"x")

    def settle(self, source, agent):
        """Passes on all that a source has now, and tells the agent."""
        taken = 0
        while source is not None and self.sources.get(source.fd) is source and self.open and taken < DRAIN_BYTES:
            if not is_ready(source.fd, select.POLLIN, 0):
                break
            if not self.take(source):
                self.end(source)
            taken += CHUNK_BYTES
        with suppress(OSError):  # it did not wait any longer
            agent.send(b"k")
        agent.close()

    def in_order(self, ready):
        """Returns the ready sources, those that were written to first before the others."""
        return sorted(ready, key=lambda fd: os.fstat(fd).st_mtime_ns) if len(ready) > 1 else ready

    def take(self, source):
        """Passes on what one source has now; False at its end."""
        try:
            data = os.read(source.fd, CHUNK_BYTES)
        except BlockingIOError:
            return True
        except OSError:  # EIO: no process holds the terminal's other side any more
            return False
        if not data:
            return False
        if source.copy is not None:
            source.copy.add(data)
        self.relay.keep(data)
        self.pass_on(data)
        return True

    def pass_on(self, data):
        """Writes to our own stream, and waits as long as its reader does not read."""
        view = memoryview(data)
        while view and self.open:
            try:
                view = view[os.write(self.number, view) :]
            except BlockingIOError:  # somebody else made it so
                is_ready(self.number, select.POLLOUT, None)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    self.close()
                    return
                self.relay.lost += len(view)  # a full disk: the job lives on, as much as it can be helped
                return

    def drain(self):
        """Takes what lies in the pipes after the end of the job."""
        for source in list(self.sources.values()):
            taken = 0
            while self.open and taken < DRAIN_BYTES:
                if not is_ready(source.fd, select.POLLIN, 0) or not self.take(source):
                    break
                taken += CHUNK_BYTES
            self.end(source)

    def let_go(self):
        """Closes our own stream where nobody can write to it any more: its reader must not wait for the others."""
        with self.lock:
            if self.open and not self.sources:
                self.open = False
                nothing = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nothing, self.number)  # a closed number would be given to another file
                os.close(nothing)

    def end(self, source):
        """Closes one source."""
        with self.lock:
            if self.sources.pop(source.fd, None) is not None:
                self.relay.drop(source)

    def close(self):
        """Our reader has gone: the job is to see that, too."""
        with self.lock:
            self.open = False
        for source in list(self.sources.values()):
            self.end(source)
