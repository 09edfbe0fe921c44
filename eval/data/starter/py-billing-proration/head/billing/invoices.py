"""Invoices for subscriptions."""

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal

from billing.periods import Period
from billing.plans import Plan
from billing.proration import prorated


@dataclass
class Line:
    text: str
    amount: Decimal


@dataclass
class Invoice:
    customer: str
    lines: list[Line] = field(default_factory=list)

    def total(self) -> Decimal:
        return sum((line.amount for line in self.lines), Decimal(0))


def monthly_invoice(customer: str, plan: Plan) -> Invoice:
    return Invoice(customer, [Line(plan.name, plan.monthly_price)])


def first_invoice(
    customer: str,
    plan: Plan,
    period: Period,
    signed_up: date,
    extra: list[Line] = [],
) -> Invoice:
    """The invoice for the rest of the period in which the customer signs up."""
    amount = prorated(plan.monthly_price, period, signed_up)
    extra.insert(0, Line(f"{plan.name} from {signed_up:%d %B}", amount))
    return Invoice(customer, extra)
