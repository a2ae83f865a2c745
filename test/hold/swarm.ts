import type { Attack, Hostile, Target } from "./hostile.js";

/** What became of hostile connections: how many were opened, and what they were told, by how often. */
export interface Outcome {
  readonly opened: number;
  readonly told: Readonly<Record<string, number>>;
}

/** So many come at a time, so often in milliseconds: 250 a second. */
const A_TURN = 10;
const TURN_MS = 40;

/**
 * Keeps so many hostile connections of one kind open, each replaced when it is thrown out, until it is stopped.
 *
 * @param begun is called once the first of each were open, or had ended.
 */
export function startSwarm(
  hostile: Hostile,
  connections: number,
  target: Target,
  begun: () => void = () => undefined,
): { stop(): Outcome } {
  const open = new Set<Attack>();
  const told: Record<string, number> = {};
  let opened = 0;
  let over = false;
  let expected = connections;
  let arrived = 0;
  const count = (attack: Attack): void => {
    told[attack.told] = (told[attack.told] ?? 0) + 1;
  };
  const attackOnce = (isFirst: boolean): void => {
    if (over) return;
    const attack = hostile(target);
    opened++;
    open.add(attack);
    if (isFirst) attack.onBegun(() => --expected === 0 && begun());
    attack.onEnd(() => {
      open.delete(attack);
      if (over) return;
      count(attack);
      setImmediate(attackOnce, false);
    });
  };
  // Not all at once: a thousand handshakes in one moment cost any server, one that does nothing included, a second.
  const arriving = setInterval(() => {
    for (let i = 0; i < A_TURN && arrived < connections; i++, arrived++) attackOnce(true);
    if (arrived === connections) clearInterval(arriving);
  }, TURN_MS);
  return {
    stop() {
      over = true;
      clearInterval(arriving);
      for (const attack of open) {
        count(attack);
        attack.close();
      }
      return { opened, told };
    },
  };
}
