"""Bookings in memory."""

from datetime import date

from booking.models import Booking

BOOKINGS: list[Booking] = []


def bookings_between(first: date, last: date) -> list[Booking]:
    """The bookings that start on these days, the last one not included."""
    return [booking for booking in BOOKINGS if first <= booking.start.date() < last]
