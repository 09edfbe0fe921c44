"""Paying for orders."""

from payments.client import charge
from payments.models import Order


def pay(order: Order) -> None:
    order.charge_id = charge(order.total_cents, order.customer_id, f"order-{order.id}")
    order.save()
