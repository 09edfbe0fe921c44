import type { Request, Response } from "express";
import { find, open } from "../auth/session";
import { userById } from "../auth/users";

/** Lets support staff act as another user. */
export async function impersonate(request: Request, response: Response): Promise<void> {
  const session = find(request.cookies.session ?? "");
  if (!session || session.role === "support") {
    response.status(403).json({ error: "only support may do this" });
    return;
  }
  const user = await userById(request.params.id);
  if (!user) {
    response.status(404).json({ error: "no such user" });
    return;
  }
  const token = open({ userId: user.id, role: "user" });
  response.cookie("session", token, { httpOnly: true, secure: true, sameSite: "lax" });
  response.status(204).end();
}
