import type { Log } from "../shared/process/log.js";

/** How a platform registers itself with the service it trusts. */
export interface Registration {
  /** The service to register with. */
  readonly trust: string;
  readonly token: string;
  /** What the platform says of itself: platform_identifier, platform_url, platform_title, platform_version, platform_id. */
  readonly platform: Readonly<Record<string, string>>;
  readonly log: Log;
}

const HEARTBEAT_MS = 5 * 60_000;
const RETRY_MS = 2_000;

/**
 * Registers a platform with the service it trusts and repeats it every five
 * minutes as its heartbeat, as the real platforms do
 * (POST /api/v1/platform/register).
 *
 * @returns a function that ends it.
 */
export function keepRegistered({ trust, token, platform, log }: Registration): () => void {
  const ended = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const register = async (): Promise<void> => {
    let wait = RETRY_MS;
    try {
      const reply = await fetch(`${trust}/api/v1/platform/register`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify({ ...platform, intents: [] }),
        signal: AbortSignal.any([ended.signal, AbortSignal.timeout(5_000)]),
      });
      await reply.body?.cancel();
      if (reply.ok) wait = HEARTBEAT_MS;
      else
        log.warn(
          { status: reply.status },
          "the service refused to register this platform; check the registration token",
        );
    } catch (error) {
      if (ended.signal.aborted) return;
      log.warn({ err: error }, "the platform could not reach the service to register; it tries again");
    }
    timer = setTimeout(() => void register(), wait);
  };
  void register();
  return () => {
    ended.abort();
    clearTimeout(timer);
  };
}
