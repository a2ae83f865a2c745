import { create, type DescField, type DescMethodUnary, getOption, type Message, ScalarType } from "@bufbuild/protobuf";
import { type FieldRules, field as fieldRules } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { ConnectError } from "@connectrpc/connect";
import { type Context, createContext } from "../../../services/platform-proxy/context.js";
import {
  createHttpClient,
  type Exchange,
  type HttpClient,
  type HttpReply,
  type HttpRequest,
  replyOf,
} from "../../../services/platform-proxy/lib/http.js";
import { loadPlatform } from "../../../services/platform-proxy/parts.js";
import { PlatformSlots } from "../../../services/platform-proxy/platform-slots.js";
import { toolMethods } from "../../../services/platform-proxy/tool-methods.js";
import { startSandbox as startAev } from "../../../services/sandbox/aev/server.js";
import { startSandbox as startCti } from "../../../services/sandbox/cti/server.js";
import { startSandbox as startGrc } from "../../../services/sandbox/grc/server.js";
import type { PlatformServer } from "../../../services/shared/platforms.js";
import type { Call, Caller } from "../../../services/shared/rpc/call.js";
import type { Method } from "../../../services/shared/rpc/method.js";
import type { Peers } from "../../../services/shared/rpc/peers.js";
import { checkRules } from "../../../services/shared/rpc/steps/rules.js";
import { compileEncode, type Encode } from "../../../services/shared/tools/codec/encode.js";
import { explain } from "../../../services/shared/tools/explain.js";
import { LOOPBACK } from "../../support/outgoing.js";
import { emailOf } from "../../support/platforms/harness.js";
import { startIssuer } from "../../support/platforms/issuer.js";
import { type LyingServer, startLying } from "./lying-server.js";
import { changedBytes, changedJson, type Random } from "./random.js";
import { type FuzzTarget, wordsOf } from "./target.js";

/** What the tools asked of a platform and heard. */
interface Recording {
  readonly url: string;
  readonly said: Map<string, Said>;
  /** Those of what it has, which the tools are called with. */
  readonly ids: readonly string[];
  readonly close?: undefined;
}

/** One of each platform, for every target: to make it takes longer than to tell all the lies. */
const recordings = new Map<PlatformServer, Recording>();

/** What a platform said once, to be told otherwise. */
export interface Said {
  readonly status: number;
  readonly text: string;
}

interface Sample {
  readonly method: Method;
  readonly request: Message;
  readonly encode: Encode;
  readonly caller: Caller;
  readonly server: PlatformServer;
}

/** Who calls: an account of each sandbox that may do much. */
const PEOPLE = { cti: "analyst", aev: "planner", grc: "analyst" } as const;
const START = { cti: startCti, aev: startAev, grc: startGrc } as const;
const PAGES = [
  "",
  "<html><body>502 Bad Gateway</body></html>",
  "null",
  "[]",
  "{}",
  "\x1f\x8b\x08\0\0",
  '{"data":',
  '""',
];
const STATUSES = [
  200, 201, 204, 301, 400, 401, 403, 404, 405, 409, 413, 418, 422, 429, 451, 500, 501, 502, 503, 504, 599,
];

/**
 * The tools of the three platforms in front of platforms that lie: each answer
 * of the sandboxes, recorded once, comes back changed. Most lies are told to
 * the bindings in this process, one in a hundred over a socket.
 */
export async function fuzzPlatformAnswers(): Promise<FuzzTarget> {
  const { worlds, close } = await startWorlds();
  const refusals = new Set<string>();
  return {
    name: "platform answers",
    refusals,
    async one(random) {
      const { world, context, samples } = random.pick(worlds);
      const { method, request, encode, caller, server } = random.pick(samples);
      if (random.once(4)) context.identities.forget(caller.id);
      world.lieBy(random);
      try {
        const result = await resultOf(method.handle(request as never, callOf(caller)));
        JSON.parse(encode(create(method.desc.output, result as never)));
        return undefined;
      } catch (error) {
        if (error instanceof ConnectError && explain(error) !== undefined) {
          refusals.add(`${error.code} ${wordsOf(error.rawMessage)}`);
          return undefined;
        }
        const { cause } = error as Error;
        const why = cause instanceof Error ? `, because of ${cause.stack}` : "";
        return `${server} ${method.desc.name}: ${(error as Error).stack}${why}`;
      }
    },
    close,
  };
}

/** The three platforms as they were recorded, each before something that can be made to lie. */
export async function startWorlds() {
  const issuer = await startIssuer();
  const lying = await startLying();
  const worlds = await Promise.all(
    (["cti", "aev", "grc"] as const).map(async (server) => {
      const before = recordings.get(server);
      const sandbox = before ?? (await START[server]({ host: "127.0.0.1", port: 0, trust: issuer.url }));
      const world = new LyingWorld(sandbox.url, lying, before?.said);
      const context = await contextOf(server, sandbox.url, world, issuer);
      const { samples, ids } = await record(server, context, world, before?.ids);
      recordings.set(server, { url: sandbox.url, said: world.said, ids });
      await sandbox.close?.();
      return { world, context, samples };
    }),
  );

  const close = async (): Promise<void> => {
    await Promise.all([...worlds.map(({ world }) => world.close()), lying.close(), issuer.close()]);
  };
  return { worlds, close };
}

/** The http client of the proxy, before a platform that can be made to lie. */
class LyingWorld implements HttpClient {
  private readonly real = createHttpClient("fuzz/1.0", LOOPBACK);
  private random: Random | undefined;
  /** Hears what the platform is sent. */
  sent: (request: HttpRequest) => void = () => undefined;

