export interface Item {
  sku: string;
  quantity: number;
  cents: number;
}

export interface Cart {
  items: Item[];
}

export type Action =
  | { type: "add"; item: Item }
  | { type: "quantity"; sku: string; quantity: number }
  | { type: "clear" };

/** The cart after an action; the old one stays as it is. */
export function reduce(cart: Cart, action: Action): Cart {
  switch (action.type) {
    case "add":
      return { items: [...cart.items, action.item] };
    case "quantity": {
      const item = cart.items.find((one) => one.sku === action.sku);
      if (item) {
        item.quantity = action.quantity;
      }
      return { items: [...cart.items] };
    }
    case "clear":
      return { items: [] };
  }
}
