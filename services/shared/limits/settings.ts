import type { Config } from "../process/config.js";
import { positive } from "../process/config.js";
import type { CallRates } from "./shares.js";

/** The settings of how many calls a key, and a user, may make. */
export const CALL_RATE_OPTIONS = {
  callsPerSecond: {
    doc: "Calls per second that one key may make, over HTTP and gRPC together. With several façade workers, each worker allows an equal part, rounded up, and gRPC is counted separately.",
    parse: positive,
    fallback: 1000,
  },
  callBurst: {
    doc: "Calls that one key may make in a burst, counted in the same way. With several façade workers, one connection gets the part of one worker.",
    parse: positive,
    fallback: 2000,
  },
  userCallsPerSecond: {
    doc: "Calls per second that one user may make with all keys together, counted in the same way.",
    parse: positive,
    fallback: 2000,
  },
  userCallBurst: {
    doc: "Calls that one user may make in a burst with all keys together, counted in the same way.",
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
