//! The budget of a run. The worst cost of a case is reserved before it starts and settled when it ends; an
//! unknown cost stays reserved.

use mala_domain::agent::budget::Dollars;

/// The money of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvalBudget {
    limit: Option<Dollars>,
    per_case: Dollars,
    spent: Dollars,
    n_open: u64,
}

/// The right to run one case.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a reservation must be settled"]
pub struct BudgetShare {
    taken: Dollars,
}

/// Why there is no money for another case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetExhausted {
    /// Running cases may still return a part of their shares.
    ForNow,
    /// There is not enough left.
    ForGood,
}

impl EvalBudget {
    /// A budget with a limit, or without one; each case could cost `per_case`.
    pub fn new(limit: Option<Dollars>, per_case: Dollars, spent: Dollars) -> Self {
        Self { limit, per_case, spent, n_open: 0 }
    }

    /// Reserves the maximum cost of a case.
    pub fn take(&mut self) -> Result<BudgetShare, BudgetExhausted> {
        let all = self.spent.plus(self.per_case);
        if self.limit.is_some_and(|limit| all > limit) {
            return Err(if self.n_open > 0 {
                BudgetExhausted::ForNow
            } else {
                BudgetExhausted::ForGood
            });
        }
        self.spent = all;
        self.n_open += 1;
        Ok(BudgetShare { taken: self.per_case })
    }

    /// Returns the unused part of a reservation; if the cost is unknown, all of it stays reserved.
    pub fn settle(&mut self, share: BudgetShare, cost: Option<Dollars>) {
        self.n_open = self.n_open.saturating_sub(1);
        if let Some(cost) = cost {
            self.spent = self.spent.less(share.taken).plus(cost);
        }
    }

    /// Dollars so far, including the reservations of running cases.
    pub fn spent(&self) -> Dollars {
        self.spent
    }

    /// Dollars that are left; `None` without a limit.
    pub fn left(&self) -> Option<Dollars> {
        self.limit.map(|limit| limit.less(self.spent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cents(cents: u64) -> Dollars {
        Dollars::millionths(cents * 10_000)
    }

    #[test]
    fn what_cases_could_cost_is_never_more_than_there_is() {
        let mut budget = EvalBudget::new(Some(cents(100)), cents(40), cents(10));
        let first = budget.take().unwrap();
        let second = budget.take().unwrap();
        assert_eq!(budget.take(), Err(BudgetExhausted::ForNow));
        budget.settle(first, Some(cents(5)));
        assert_eq!((budget.spent(), budget.left()), (cents(55), Some(cents(45))));
        let third = budget.take().unwrap();
        budget.settle(second, None);
        budget.settle(third, Some(cents(40)));
        assert_eq!(budget.spent(), cents(95), "what is unknown counts in full");
        assert_eq!(budget.take(), Err(BudgetExhausted::ForGood));
    }

    #[test]
    fn without_a_limit_there_is_always_more() {
        let mut budget = EvalBudget::new(None, cents(40), Dollars::ZERO);
        let shares: Vec<BudgetShare> = (0..1000).map(|_| budget.take().unwrap()).collect();
        shares.into_iter().for_each(|share| budget.settle(share, Some(cents(1))));
        assert_eq!((budget.spent(), budget.left()), (cents(1000), None));
    }
}