  constructor(
    private readonly url: string,
    private readonly lying: LyingServer,
    readonly said = new Map<string, Said>(),
  ) {}

  /** From now on every answer is a lie by chance. */
  lieBy(random: Random): void {
    this.random = random;
  }

  /** Everything that the platform has said. */
  get texts(): string {
    return [...this.said.values()].map(({ text }) => text).join("\n");
  }

  async send(exchange: Exchange, request: HttpRequest): Promise<HttpReply> {
    const { random } = this;
    this.sent(request);
    const key = JSON.stringify([request.verb, request.path, request.query, request.body]);
    if (random === undefined) {
      const reply = await this.real.send({ ...exchange, target: { ...exchange.target, url: this.url } }, request);
      this.said.set(key, { status: reply.status, text: reply.text });
      return reply;
    }
    const said = this.said.get(key) ?? random.pick([...this.said.values()]);
    const lie = random.once(3) ? said : lieOf(said, random);
    if (random.once(100)) {
      const url = this.lying.tell(lie, random);
      return this.real.send({ ...exchange, target: { ...exchange.target, url } }, request);
    }
    return replyOf(exchange, request, lie.status, {}, Buffer.from(lie.text));
  }

  close(): Promise<void> {
    return this.real.close();
  }
}

function lieOf(said: Said, random: Random): Said {
  const status = random.once(8) ? random.pick(STATUSES) : said.status;
  switch (random.int(8)) {
    case 0:
      return { status, text: random.pick(PAGES) };
    case 1:
      return { status, text: changedBytes(Buffer.from(said.text), random).toString() };
    default:
      try {
        return { status, text: JSON.stringify(changedJson(JSON.parse(said.text), random)) ?? "" };
      } catch {
        return { status, text: said.text };
      }
  }
}

async function contextOf(
  server: PlatformServer,
  url: string,
  http: HttpClient,
  issuer: Awaited<ReturnType<typeof startIssuer>>,
): Promise<Context> {
  const email = emailOf(PEOPLE[server as keyof typeof PEOPLE]);
  const token = await issuer.sign({ aud: url, sub: "u1", email });
  const peers = {
    call: async () => ({ token }),
    callAsService: async () => ({ registered: true, url, publicUrl: url, auth: "bearer", clientId: "" }),
  } as unknown as Peers;
  const slots = new PlatformSlots({ perPlatform: 1_000, perKey: 1_000 });
  return createContext({ platforms: [await loadPlatform(server)], http, peers, slots });
}

/** Calls every tool with what it needs, so that the platform's answers are known; not again where they are. */
async function record(server: PlatformServer, context: Context, world: LyingWorld, before?: readonly string[]) {
  const email = emailOf(PEOPLE[server as keyof typeof PEOPLE]);
  const caller = { id: "u1", email, name: email, keyId: "k1", admin: false, groups: [], scopes: new Set<string>() };
  const samples: Sample[] = [];
  let known: readonly string[] = [NIL];
  for (const ids of [false, true]) {
    if (ids) known = before ?? [...new Set(world.texts.match(/[0-9a-f]{8}-[0-9a-f-]{27}/g) ?? [NIL])];
    for (const method of toolMethods(context)) {
      for (let n = 0; n < (ids ? 4 : 1); n++) {
        const request = requestOf(method.desc as DescMethodUnary, known[(n * 7) % known.length] as string);
        if (!isValid(method, request)) continue;
        const one = { method, request, server, caller: { ...caller, service: false } };
        samples.push({ ...one, encode: compileEncode(method.desc.output) });
        if (before === undefined)
          await resultOf(method.handle(request as never, callOf(one.caller))).catch(() => undefined);
      }
    }
  }
  return { samples, ids: known };
}

const NIL = "00000000-0000-4000-8000-000000000000";

function isValid({ desc }: Method, request: Message): boolean {
  try {
    checkRules(desc, request);
    return true;
  } catch {
    return false;
  }
}

/** The last message, where there are several. */
export async function resultOf(answer: unknown): Promise<unknown> {
  if (typeof (answer as AsyncIterable<unknown>)[Symbol.asyncIterator] !== "function") return answer;
  let last: unknown = {};
  for await (const one of answer as AsyncIterable<unknown>) last = one;
  return last;
}

export function callOf(caller: Caller): Call {
  return { caller, assertion: "", credential: {}, signal: NEVER, deadline: Date.now() + 20_000 };
}
const NEVER = new AbortController().signal;

/** A request with every field that must be there. */
function requestOf({ input }: DescMethodUnary, id: string): Message {
  const init: Record<string, unknown> = {};
  for (const field of input.fields) {
    const rules = getOption(field, fieldRules);
    const listed = rules.type.case === "repeated" && rules.type.value.minItems > 0n;
    if (!rules.required && !listed && !["name", "description", "query"].includes(field.name)) continue;
    if (field.fieldKind === "list") init[field.localName] = [sampleOf(field, undefined, id)];
    else if (field.oneof === undefined) init[field.localName] = sampleOf(field, rules, id);
  }
  return create(input, init as never);
}

function sampleOf(field: DescField, rules: FieldRules | undefined, id: string): unknown {
  if (field.enum !== undefined) return field.enum.values[1]?.number ?? 0;
  if (field.message !== undefined) return {};
  if (field.scalar !== ScalarType.STRING) return field.scalar === ScalarType.BOOL ? true : 1;
  const isId =
    /_ids?$/.test(field.name) || (rules?.type.case === "string" && rules.type.value.wellKnown.case === "uuid");
  return isId ? id : "a name";
}
