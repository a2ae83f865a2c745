import { readFileSync } from "node:fs";
import type { Harness } from "../../platform-proxy/platforms/cti/harness.js";

/**
 * Exchanges of a real platform (7.260817.0), in the order in which they were
 * made: what was asked, as which kind of user, and the shape of what came back.
 */
export interface Recording {
  readonly queries: readonly string[];
  /** What is known of the ids in the requests: type, definition or value, hidden or of high confidence. */
  readonly facts: Readonly<Record<string, Fact>>;
  /** Internal ids by STIX id. */
  readonly stix: Readonly<Record<string, string>>;
  readonly exchanges: readonly Exchange[];
}

interface Fact {
  readonly t?: string;
  readonly d?: string;
  readonly v?: string;
  readonly hidden?: boolean;
  readonly high?: boolean;
}

export interface Exchange {
  readonly op: string;
  readonly as: string;
  readonly q: number;
  readonly v: unknown;
  readonly h?: Readonly<Record<string, string>>;
  readonly s: number;
  /** The shape of the data: "s", "n", "b" or null in place of values; of lists the first row. */
  readonly d?: unknown;
  readonly e?: Failure;
  /** Ids that a write gave out, by path. */
  readonly made?: readonly (readonly [path: string, id: string])[];
}

interface Failure {
  readonly code: string;
  readonly name: string;
  readonly path: boolean;
  readonly data: boolean;
  readonly keys: readonly string[];
  readonly doc: string | null;
}

export function readRecording(): Recording {
  return JSON.parse(readFileSync(new URL("./recorded.snap.json", import.meta.url), "utf8")) as Recording;
}

interface Candidate {
  readonly id: string;
  readonly standard_id: string;
  readonly confidence?: number | null;
  readonly objectMarking?: readonly unknown[] | null;
  readonly definition?: string;
  readonly value?: string;
}

/** Replays exchanges in order; ids of the recording are mapped to ours of the same kind as they come up. */
export class Replay {
  private readonly ids = new Map<string, string>();
  private readonly tokens = new Map<string, { readonly token: string; readonly until: number }>();
  private readonly pools = new Map<string, Candidate[]>();

  constructor(
    private readonly harness: Harness,
    private readonly recording: Recording,
  ) {}

  /** @returns how the answer differs from the recorded one; undefined where it does not. */
  async run(exchange: Exchange): Promise<string | undefined> {
    const query = await this.translate(this.recording.queries[exchange.q] as string);
    const variables = JSON.parse(await this.translate(JSON.stringify(exchange.v ?? {}))) as Record<string, unknown>;
    const draft = exchange.h?.["opencti-draft-id"];
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (draft === undefined) headers["opencti-draft-id"] = "";
    else if (draft !== "(not sent)") headers["opencti-draft-id"] = await this.translate(draft);
    for (const [name, value] of Object.entries(exchange.h ?? {}))
      if (name !== "opencti-draft-id") headers[name] = value;
    if (exchange.as !== "anonymous") {
      headers.authorization = `Bearer ${await this.token(exchange.as)}`;
    }
    const reply = await fetch(`${this.harness.sandbox.url}/graphql`, {
      method: "POST",
      headers,
      body: JSON.stringify({ query, variables }),
    });
    const body = (await reply.json()) as { data?: unknown; errors?: readonly Record<string, never>[] };
    if (reply.status !== exchange.s) return `status ${reply.status}, not ${exchange.s}`;
    if (exchange.e !== undefined) return failureDifference(exchange.e, body);
    if (body.errors !== undefined) return `refused: ${JSON.stringify(body.errors[0]).slice(0, 220)}`;
    for (const [path, id] of exchange.made ?? []) {
      const ours = path
        .split(".")
        .reduce<unknown>((at, key) => (at as Record<string, unknown> | null)?.[key], body.data);
      if (typeof ours === "string") this.ids.set(id, ours);
    }
    return shapeDifference(exchange.d, body.data, "data");
  }

  /** Signed anew long before it expires. */
  private async token(user: string): Promise<string> {
    const kept = this.tokens.get(user);
    if (kept !== undefined && kept.until > Date.now()) return kept.token;
    const token = await this.harness.issuer.sign(`${user}@recorded.example`);
    this.tokens.set(user, { token, until: Date.now() + 30_000 });
    return token;
  }

