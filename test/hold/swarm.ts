import type { Attack, Hostile, Target } from "./hostile.js";

/** What became of hostile connections: how many were opened, and what they were told, by how often. */
export interface Outcome {
  readonly opened: number;
  readonly told: Readonly<Record<string, number>>;
}

/**
 * So many come at a time, so often in milliseconds: 400 a second, those included
 * who were thrown out. A thousand handshakes in one moment cost any server, one
 * that does nothing included, up to a second: that is no matter of ours.
 */
const A_TURN = 10;
const TURN_MS = 25;

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
  let absent = connections;
  const count = (attack: Attack): void => {
    told[attack.told] = (told[attack.told] ?? 0) + 1;
  };
  const attackOnce = (): void => {
    const attack = hostile(target);
    absent--;
    opened++;
    open.add(attack);
    if (opened <= connections) attack.onBegun(() => --expected === 0 && begun());
    attack.onEnd(() => {
      open.delete(attack);
      if (over) return;
      count(attack);
      absent++;
    });
  };
  const arriving = setInterval(() => {
    for (let i = 0; i < A_TURN && absent > 0; i++) attackOnce();
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
