import type { Known } from "../frame/leaks.js";
import type { Json, RealPlatform } from "./platform.js";

/** Where each kind of object is listed, and what its id and name are called. */
export const LISTS = {
  scenario: { path: "/scenarios/search", id: "scenario_id", name: "scenario_name" },
  simulation: { path: "/exercises/search", id: "exercise_id", name: "exercise_name" },
  endpoint: { path: "/endpoints/search", id: "asset_id", name: "asset_name" },
  finding: { path: "/findings/search", id: "finding_id", name: "finding_value" },
  technique: { path: "/attack_patterns/search", id: "attack_pattern_id", name: "attack_pattern_name" },
  tag: { path: "/tags/search", id: "tag_id", name: "tag_name" },
  assetGroup: { path: "/asset_groups/search", id: "asset_group_id", name: "asset_group_name" },
  team: { path: "/teams/search", id: "team_id", name: "team_name" },
  atomic: { path: "/atomic-testings/search", id: "inject_id", name: "inject_title" },
  payload: { path: "/payloads/search", id: "payload_id", name: "payload_name" },
  contract: { path: "/injector_contracts/search", id: "injector_contract_id", name: "injector_contract_id" },
  player: { path: "/players/search", id: "user_id", name: "user_email" },
  phase: { path: "/kill_chain_phases/search", id: "phase_id", name: "phase_name" },
  vulnerability: { path: "/vulnerabilities/search", id: "vulnerability_id", name: "vulnerability_external_id" },
  document: { path: "/documents/search", id: "document_id", name: "document_name" },
} as const;

/** What is listed without pages. */
const WHOLE = ["/domains", "/channels", "/challenges", "/lessons_templates"];

/** The name of a kind of object. */
export type KindName = keyof typeof LISTS;

/** What one person sees of one tenant of the platform, asked directly. */
export class Seen {
  constructor(
    private readonly platform: RealPlatform,
    readonly email: string,
    readonly tenant: string,
  ) {}

  /** The path of a route inside the tenant. */
  at(route: string): string {
    return `/api/tenants/${this.tenant}${route}`;
  }

  /** All rows of a kind; none where the person may not see any. */
  async of(kind: KindName): Promise<Json[]> {
    return (await this.mayList(kind)) ?? [];
  }

  /** All rows of a kind; undefined where the person may not ask. */
  mayList(kind: KindName): Promise<Json[] | undefined> {
    return this.platform.search(this.email, this.at(LISTS[kind].path), LISTS[kind].id);
  }

  /** Everything below an object, such as the injects of a scenario; undefined where the person may not ask. */
  below(route: string, id: string): Promise<Json[] | undefined> {
    return this.platform.search(this.email, this.at(route), id);
  }

  /** An object by its id, where it is of the tenant. */
  async read(route: string): Promise<Json | undefined> {
    return this.platform.read(this.email, this.at(route));
  }

  /** The names of labels by their ids. */
  async labels(): Promise<ReadonlyMap<string, string>> {
    return new Map((await this.of("tag")).map((tag) => [tag.tag_id, tag.tag_name]));
  }

  /** Every object that the person sees, and what the platform names inside it. */
  async everything(): Promise<Known[]> {
    const kinds = Object.keys(LISTS) as KindName[];
    const paged = await Promise.all(kinds.map((kind) => this.of(kind)));
    const rows = [...paged, ...(await Promise.all(WHOLE.map((route) => this.read(route))))].flat().filter(Boolean);
    const plans = rows.flatMap((row) => [row.scenario_id, row.exercise_id].filter(Boolean) as string[]);
    const injects: Json[] = [];
    for (const id of plans) {
      const isScenario = rows.some((row) => row.scenario_id === id);
      const route = isScenario ? `/scenarios/${id}` : `/exercises/${id}`;
      injects.push(...((await this.below(`${route}/injects/${isScenario ? "simple" : "search"}`, "inject_id")) ?? []));
      injects.push((await this.read(route)) ?? {});
    }
    return [...rows, ...injects].flatMap(named);
  }
}

/** Every id in what the platform said, with the name beside it. */
export function named(value: Json): Known[] {
  if (typeof value === "string") return UUID.test(value) ? [{ id: value }] : [];
  if (Array.isArray(value)) return value.flatMap(named);
  if (typeof value !== "object" || value === null) return [];
  const own = Object.entries(value as Record<string, Json>).flatMap(([key, id]): Known[] => {
    if (!key.endsWith("_id") || typeof id !== "string") return [];
    const noun = key.slice(0, -"_id".length);
    const name =
      value[`${noun}_name`] ?? value[`${noun}_title`] ?? (noun === "finding" ? value.finding_value : undefined);
    return [{ id, name }];
  });
  return [...own, ...Object.values(value as Record<string, Json>).flatMap(named)];
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
