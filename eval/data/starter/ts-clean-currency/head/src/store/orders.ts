export interface Line {
  text: string;
  cents: number;
}

export interface Order {
  lines: Line[];
  cents: number;
}
