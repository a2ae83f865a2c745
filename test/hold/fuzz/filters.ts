import { create } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { checkRules } from "../../../services/shared/rpc/steps/rules.js";
import { ArgumentError } from "../../../services/shared/tools/codec/argument-error.js";
import { compileDecode } from "../../../services/shared/tools/codec/decode.js";
import { explain } from "../../../services/shared/tools/explain.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";
import { callOf, resultOf, startWorlds } from "./platform-answers.js";
import { changedJson, type Random } from "./random.js";
import { type FuzzTarget, wordsOf } from "./target.js";

/** What would change a query, a filter or a path that it is written into. */
const ATTACKS = [
  'zz"}) { me { api_token } } #zz',
  '{"$ne": "zz"}',
  "zz/../../users",
  "zz?admin=true#zz",
  "zz%2e%2e%2fusers",
  "zz' OR '1'='1",
  "zz&page=2",
  "zz\r\nX-Injected: 1",
] as const;
/** Members of MongoDB filters, as names of fields. */
const OPERATORS = ["$where", "$ne", "$expr", "filterGroups", "__proto__"];

/**
 * Arguments of the tools that filter and look for something on a platform, with texts that would change a query. What is
 * sent to the platform has them as values: never in the text of a GraphQL document, and never as a part of a path.
 */
export async function fuzzFilters(): Promise<FuzzTarget> {
  const { worlds, close } = await startWorlds();
  const tools = new Map(readTools(readImage()).map((tool) => [tool.method.name, tool]));
  const refusals = new Set<string>();
  const samples = worlds.flatMap(({ world, samples }) =>
    [...new Map(samples.map((one) => [one.method, one])).values()].flatMap(({ method, caller, encode }) => {
      const tool = tools.get(method.desc.name);
      if (tool === undefined) return [];
      return [
        {
          world,
          method,
          caller,
          encode,
          decode: compileDecode(method.desc.input),
          schema: tool.listing.inputSchema as Schema,
        },
      ];
    }),
  );

  return {
    name: "filters",
    refusals,
    atOnce: 1,
    async one(random) {
      const { world, method, caller, encode, decode, schema } = random.pick(samples);
      const args = attacked(schema, random);
      const written: string[] = [];
      world.lieBy(random);
      world.sent = ({ path, body }) => {
        const { query = "" } = (body ?? {}) as { readonly query?: string };
        if (query.includes("zz")) written.push(`a document: ${query}`);
        if (/zz["/?#&\r\n]|\/\.\.\//.test(path)) written.push(`a path: ${path}`);
      };
      try {
        const request = decode((random.once(4) ? changedJson(args, random) : args) as never);
        checkRules(method.desc, request);
        const result = await resultOf(method.handle(request as never, callOf(caller)));
        JSON.parse(encode(create(method.desc.output, result as never)));
      } catch (error) {
        const isRefused =
          error instanceof ArgumentError || (error instanceof ConnectError && explain(error) !== undefined);
        if (!isRefused)
          return `${method.desc.name}: ${(error as Error).stack} to ${JSON.stringify(args).slice(0, 1_000)}`;
        refusals.add(wordsOf(error instanceof ConnectError ? error.rawMessage : (error as Error).message));
      }
      return written.length === 0 ? undefined : `${method.desc.name} writes into ${written[0]?.slice(0, 500)}`;
    },
    close,
  };
}

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Arguments that fit a schema, most of whose texts are attacks. */
function attacked(schema: Schema, random: Random): unknown {
  if (schema.enum !== undefined) return random.once(20) ? random.pick(ATTACKS) : random.pick(schema.enum);
  switch (schema.type) {
    case "string":
      if (schema.format === "uuid" && !random.once(4)) return "2cffad3a-0001-4078-b0e2-ef74274022c3";
      if (schema.format === "date-time" && !random.once(4)) return "2026-07-28T09:30:00Z";
      return random.pick(ATTACKS);
    case "integer":
    case "number":
      return random.once(4) ? random.pick([-1, 1e9, 0.5]) : random.int(20);
    case "boolean":
      return random.once(2);
    case "array":
      return Array.from({ length: random.int(3) }, () => attacked(schema.items ?? {}, random));
    default: {
      const given = Object.entries(schema.properties ?? {}).filter(() => !random.once(3));
      const members = given.map(([name, one]) => [name, attacked(one, random)]);
      if (random.once(20)) members.push([random.pick(OPERATORS), random.pick(ATTACKS)]);
      return Object.fromEntries(members);
    }
  }
}
