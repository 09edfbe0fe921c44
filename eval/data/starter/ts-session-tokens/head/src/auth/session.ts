import jwt from "jsonwebtoken";

export interface Session {
  userId: string;
  role: "user" | "support";
}

const HOURS = 12;

function secret(): string {
  const value = process.env.SESSION_SECRET;
  if (!value) {
    throw new Error("SESSION_SECRET is not set");
  }
  return value;
}

/** A token that says who is logged in. */
export function open(session: Session): string {
  return jwt.sign({ ...session }, secret(), { algorithm: "HS256", expiresIn: `${HOURS}h` });
}

/** The session of a token; nothing when the token is not one of ours. */
export function find(token: string): Session | undefined {
  const claims = jwt.decode(token);
  if (claims === null || typeof claims === "string") {
    return undefined;
  }
  return { userId: claims.userId, role: claims.role };
}
