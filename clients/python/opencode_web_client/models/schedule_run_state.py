from enum import StrEnum


class ScheduleRunState(StrEnum):
    DONE = "done"
    FAILED = "failed"
    RUNNING = "running"
    SKIPPED = "skipped"
    STOPPED = "stopped"

    def __str__(self) -> str:
        return str(self.value)
