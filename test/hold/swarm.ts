import type { Attack, Hostile, Target } from "./hostile.js";

/** What became of hostile connections: how many were opened, and what they were told, by how often. */
export interface Outcome {
  readonly opened: number;
  readonly told: Readonly<Record<string, number>>;
}

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
  const count = (attack: Attack): void => {
    told[attack.told] = (told[attack.told] ?? 0) + 1;
  };
  const attackOnce = (): void => {
    if (over) return;
    const attack = hostile(target);
    opened++;
    open.add(attack);
    if (opened <= connections) attack.onBegun(() => --expected === 0 && begun());
    attack.onEnd(() => {
      open.delete(attack);
      if (over) return;
      count(attack);
      setImmediate(attackOnce);
    });
  };
  for (let i = 0; i < connections; i++) attackOnce();
  return {
    stop() {
      over = true;
      for (const attack of open) {
        count(attack);
        attack.close();
      }
      return { opened, told };
    },
  };
}
