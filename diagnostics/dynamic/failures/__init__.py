"""The root exception, native crashes, memory, files, masked errors: what failed first in a process."""
