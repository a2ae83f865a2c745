import type { Config } from "../process/config.js";
import { positive } from "../process/config.js";
import type { CallRates } from "./shares.js";

/** The settings of how many calls a key, and a user, may make. */
export const CALL_RATE_OPTIONS = {
  callsPerSecond: {
    doc: "Calls that a key may make a second, over HTTP and gRPC together; of several façade workers each has an equal part, rounded up, and gRPC counts for itself.",
    parse: positive,
    fallback: 1000,
  },
  callBurst: {
    doc: "Calls that a key may make at once, likewise; on one connection it has one worker's part.",
    parse: positive,
    fallback: 2000,
  },
  userCallsPerSecond: {
    doc: "Calls that a user may make a second with all keys together, likewise.",
    parse: positive,
    fallback: 2000,
  },
  userCallBurst: {
    doc: "Calls that a user may make at once with all keys together, likewise.",
    parse: positive,
    fallback: 4000,
  },
};

type Settings = Config<typeof CALL_RATE_OPTIONS>;

/** What the settings say of a process that has all the calls of its machine. */
export function callRatesOf(settings: Settings): CallRates {
  return {
    perKey: { perSecond: settings.callsPerSecond, burst: settings.callBurst },
    perUser: { perSecond: settings.userCallsPerSecond, burst: settings.userCallBurst },
  };
}

/** The settings of one of several workers, between whom the kernel divides connections: its part, rounded up. */
export function callRatesOfWorker(settings: Settings, workers: number): Settings {
  const part = (calls: number): number => Math.ceil(calls / workers);
  return {
    callsPerSecond: part(settings.callsPerSecond),
    callBurst: part(settings.callBurst),
    userCallsPerSecond: part(settings.userCallsPerSecond),
    userCallBurst: part(settings.userCallBurst),
  };
}
