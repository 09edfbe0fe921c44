import type { Invoice } from "../store/invoices";

export type SortKey = "number" | "date" | "cents";

/** The invoices with the largest value of a key first; the list that is given stays as it is. */
export function largestFirst(invoices: readonly Invoice[], key: SortKey): Invoice[] {
  return [...invoices].sort((a, b) => {
    if (a[key] === b[key]) {
      return a.number - b.number;
    }
    return a[key] < b[key] ? 1 : -1;
  });
}