  private async translate(text: string): Promise<string> {
    const found = [...new Set(text.match(/(?:[a-z0-9-]+--)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [])];
    let translated = text;
    for (const id of found) translated = translated.replaceAll(id, await this.ours(id));
    return translated;
  }

  private async ours(id: string): Promise<string> {
    const known = this.ids.get(id);
    if (known !== undefined) return known;
    const internal = this.recording.stix[id];
    if (internal !== undefined) {
      const { standard_id } = await this.find(await this.ours(internal));
      return standard_id;
    }
    const fact = this.recording.facts[id];
    if (fact?.t === undefined) return id;
    const candidate = await this.choose(fact.t, fact);
    const ours = candidate?.id ?? id;
    this.ids.set(id, ours);
    return ours;
  }

  private async find(id: string): Promise<{ standard_id: string }> {
    type Found = Record<"object" | "relationship" | "label", { standard_id: string } | null>;
    const { object, relationship, label } = await this.harness.ask<Found>(
      "admin",
      `{ object: stixCoreObject(id: "${id}") { standard_id } relationship: stixCoreRelationship(id: "${id}") { standard_id } label(id: "${id}") { standard_id } }`,
    );
    return object ?? relationship ?? label ?? { standard_id: id };
  }

  private async choose(type: string, fact: Fact): Promise<Candidate | undefined> {
    let pool = this.pools.get(type);
    if (pool === undefined) {
      pool = await this.candidates(type);
      this.pools.set(type, pool);
    }
    const fits = (one: Candidate) => {
      if (fact.d !== undefined) return one.definition === fact.d;
      if (fact.v !== undefined && one.value === fact.v) return true;
      const open = (one.objectMarking ?? []).length === 0;
      if (fact.hidden === true) return !open;
      if (one.confidence === undefined || one.confidence === null) return open;
      return open && (fact.high === true ? one.confidence > 80 : one.confidence <= 50);
    };
    const at = pool.findIndex(fits);
    const taken = at < 0 ? 0 : at;
    return fact.d === undefined && fact.v === undefined ? pool.splice(taken, 1)[0] : pool[taken];
  }

  private async candidates(type: string): Promise<Candidate[]> {
    const META: Readonly<Record<string, string>> = {
      "Marking-Definition": "markingDefinitions(first: 50) { edges { node { id standard_id definition } } }",
      Label: "labels(first: 50) { edges { node { id standard_id value } } }",
      "External-Reference": "externalReferences(first: 50) { edges { node { id standard_id } } }",
      "Kill-Chain-Phase": "killChainPhases(first: 50) { edges { node { id standard_id } } }",
      "stix-sighting-relationship":
        "stixSightingRelationships(first: 50) { edges { node { id standard_id confidence } } }",
    };
    const listed =
      META[type] ??
      (/^[a-z]/.test(type)
        ? `stixCoreRelationships(first: 50${type === "stix-core-relationship" ? "" : `, relationship_type: ["${type}"]`}) { edges { node { id standard_id confidence } } }`
        : undefined);
    const query =
      listed ??
      `stixCoreObjects(types: ["${type}"], first: 300) { edges { node { id standard_id objectMarking { definition } ... on StixDomainObject { confidence } } } }`;
    const data = await this.harness.ask<Record<string, { edges: { node: Candidate }[] }>>("admin", `{ ${query} }`);
    const red = (one: Candidate) =>
      (one.objectMarking ?? []).some((marking) => (marking as { definition: string }).definition === "TLP:RED");
    const rows = Object.values(data)[0]!.edges.map(({ node }) => node);
    return rows.filter((one) => (one.objectMarking ?? []).length === 0 || red(one));
  }
}

function failureDifference(
  wanted: Failure,
  body: { data?: unknown; errors?: readonly Record<string, never>[] },
): string | undefined {
  const [error] = body.errors ?? [];
  if (error === undefined) return `accepted, where ${wanted.code} was recorded`;
  const { extensions, name, path, message } = error as {
    extensions?: { code?: string; data?: Record<string, unknown> };
    name?: string;
    path?: unknown;
    message?: string;
  };
  const got = {
    code: extensions?.code,
    name,
    path: path !== undefined,
    data: "data" in body,
    doc: (extensions?.data?.doc_code as string | undefined) ?? null,
  };
  const { keys: _keys, ...compared } = wanted;
  for (const [key, value] of Object.entries(compared)) {
    if (got[key as keyof typeof got] !== value)
      return `${key} is ${String(got[key as keyof typeof got])}, not ${String(value)}: ${message ?? ""}`;
  }
  return undefined;
}

/** The same keys and types; what is null or empty on either side says nothing of the other. */
function shapeDifference(wanted: unknown, got: unknown, at: string): string | undefined {
  if (wanted === null || wanted === undefined || got === null || got === undefined) return undefined;
  if (Array.isArray(wanted)) {
    if (!Array.isArray(got)) return `${at} is no list`;
    return wanted.length === 0 || got.length === 0 ? undefined : shapeDifference(wanted[0], got[0], `${at}[]`);
  }
  if (typeof wanted === "object") {
    if (typeof got !== "object") return `${at} is no object`;
    const [a, b] = [Object.keys(wanted).sort(), Object.keys(got).sort()];
    // A list of several types answers each row with the fields of its own.
    if (!at.endsWith("node") && a.join() !== b.join()) return `${at} has ${b.join(",")}, not ${a.join(",")}`;
    for (const key of a) {
      const difference = shapeDifference(
        (wanted as Record<string, unknown>)[key],
        (got as Record<string, unknown>)[key],
        `${at}.${key}`,
      );
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  const type = typeof got === "string" ? "s" : typeof got === "number" ? "n" : typeof got === "boolean" ? "b" : "?";
  return type === wanted ? undefined : `${at} is ${type}, not ${String(wanted)}`;
}
