import type { Request, Response } from "express";
import { open } from "../auth/session";
import { checkPassword } from "../auth/users";

export async function login(request: Request, response: Response): Promise<void> {
  const user = await checkPassword(request.body.name, request.body.password);
  if (!user) {
    response.status(401).json({ error: "wrong name or password" });
    return;
  }
  const token = open({ userId: user.id, role: user.role });
  response.cookie("session", token, { httpOnly: true, secure: true, sameSite: "lax" });
  response.json({ userId: user.id });
}
