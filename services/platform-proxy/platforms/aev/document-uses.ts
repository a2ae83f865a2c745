import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { DocumentUseSchema } from "#proto/aev/v1/document_service_pb.js";
import type { Platform } from "../../platform.js";
import { searchAll } from "./search.js";
import type { TenantScope } from "./tenant.js";
import type { UpstreamDocument } from "./upstream-content.js";
import { CHALLENGE, CHANNEL, wholeOf } from "./whole.js";

/** Something that uses a document, and the scenario or simulation it is of. */
interface Related {
  readonly id: string;
  readonly name?: string | null;
  readonly context?: string | null;
}

/** What the platform says uses a document: of everybody's, whoever asks. */
type Relations = Readonly<Partial<Record<string, readonly Related[]>>>;

/** The most scenarios, simulations and the like that are looked through. */
const MAX_SEEN = 10_000;

/** Searches that show a caller what that caller may see. */
const SEARCHES = {
  scenario: { route: "/scenarios/search", idKey: "scenario_id", nameKey: "scenario_name" },
  simulation: { route: "/exercises/search", idKey: "exercise_id", nameKey: "exercise_name" },
  payload: { route: "/payloads/search", idKey: "payload_id", nameKey: "payload_name" },
  atomicTest: { route: "/atomic-testings/search", idKey: "inject_id", nameKey: "inject_title" },
} as const;

/** A scenario or simulation. */
export interface PlanName {
  readonly id: string;
  readonly name: string;
}

/** Of some ids those that the caller may see, with their names; asks nothing where none is given. */
export async function seenOf(
  platform: Platform,
  tenant: TenantScope,
  kind: keyof typeof SEARCHES,
  ids: readonly string[] | null | undefined,
): Promise<PlanName[]> {
  const wanted = new Set(ids ?? []);
  const found: PlanName[] = [];
  if (wanted.size === 0) return found;
  const { route, idKey, nameKey } = SEARCHES[kind];
  const search = { route, idKey, sorts: [{ property: nameKey, direction: "asc" }] } as const;
  try {
    for await (const row of searchAll<Record<string, string>>(platform, tenant, search, MAX_SEEN)) {
      const id = row[idKey] ?? "";
      if (wanted.delete(id)) found.push({ id, name: row[nameKey] ?? "" });
    }
  } catch (error) {
    if (!isRefused(error)) throw error;
  }
  return found;
}

/**
 * What hands a document out, as far as the caller may see it: the platform
 * itself names everything to whoever may read the document.
 */
export async function usesOf(
  platform: Platform,
  tenant: TenantScope,
  { document_id: id }: UpstreamDocument,
): Promise<MessageInitShape<typeof DocumentUseSchema>[]> {
  const path = tenant.path(`/documents/${id}/relations`);
  const relations = (await platform.rest<Relations | undefined>({ verb: "GET", path })) ?? {};
  const of = (...kinds: readonly string[]): Related[] => kinds.flatMap((kind) => relations[kind] ?? []);

  const below = of("scenarioArticles", "simulationArticles", "scenarioInjects", "simulationInjects");
  const contexts = below.flatMap(({ context }) => context ?? []);
  const plans = new Set(
    (await Promise.all((["scenario", "simulation"] as const).map((kind) => seenOf(platform, tenant, kind, contexts))))
      .flat()
      .map((plan) => plan.id),
  );
  const inPlan = ({ context }: Related) => context != null && plans.has(context);
  const payloads = await seenOf(platform, tenant, "payload", idsOf(of("payloads")));
  const atomics = await seenOf(platform, tenant, "atomicTest", idsOf(of("atomicTestings")));
  const among = (seen: readonly { readonly id: string }[]) => (one: Related) => seen.some((row) => row.id === one.id);
  const listed = async (kind: typeof CHANNEL, some: readonly Related[]) => {
    if (some.length === 0) return [];
    const rows = await wholeOf<Record<string, string>>(platform, tenant, kind).catch((error: unknown) => {
      if (isRefused(error)) return [];
      throw error;
    });
    return some.filter((one) => rows.some((row) => row[kind.idKey] === one.id));
  };
  const told = (type: string, some: readonly Related[]) =>
    some.map((one) => ({ type, id: one.id, name: one.name ?? "" }));
  return [
    ...told("article", of("scenarioArticles", "simulationArticles").filter(inPlan)),
    ...told("inject", of("scenarioInjects", "simulationInjects").filter(inPlan)),
    ...told("atomic_test", of("atomicTestings").filter(among(atomics))),
    ...told("challenge", await listed(CHALLENGE, of("challenges"))),
    ...told("channel", await listed(CHANNEL, of("channels"))),
    ...told("payload", of("payloads").filter(among(payloads))),
  ];
}

const idsOf = (some: readonly Related[]): string[] => some.map(({ id }) => id);
const isRefused = (error: unknown): boolean => error instanceof ConnectError && error.code === Code.PermissionDenied;
