import type { Platform } from "../platform.js";

// A write that depends on what it reads first, such as a creation that looks
// whether the platform has the object, is wrong if another one writes in
// between. Writes of two processes of this service, or of its users elsewhere,
// take no turns: nothing tells them apart.

const last = new Map<string, Promise<unknown>>();

/**
 * Runs writes of the same objects one after the other; each sees what those before it have written.
 *
 * @param names what tells the object from others, in any case; any of them in common is enough.
 */
export async function takingTurns<Written>(
  { server }: Platform,
  type: string,
  names: readonly string[],
  write: () => Promise<Written>,
): Promise<Written> {
  const keys = [...new Set(names.map((name) => JSON.stringify([server, type, name.trim().toLowerCase()])))];
  const before = Promise.allSettled(keys.map((key) => last.get(key)));
  const turn = before.then(write);
  const ended = turn.catch(() => undefined);
  for (const key of keys) last.set(key, ended);
  try {
    return await turn;
  } finally {
    for (const key of keys) if (last.get(key) === ended) last.delete(key);
  }
}
