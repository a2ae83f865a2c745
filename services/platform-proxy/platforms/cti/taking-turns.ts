import type { Platform } from "../../platform.js";

// The platform takes a new object for an old one of the same name and answers
// both creations alike, so that each creation looks first. Two at once would
// both look before either has written. Creations of two processes of this
// service, or of its users elsewhere, take no turns: nothing tells them apart.

const last = new Map<string, Promise<unknown>>();

/**
 * Runs creations that the platform could take for one another one after the
 * other; each sees what those before it have written.
 *
 * @param names what tells the new object from others, in any case; any of them in common is enough.
 */
export async function takingTurns<Made>(
  { server }: Platform,
  type: string,
  names: readonly string[],
  create: () => Promise<Made>,
): Promise<Made> {
  const keys = [...new Set(names.map((name) => JSON.stringify([server, type, name.trim().toLowerCase()])))];
  const before = Promise.allSettled(keys.map((key) => last.get(key)));
  const turn = before.then(create);
  const ended = turn.catch(() => undefined);
  for (const key of keys) last.set(key, ended);
  try {
    return await turn;
  } finally {
    for (const key of keys) if (last.get(key) === ended) last.delete(key);
  }
}
