const formats = new Map<string, Intl.NumberFormat>();

function format(language: string): Intl.NumberFormat {
  let known = formats.get(language);
  if (known === undefined) {
    known = new Intl.NumberFormat(language, { style: "currency", currency: "EUR" });
    formats.set(language, known);
  }
  return known;
}

/** An amount in euros as people of a language write it. */
export function amount(cents: number, language: string): string {
  return format(language).format(cents / 100);
}
