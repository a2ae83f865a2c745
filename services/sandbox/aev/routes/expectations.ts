import { objectOf, textOf } from "../input.js";
import { Bare, notFound, ok } from "../replies.js";
import { holds, may, need } from "../rights.js";
import { iso } from "../views/scenarios.js";
import { type Expectation, type ExpectationRecord, type Inject, rowsOf, type World } from "../world.js";
import type { Route } from "./route.js";

const EXPECTED = 100;

/** What injects of simulations are expected to show, and what is recorded of it by hand. */
export function expectationRoutes(world: World): Route[] {
  const find = (id: string): readonly [Inject, Expectation] | undefined => {
    for (const inject of world.injects.values()) {
      const found = inject.expectations.find((one) => one.id === id);
      if (found !== undefined) return [inject, found];
    }
    return undefined;
  };
  /** That of an asset group follows from its endpoints', and where something is taken off an endpoint's from its agents'. */
  const needOwn = ({ type, target, agent }: Expectation, removes: boolean): void => {
    if (type !== "PREVENTION" && type !== "DETECTION") return;
    const endpoint = world.endpoints.get(target);
    if (endpoint === undefined) throw new Bare(500);
    if (removes && agent === undefined && endpoint.agent !== undefined) throw new Bare(500);
  };
  /** What an endpoint with an agent is given, its agent is given, and the other way round. */
  const record = (
    inject: Inject,
    one: Expectation,
    change: (records: ExpectationRecord[]) => ExpectationRecord[],
    now: number,
  ) => {
    for (const other of inject.expectations) {
      if (other.target !== one.target || other.type !== one.type) continue;
      other.results = change(other.results);
      const best = Math.max(0, ...other.results.map(({ score }) => score));
      other.verdict = best >= EXPECTED ? "SUCCESS" : "FAILED";
      other.decidedAt = other.results.length === 0 ? Number.MAX_SAFE_INTEGER : now;
    }
    return ok(view(world, inject, one, now));
  };

  return [
    {
      method: "GET",
      path: "/exercises/{id}/expectations",
      answer: ({ actor, ids: [id = ""], now }) => {
        need(may(actor, "ACCESS_ASSESSMENT", id, "OBSERVER"));
        const simulation = world.simulations.get(id);
        if (simulation === undefined) throw notFound(`Exercise not found with id: ${id}`);
        const injects = rowsOf(world.injects, simulation.injects);
        return ok(injects.flatMap((inject) => inject.expectations.map((one) => view(world, inject, one, now))));
      },
    },
    {
      method: "PUT",
      path: "/expectations/{id}",
      answer: ({ actor, ids: [id = ""], body, now }) => {
        // Of whatever simulation and tenant it is; a grant is not asked for.
        need(holds(actor, "MANAGE_ASSESSMENT"));
        const input = objectOf(body);
        const [sourceId, sourceType, sourceName] = ["id", "type", "name"].map((key) => textOf(input, `source_${key}`));
        const score = input.expectation_score;
        if (typeof score !== "number" || !sourceId || !sourceType || !sourceName) throw new Bare(400);
        const found = find(id);
        if (found === undefined) throw notFound(null);
        const [inject, one] = found;
        needOwn(one, false);
        const added = { sourceId, sourceType, sourceName, score, at: now };
        const isHuman = one.type === "HUMAN_RESPONSE";
        const rest = (records: ExpectationRecord[]) =>
          isHuman ? [] : records.filter((other) => other.sourceId !== sourceId);
        return record(inject, one, (records) => [...rest(records), added], now);
      },
    },
    {
      method: "PUT",
      path: "/expectations/{id}/{source}/delete",
      answer: ({ actor, ids: [id = "", source = ""], now }) => {
        need(holds(actor, "MANAGE_ASSESSMENT"));
        const found = find(id);
        if (found === undefined) throw new Bare(500);
        const [inject, one] = found;
        needOwn(one, true);
        return record(inject, one, (records) => records.filter(({ sourceId }) => sourceId !== source), now);
      },
    },
  ];
}

function view(world: World, inject: Inject, one: Expectation, now: number): unknown {
  const { type, target, agent, results } = one;
  const isDecided = one.decidedAt <= now;
  const name = type === "HUMAN_RESPONSE" ? "Answered in time" : type === "PREVENTION" ? "Prevention" : "Detection";
  const score = { SUCCESS: EXPECTED, PARTIAL: EXPECTED / 2, FAILED: 0 }[one.verdict];
  return {
    listened: true,
    inject_expectation_type: type === "HUMAN_RESPONSE" ? "MANUAL" : type,
    inject_expectation_id: one.id,
    inject_expectation_name: name,
    inject_expectation_description: null,
    inject_expectation_signatures: [],
    inject_expectation_results: results.map((record) => ({
      sourceId: record.sourceId,
      sourceType: record.sourceType,
      sourceName: record.sourceName,
      sourceAssetId: record.sourceId,
      sourcePlatform: null,
      date: iso(record.at),
      score: record.score,
      result: record.score >= EXPECTED ? "Successful" : "Failed",
      metadata: null,
    })),
    inject_expectation_score:
      results.length > 0 ? Math.max(...results.map((record) => record.score)) : isDecided ? score : null,
    inject_expectation_expected_score: EXPECTED,
    inject_expiration_time: 21_600,
    inject_expectation_created_at: iso(inject.status?.sentAt ?? inject.createdAt),
    inject_expectation_updated_at: iso(inject.updatedAt),
    inject_expectation_group: false,
    inject_expectation_exercise: inject.simulation,
    inject_expectation_inject: inject.id,
    inject_expectation_user: null,
    inject_expectation_team: world.teams.has(target) ? target : null,
    inject_expectation_agent: agent ?? null,
    inject_expectation_asset: world.endpoints.has(target) ? target : null,
    inject_expectation_asset_group: world.assetGroups.has(target) ? target : null,
    inject_expectation_article: null,
    inject_expectation_challenge: null,
    inject_expectation_traces: null,
    inject_expectation_status: isDecided ? one.verdict : "PENDING",
    target_id: agent ?? target,
  };
}
