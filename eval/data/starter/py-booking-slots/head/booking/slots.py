"""Free slots of a day."""

from datetime import date, datetime, timedelta, timezone

from booking.hours import CLOSES, OPENS
from booking.models import Booking

LENGTH = timedelta(minutes=30)


def free_slots(day: date, bookings: list[Booking]) -> list[datetime]:
    """The starts of the slots of a day that nobody has booked and that have not begun."""
    now = datetime.now()
    slots = []
    start = datetime.combine(day, OPENS, tzinfo=timezone.utc)
    closes = datetime.combine(day, CLOSES, tzinfo=timezone.utc)
    while start + LENGTH <= closes:
        if start > now and not is_taken(start, bookings):
            slots.append(start)
        start += LENGTH
    return slots


def is_taken(start: datetime, bookings: list[Booking]) -> bool:
    return any(booking.overlaps(start, start + LENGTH) for booking in bookings)
