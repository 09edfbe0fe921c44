"""Slots over HTTP."""

from datetime import date, timedelta

from booking.slots import free_slots
from booking.store import bookings_between

DAYS = 7


def upcoming(today: date) -> dict[str, list[str]]:
    """The free slots of the next days, by date."""
    bookings = bookings_between(today, today + timedelta(days=DAYS))
    days = (today + timedelta(days=offset) for offset in range(DAYS))
    return {
        day.isoformat(): [slot.isoformat() for slot in free_slots(day, bookings)] for day in days
    }
