"""What blocks a process that waits in no collective: wait causes and chains, timeouts, shutdown, liveness."""
