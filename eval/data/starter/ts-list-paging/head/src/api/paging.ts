const DEFAULT_SIZE = 20;

export interface Page<T> {
  items: T[];
  page: number;
  pages: number;
}

/** One page of a list, counted from 1. A size of 0 means that all items are on one page. */
export function page<T>(items: T[], number: number, size?: number): Page<T> {
  const perPage = size || DEFAULT_SIZE;
  if (perPage === 0) {
    return { items, page: 1, pages: 1 };
  }
  const pages = Math.max(1, Math.ceil(items.length / perPage));
  const current = Math.min(Math.max(1, Math.trunc(number)), pages);
  const start = current * perPage;
  return { items: items.slice(start, start + perPage), page: current, pages };
}
