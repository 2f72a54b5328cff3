import { realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { PostgresUser } from "./postgres-user.ts";

/** Whether the mode bits of `folder` and of every folder above it let `user` pass through. */
export async function canTraverse(folder: string, user: PostgresUser): Promise<boolean> {
  let current = await realpath(folder);
  for (;;) {
    const { mode, uid, gid } = await stat(current);
    const executeBit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & executeBit) === 0) return false;
    const parent = dirname(current);
    if (parent === current) return true;
    current = parent;
  }
}
