"""Billing periods."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Period:
    """From the first to the last day, both included."""

    first: date
    last: date

    def __post_init__(self) -> None:
        if self.last < self.first:
            raise ValueError("a period cannot end before it starts")

    def contains(self, day: date) -> bool:
        return self.first <= day <= self.last

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1
