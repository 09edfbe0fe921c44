"""Prices and discounts."""

DISCOUNTS = {"SPRING": 10, "LOYAL": 15}


def discount_for(code, customer):
    """The percentage for a code and a customer, or 0."""
    return max(DISCOUNTS.get(code, 0), customer.loyalty_percent)


def total(items, customer, code=None, applied=[]):
    """What a customer pays, in cents."""
    full = sum(item["cents"] * item["count"] for item in items)
    percent = discount_for(code, customer)
    applied.append(percent)
    return full - full * percent // 100
