import { ATTACKS, type Target } from "./attacks.js";

// Every attack at the same time, by one ordinary key.

/** How long they may take together, in milliseconds: the runs of one user wait for each other. */
const LONGEST_MS = 180_000;

/** Begins all attacks at once, and waits until each has ended with its reason. */
export async function attackAtOnce(target: Target): Promise<string> {
  const attacks = Object.entries(ATTACKS);
  const all = await Promise.all(
    attacks.map(([name, attack]) =>
      attack({ ...target, longestMs: LONGEST_MS }).then(
        (said) => ({ name, said }),
        ({ message }: Error) => ({ name, said: `failed: ${message.slice(0, 200)}` }),
      ),
    ),
  );
  const bad = all.filter(({ said }) => /^failed|run (queued|running)|vouch/.test(said));
  if (bad.length > 0) throw new Error(bad.map(({ name, said }) => `${name}: ${said}`).join("; "));
  return `${all.length} at once, and each ended with its reason`;
}
