import type { LeftBehind } from "#api/auth/v1/user_service_pb";

/** What a person leaves who was disabled or deleted; undefined for nothing. */
export function leftBehindInWords(left: LeftBehind | undefined): string | undefined {
  if (left === undefined) return undefined;
  if (left.problem !== "") return left.problem;
  const parts = [
    [left.objects, "objects stay: hand them over with users hand-over"],
    [left.pausedSchedules, "schedules are paused"],
    [left.endedRuns, "runs were ended"],
  ] as const;
  const said = parts.filter(([count]) => count > 0).map(([count, words]) => `${count} ${words}`);
  return said.length === 0 ? undefined : `${said.join("; ")}.`;
}
