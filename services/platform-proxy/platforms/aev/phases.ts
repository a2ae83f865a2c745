import { notFound } from "../../../shared/rpc/errors.js";
import type { Platform } from "../../platform.js";
import { searchAll } from "./search.js";
import type { TenantScope } from "./tenant.js";

/** A phase of a kill chain. */
export interface UpstreamPhase {
  readonly phase_id: string;
  readonly phase_external_id: string | null;
  readonly phase_name: string;
  readonly phase_kill_chain_name: string;
  readonly phase_order: number;
}

/** Where phases are found. */
export const PHASES = { route: "/kill_chain_phases/search", idKey: "phase_id" } as const;
/** In what order they stand. */
export const PHASE_SORTS = [
  { property: "phase_kill_chain_name", direction: "asc" },
  { property: "phase_order", direction: "asc" },
] as const;
const MAX_PHASES = 1_000;

/** All phases of a tenant. */
export function allPhases(platform: Platform, tenant: TenantScope): AsyncGenerator<UpstreamPhase, void> {
  return searchAll(platform, tenant, { ...PHASES, sorts: PHASE_SORTS }, MAX_PHASES);
}

/** @throws ConnectError not_found: techniques of an unknown phase look like a phase without any. */
export async function needPhase(platform: Platform, tenant: TenantScope, id: string): Promise<void> {
  for await (const { phase_id } of allPhases(platform, tenant)) if (phase_id === id.toLowerCase()) return;
  throw notFound(
    `kill_chain_phase_id: there is no phase ${id} in tenant ${tenant.name}; list_kill_chain_phases lists them`,
  );
}
