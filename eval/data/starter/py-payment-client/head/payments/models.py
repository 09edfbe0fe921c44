"""What is paid for."""

from dataclasses import dataclass
from datetime import date, timedelta

from payments.database import update


@dataclass
class Order:
    id: int
    customer_id: int
    total_cents: int
    charge_id: str | None = None

    def save(self) -> None:
        update("orders", self)


@dataclass
class Subscription:
    id: int
    customer_id: int
    price_cents: int
    paid_until: date

    def next_due(self, today: date) -> date:
        return (today.replace(day=1) + timedelta(days=32)).replace(day=1)

    def save(self) -> None:
        update("subscriptions", self)
