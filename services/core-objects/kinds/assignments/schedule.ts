import { Cron } from "croner";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import type { AssignmentRecord } from "./record.js";

/** The time zone of a schedule that names none. */
export const UTC = "UTC";

type Schedule = Pick<AssignmentRecord, "schedule" | "time_zone">;

/** When a schedule runs next after a time; null where it never does. */
export function nextOf({ schedule, time_zone }: Schedule, after: Date): Date | null {
  return new Cron(schedule, { timezone: time_zone, mode: "5-part" }).nextRun(after);
}

/**
 * When an assignment runs next.
 *
 * @returns null where it has no schedule, or is disabled.
 * @throws ConnectError invalid_argument for what is no schedule or time zone, or never comes.
 */
export function checkedNext(assignment: Schedule & Pick<AssignmentRecord, "enabled">, now = new Date()): Date | null {
  const { schedule, time_zone, enabled } = assignment;
  checkTimeZone(time_zone);
  if (schedule === "") return null;
  let next: Date | null;
  try {
    next = nextOf(assignment, now);
  } catch (error) {
    // If the number of fields is wrong, the sentence of the library is left out: it names another number.
    const said = schedule.trim().split(/\s+/).length === 5 ? (error as Error).message.replace(/^\w+: /, "") : "";
    throw invalidArgument(
      `schedule must be a cron expression of five fields, such as 0 7 * * 1-5${said && `: ${said.slice(0, 200)}`}`,
    );
  }
  if (next === null) throw invalidArgument("schedule has no future time: there is no such day");
  return enabled ? next : null;
}

function checkTimeZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
  } catch {
    throw invalidArgument("time_zone must be a name of the IANA database, such as Europe/Paris");
  }
}
