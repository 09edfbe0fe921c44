export interface Invoice {
  number: number;
  /** As `2025-06-30`. */
  date: string;
  cents: number;
}

const invoices: Invoice[] = [];

export async function allInvoices(): Promise<Invoice[]> {
  return [...invoices];
}
