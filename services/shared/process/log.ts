import { pino } from "pino";

/** Structured logging as JSON lines; never arguments, results or credentials. */
export type Log = Pick<pino.Logger, "debug" | "info" | "warn" | "error"> & { child(fields: object): Log };

/**
 * Creates the process's log, on standard error so that standard output stays
 * for what a person or script reads.
 */
export function createLog(level: string): Log {
  return pino(
    {
      level,
      base: null,
      redact: {
        paths: [
          "authorization",
          "*.authorization",
          "token",
          "*.token",
          "assertion",
          "*.assertion",
          "password",
          "secret",
        ],
        censor: "[redacted]",
      },
    },
    pino.destination({ dest: 2, sync: false }),
  );
}

/** A log that says nothing. */
export const silentLog: Log = pino({ level: "silent" });
