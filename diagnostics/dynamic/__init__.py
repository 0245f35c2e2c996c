"""What a record says about a job, as pure functions over it. Nothing here touches the machine."""
