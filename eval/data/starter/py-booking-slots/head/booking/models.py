"""Bookings of a room."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Booking:
    """From `start` to `end`, which is not part of it; both are in UTC and know it."""

    start: datetime
    end: datetime

    def overlaps(self, start: datetime, end: datetime) -> bool:
        return self.start <= start and end <= self.end
