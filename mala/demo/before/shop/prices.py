"""Prices and discounts."""

DISCOUNTS = {"SPRING": 10, "LOYAL": 15}


def discount_percent(code):
    """The percentage for a code, or 0."""
    return DISCOUNTS.get(code, 0)


def total(items, code=None):
    """What a customer pays, in cents."""
    full = sum(item["cents"] * item["count"] for item in items)
    return full - full * discount_percent(code) // 100
