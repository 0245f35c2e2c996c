"""What a process that is killed with -9 would leave on disk or in memory, and the small programs that remove it."""
