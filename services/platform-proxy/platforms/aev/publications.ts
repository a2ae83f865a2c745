import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { timeOf } from "../../lib/time.js";
import type { Platform } from "../../platform.js";
import type { Plan } from "./plan.js";
import { type Search, searchAll } from "./search.js";
import type { TenantScope } from "./tenant.js";
import type { UpstreamInject } from "./upstream.js";

// When an article appears is decided by the inject that publishes it. For a scenario the platform tells no time at
// all, and for a simulation that has not started one that moves with the clock.

/** When articles are published: seconds after the start, by their ids. */
export type Delays = ReadonlyMap<string, number>;

const MAX_INJECTS = 5_000;
const PUBLISHES = "openaev_channel";

/** When the injects of a scenario or simulation publish articles. */
export async function publicationsOf(platform: Platform, tenant: TenantScope, { route }: Plan): Promise<Delays> {
  const search: Search = {
    route: `${route}/injects/simple`,
    idKey: "inject_id",
    sorts: [{ property: "inject_depends_duration", direction: "asc" }],
  };
  const delays = new Map<string, number>();
  for await (const row of searchAll<UpstreamInject>(platform, tenant, search, MAX_INJECTS)) {
    if (row.inject_type !== PUBLISHES || !row.inject_enabled) continue;
    for (const id of articlesIn(row.inject_content)) {
      delays.set(id, Math.min(delays.get(id) ?? Number.MAX_SAFE_INTEGER, row.inject_depends_duration));
    }
  }
  return delays;
}

function articlesIn(content: UpstreamInject["inject_content"]): readonly string[] {
  const articles: unknown = content?.articles;
  return Array.isArray(articles) ? articles.filter((id) => typeof id === "string") : [];
}

/** When an article of a simulation is published: what the platform says once it has started, planned before. */
export function publishedAt(
  { startsAt, hasStarted }: Plan,
  delay: number | undefined,
  told: string | null,
): Timestamp | undefined {
  if (delay === undefined || startsAt === undefined) return undefined;
  const start = Date.parse(startsAt);
  return hasStarted === true ? timeOf(told) : timestampFromMs(start + delay * 1_000);
}
