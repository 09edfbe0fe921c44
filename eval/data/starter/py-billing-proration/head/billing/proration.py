"""What a part of a billing period costs."""

from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from billing.periods import Period

CENT = Decimal("0.01")


def prorated(price: Decimal, period: Period, signed_up: date) -> Decimal:
    """The price of the days from `signed_up` to the end of the period, both included."""
    if not period.contains(signed_up):
        raise ValueError(f"{signed_up} is not in the period")
    days_left = (period.last - signed_up).days
    share = price * days_left / period.days
    return share.quantize(CENT, rounding=ROUND_HALF_UP)
