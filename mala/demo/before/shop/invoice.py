"""Invoices."""

from shop.prices import discount_percent, total


def invoice(order):
    """The lines of an invoice."""
    return {
        "order": order.id,
        "discount": discount_percent(order.code),
        "cents": total(order.items, order.code),
    }
