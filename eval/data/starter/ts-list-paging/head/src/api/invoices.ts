import { allInvoices, type Invoice } from "../store/invoices";
import { page, type Page } from "./paging";
import { largestFirst, type SortKey } from "./sorting";

export interface Listing {
  page: number;
  size?: number;
  sort: SortKey;
}

export async function listInvoices(listing: Listing): Promise<Page<Invoice>> {
  const invoices = await allInvoices();
  return page(largestFirst(invoices, listing.sort), listing.page, listing.size);
}
