import type { ConfiguredPlatforms } from "../catalogue/platforms.js";
import { targetOf } from "../shared/outgoing/named-url.js";
import { type OutgoingPolicy, withAllowed } from "../shared/outgoing/policy.js";
import type { Settings } from "./config.js";

/** Which addresses this deployment calls that users name: for custom tools, MCP servers, models and embedders. */
export function outgoingOf({ outgoingAllow = [], outgoingProxy = "" }: Settings): OutgoingPolicy {
  return { allow: outgoingAllow, proxy: outgoingProxy };
}

/**
 * Which addresses this deployment calls platforms at: those of its settings and the built-in ones are listed, each by
 * its host and port, and stay closed to what users name.
 */
export function platformPolicyOf(settings: Settings, configured: ConfiguredPlatforms): OutgoingPolicy {
  const named = Object.values(configured).map(({ url }) => {
    const { host, port } = targetOf(url);
    return `${host}:${port}`;
  });
  return withAllowed(outgoingOf(settings), named);
}
