import { createHash, randomUUID } from "node:crypto";
import type { Endpoint, Expectation, Inject, Simulation, SimulationStatus, World } from "./world.js";
import { rowsOf } from "./world.js";

// The life of simulations. The platform looks once a minute, on the minute,
// for what is due; here the state is worked out from the time whenever
// somebody asks, so that it needs no timers and tests need not wait.

const MINUTE_MS = 60_000;
const QUEUED_MS = 25_000;
const EXECUTED_MS = 40_000;
const DECIDED_MS = 90_000;

const NEXT: Readonly<Record<SimulationStatus, readonly SimulationStatus[]>> = {
  SCHEDULED: ["RUNNING"],
  RUNNING: ["CANCELED", "PAUSED"],
  PAUSED: ["CANCELED", "RUNNING"],
  CANCELED: ["SCHEDULED"],
  FINISHED: ["SCHEDULED"],
};

/** The statuses that a simulation may be set to from one. */
export function nextStatuses(status: SimulationStatus): readonly SimulationStatus[] {
  return NEXT[status];
}

/** The next full minute, when what is launched now starts. */
export function nextMinute(now: number): number {
  return Math.floor(now / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
}

/** Brings a simulation to a state that may follow its own; false for one that may not. */
export function setStatus(world: World, simulation: Simulation, status: SimulationStatus, now: number): boolean {
  if (!NEXT[simulation.status].includes(status)) return false;
  if (status === "RUNNING" && simulation.status === "SCHEDULED") simulation.start = nextMinute(now);
  if (status === "RUNNING" && simulation.pausedAt !== null) {
    simulation.pausedMs += now - simulation.pausedAt;
    simulation.pausedAt = null;
  }
  if (status === "PAUSED") simulation.pausedAt = now;
  if (status === "CANCELED") simulation.end = now;
  if (status === "SCHEDULED") reset(world, simulation);
  simulation.status = status;
  simulation.updatedAt = now;
  return true;
}

/** Brings every running simulation to where it is at a time. */
export function advance(world: World, now: number): void {
  for (const simulation of world.simulations.values()) {
    if (simulation.status === "RUNNING" && simulation.start !== null) advanceOne(world, simulation, now);
  }
  for (const inject of world.injects.values()) {
    if (inject.scenario !== null || inject.simulation !== null || inject.triggeredAt == null) continue;
    const due = Math.ceil(inject.triggeredAt / MINUTE_MS) * MINUTE_MS;
    if (now >= due) moveTo(world, inject, now - due, due);
  }
}

function advanceOne(world: World, simulation: Simulation, now: number): void {
  const injects = rowsOf(world.injects, simulation.injects).filter((inject) => inject.enabled);
  let end = simulation.start as number;
  for (const inject of injects) {
    const due = dueAt(simulation, inject);
    end = Math.max(end, due + EXECUTED_MS);
    if (now >= due) moveTo(world, inject, now - due, due);
  }
  if (injects.length > 0 && now >= end) {
    simulation.status = "FINISHED";
    simulation.end = end;
    simulation.updatedAt = end;
  }
}

/** The minute at which the platform finds an inject due. */
function dueAt(simulation: Simulation, inject: Inject): number {
  const at = (simulation.start as number) + simulation.pausedMs + inject.delaySeconds * 1_000;
  return Math.ceil(Math.min(at, inject.triggeredAt ?? at) / MINUTE_MS) * MINUTE_MS;
}

function moveTo(world: World, inject: Inject, elapsed: number, due: number): void {
  const implant = inject.contract.type === "openaev_implant";
  const name =
    elapsed < QUEUED_MS
      ? "QUEUING"
      : elapsed < EXECUTED_MS
        ? implant
          ? "PENDING"
          : "EXECUTING"
        : outcomeOf(world, inject, implant);
  if (inject.status === null) {
    inject.status = { id: randomUUID(), name, sentAt: due, endAt: null };
    inject.updatedAt = due;
  }
  if (inject.status.name !== name) {
    inject.status.name = name;
    inject.updatedAt = due + Math.min(elapsed, EXECUTED_MS);
  }
  if (elapsed >= QUEUED_MS && inject.expectations.length === 0)
    inject.expectations = expectationsOf(world, inject, due);
  if (elapsed >= EXECUTED_MS) inject.status.endAt ??= due + EXECUTED_MS;
}

/** An attack is carried out where there is an agent at work; where there is none anywhere, it is not. */
function outcomeOf(world: World, inject: Inject, implant: boolean): string {
  const targets = endpointsOf(world, inject);
  const reached = targets.filter(({ agent }) => agent?.active === true).length;
  if (implant && targets.length > 0 && reached < targets.length) return reached === 0 ? "ERROR" : "PARTIAL";
  return chance(inject.id, 10) === 0 ? "PARTIAL" : "SUCCESS";
}

/** The endpoints that an inject is aimed at, those of its groups among them. */
export function endpointsOf(world: World, { assets, assetGroups }: Inject): Endpoint[] {
  const members = rowsOf(world.assetGroups, assetGroups).flatMap((group) => group.assets);
  return rowsOf(world.endpoints, [...new Set([...assets, ...members])]);
}

/** What an inject's targets are expected to do; decided some time after it ran. */
export function expectationsOf(world: World, inject: Inject, due: number): Expectation[] {
  const implant = inject.contract.type === "openaev_implant";
  const types: Expectation["type"][] = implant ? ["PREVENTION", "DETECTION"] : ["HUMAN_RESPONSE"];
  const targets = implant ? [...inject.assets, ...inject.assetGroups] : inject.teams;
  return targets.flatMap((target) =>
    types.flatMap((type) => {
      const roll = chance(`${inject.title}${inject.contract.id}${target}${type}`, 10);
      const verdict = roll < 5 ? "SUCCESS" : roll < 7 ? "PARTIAL" : "FAILED";
      const agent = world.endpoints.get(target)?.agent?.id;
      return [undefined, ...(agent === undefined ? [] : [agent])].map(
        (of): Expectation => ({
          id: idOf(`${inject.id}${target}${type}${of ?? ""}`),
          type,
          target,
          agent: of,
          verdict,
          decidedAt: due + DECIDED_MS,
          results: [],
        }),
      );
    }),
  );
}

/** The same id for the same text. */
function idOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function reset(world: World, simulation: Simulation): void {
  for (const inject of rowsOf(world.injects, simulation.injects)) {
    inject.status = null;
    inject.triggeredAt = null;
    inject.expectations = [];
  }
  for (const [id, finding] of world.findings)
    if (simulation.injects.includes(finding.inject)) world.findings.delete(id);
  simulation.start = null;
  simulation.end = null;
  simulation.pausedAt = null;
  simulation.pausedMs = 0;
}

/** The same number below `sides` for the same text. */
export function chance(text: string, sides: number): number {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return (hash >>> 0) % sides;
}
