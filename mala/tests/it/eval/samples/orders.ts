export interface Order {
  id: number;
  paid: boolean;
  price: number;
}

export interface Queue {
  put(order: Order): Promise<void>;
  close(): Promise<void>;
}

declare function connect(): Promise<Queue>;
declare function move(source: string, target: string, amount: number): void;
declare function report(text: string): void;

export class Missing extends Error {}

export async function publish(orders: Order[]): Promise<number> {
  const queue = await connect();
  let sent = 0;
  for (let i = 0; i < orders.length; i++) {
    await queue.put(orders[i]);
    sent += 1;
  }
  await queue.close();
  return sent;
}

export function page(orders: Order[], start: number, count: number): Order[] {
  if (start < 0) {
    throw new RangeError('start');
  }
  if (orders.length === 0) {
    throw new Missing('nothing');
  }
  return orders.slice(start, start + count).slice(0, count);
}

export function named(order?: Order): string {
  if (!order) {
    return 'guest';
  }
  return String(order.id);
}

export function transfer(source: string, target: string, amount: number): boolean {
  if (amount > 1000) {
    throw new RangeError('amount');
  }
  move(source, target, amount);
  return true;
}

export async function attempt(orders: Order[]): Promise<number> {
  try {
    return await publish(orders);
  } catch (error) {
    if (orders.length > 100) {
      throw error;
    }
    report('could not publish');
    return 0;
  }
}
