"""What can be subscribed to."""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Plan:
    name: str
    monthly_price: Decimal


BASIC = Plan("Basic", Decimal("9.00"))
TEAM = Plan("Team", Decimal("49.00"))
