import { timingSafeEqual, scryptSync } from "node:crypto";

export interface User {
  id: string;
  name: string;
  role: "user" | "support";
  salt: Buffer;
  hash: Buffer;
}

const users = new Map<string, User>();

export async function checkPassword(name: string, password: string): Promise<User | undefined> {
  const user = [...users.values()].find((one) => one.name === name);
  if (!user) {
    return undefined;
  }
  const hash = scryptSync(password, user.salt, user.hash.length);
  return timingSafeEqual(hash, user.hash) ? user : undefined;
}

export async function userById(id: string): Promise<User | undefined> {
  return users.get(id);
}
