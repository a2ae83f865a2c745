import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { create, fromJson, toBinary } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { createLocalJWKSet, errors, exportJWK, generateKeyPair, SignJWT } from "jose";
import { ExportTraceServiceRequestSchema } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { bearerOf, isUnexpanded } from "../../../facade/admission/bearer.js";
import { createHosts } from "../../../facade/admission/hosts.js";
import { createReadQuery } from "../../../facade/catalogue/endpoint-query.js";
import { cutExport } from "../../../facade/http/otlp/cut.js";
import { decodeExport } from "../../../facade/http/otlp/decode.js";
import { unpackedWithin } from "../../../facade/http/otlp/unpack.js";
import { checkName, checkParams, decodeHeader } from "../../../facade/mcp/headers.js";
import { RpcError } from "../../../facade/mcp/json-rpc.js";
import { readFrontMatter } from "../../../services/core-objects/front-matter.js";
import { pageOf } from "../../../services/core-objects/knowledge/apart/charset.js";
import { markdownOf } from "../../../services/core-objects/knowledge/apart/html.js";
import { cutOf } from "../../../services/core-objects/knowledge/cut.js";
import {
  answerOf,
  BrokenError,
  readAnswer,
  ToldError,
  UnreadableError,
} from "../../../services/core-objects/runs/apart/chat-answer.js";
import { readStream } from "../../../services/core-objects/runs/apart/chat-stream.js";
import { readAccessToken, verifyAccessToken } from "../../../services/shared/credentials/access-token.js";
import { ASSERTION_TYPE } from "../../../services/shared/credentials/assertions-claims.js";
import { createKeyFormat, DEFAULT_KEY_PREFIX } from "../../../services/shared/credentials/format.js";
import { verifyAssertion } from "../../../services/shared/credentials/verify-assertion.js";
import { MisbehavedError } from "../../../services/shared/isolation/misbehaved.js";
import { boundsOf } from "../../../services/shared/rpc/bounds.js";
import { pageTokenOf, positionOf } from "../../../services/shared/rpc/page-token.js";
import { checkWire } from "../../../services/shared/rpc/wire.js";
import { ArgumentError } from "../../../services/shared/tools/codec/argument-error.js";
import { compileDecode } from "../../../services/shared/tools/codec/decode.js";
import { compileEncode } from "../../../services/shared/tools/codec/encode.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";
import { type ReadSpans, readSpans } from "../../../services/traces/read-spans.js";
import { changedBytes, changedJson, type Random } from "./random.js";
import { type FuzzTarget, wordsOf } from "./target.js";

/** Something that reads what comes from outside, in this process. */
interface Reader {
  readonly name: string;
  /** What it reads well. */
  readonly seeds: readonly Buffer[];
  /** @returns what came of it, where that is a refusal. @throws what `refuses` knows; anything else is a fault. */
  read(input: Buffer, random: Random): unknown;
  readonly refuses: (error: unknown) => boolean;
}

const ISSUER = "https://fuzz.example/";
const BOUNDS = { bytes: 1 << 20, depth: 64, nodes: 20_000 };
/** The seed of spans is of one day, and is to be read on every later one. */
const DAYS = 100 * 365;
const seed = (name: string): Buffer => readFileSync(join(import.meta.dirname, "seeds", name));
const never = (): boolean => false;
const isConnect = (error: unknown): boolean => error instanceof ConnectError;
const textOf = (input: Buffer): string => input.toString("utf8");

/** Readers of headers, credentials, pages, arguments, spans, archives, texts, and answers of models. */
export async function readers(): Promise<readonly Reader[]> {
  const tools = readTools(readImage());
  const codecs = tools.map(({ method }) => ({
    decode: compileDecode(method.input),
    encode: compileEncode(method.input),
  }));
  const format = createKeyFormat(DEFAULT_KEY_PREFIX);
  const { privateKey, publicKey } = await generateKeyPair("EdDSA", { extractable: true });
  const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), kid: "k", alg: "EdDSA" }] });
  const sign = (typ: string, claims: Record<string, unknown>): Promise<string> =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: "EdDSA", typ, kid: "k" })
      .setIssuedAt()
      .setExpirationTime("1h")
      .sign(privateKey);
  const claims = {
    iss: ISSUER,
    sub: "u1",
    aud: `${ISSUER}mcp/cti`,
    jti: "j",
    client_id: "c",
    scope: "cti:read",
    gid: "g",
  };
  const access = await sign("at+jwt", claims);
  /** Signed well, and saying something else. */
  const signed = async (random: Random): Promise<string> => {
    const said = changedJson({ ...claims, seq: 1 }, random);
    const isObject = typeof said === "object" && said !== null && !Array.isArray(said);
    return sign(random.pick(["at+jwt", ASSERTION_TYPE, "JWT"]), isObject ? (said as typeof claims) : {}).catch(
      () => "",
    );
  };
  const readQuery = createReadQuery(tools.filter(({ server }) => server === "cti"));
  const allows = createHosts({ published: [new URL(ISSUER)], address: "127.0.0.1" });
  const declared = [{ header: "Region", path: ["region"] }] as never;
  const spans = fromJson(ExportTraceServiceRequestSchema, JSON.parse(textOf(seed("spans.json"))), {
    ignoreUnknownFields: true,
  });
  const binary = Buffer.from(toBinary(ExportTraceServiceRequestSchema, create(ExportTraceServiceRequestSchema, spans)));
  const scratch = join(tmpdir(), `fuzz-skill-${process.pid}.md`);
  const position = "1:0196f1f0-0000-7000-8000-000000000000";

  return [
    {
      name: "headers",
      seeds: ["=?base64?44GC?=", "search_indicators", "cti.example.com:443", "readonly=1&toolsets=basic&exclude=a"].map(
        (one) => Buffer.from(one),
      ),
      read(input, random) {
        const text = input.toString("latin1");
        if (random.once(4)) return allows(text) ? undefined : "host";
        if (random.once(3)) {
          const query = readQuery(text);
          return "status" in query ? query.message : undefined;
        }
        if (random.once(2)) checkName(text, "search_indicators");
        checkParams(declared, { region: decodeHeader(text) }, { "mcp-param-region": text });
        return undefined;
      },
      refuses: (error) => error instanceof RpcError,
    },
    {
      name: "codec",
      seeds: tools.map(({ listing }) => Buffer.from(JSON.stringify(exampleOf(listing.inputSchema as never)))),
      read(input, random) {
        let args: unknown;
        try {
          args = JSON.parse(textOf(input));
        } catch {
          return "not JSON";
        }
        if (typeof args !== "object" || args === null || Array.isArray(args)) return "not an object";
        const { decode, encode } = random.pick(codecs);
        JSON.parse(encode(decode(args as never)));
        return undefined;
      },
      refuses: (error) => error instanceof ArgumentError || isConnect(error),
    },
    {
      name: "bearer",
      seeds: [`Bearer ${format.mint().token}`, `bearer ${access}`, `Bearer \${TOKEN}`, "Basic YTpi"].map((one) =>
        Buffer.from(one),
      ),
      async read(input, random) {
        const isSigned = random.once(3);
        const token = bearerOf(isSigned ? `Bearer ${await signed(random)}` : input.toString("latin1"));
        if (token === undefined) return "no bearer";
        if (isUnexpanded(token)) return "not expanded";
        if (format.parse(token) !== undefined) return undefined;
        if (readAccessToken(token) === undefined) await verifyAssertion(token, keys, ["auth"]);
        const { iss, aud, sub, gid } = await verifyAccessToken(token, keys, ISSUER);
        // What is accepted is what was signed.
        if (iss !== ISSUER || typeof aud !== "string") throw new Error("a token of another issuer, or for several");
        if (!isSigned && (sub !== claims.sub || gid !== claims.gid)) throw new Error("a token that nobody signed");
        return undefined;
      },
      // Whoever holds the keys looks for newer ones then.
      refuses: (error) => isConnect(error) || error instanceof errors.JWKSNoMatchingKey,
    },
    {
      name: "page tokens",
      seeds: [pageTokenOf(position, "a list"), pageTokenOf("", "a list"), "", "AAAAAAAAAAAA"].map((one) =>
        Buffer.from(one),
      ),
      read(input) {
        const token = textOf(input);
        const found = positionOf(token, "a list");
        if (found !== undefined && pageTokenOf(found, "a list") !== token) throw new Error("a token that nobody gave");
        return undefined;
      },
      refuses: isConnect,
    },
    {
      name: "OTLP",
      seeds: [binary, seed("spans.json")],
      async read(input) {
        const encoding = input[0] === 0x7b ? "json" : "protobuf";
        const limits = { kept: 700, read: 1 << 20 };
        const pieces = (async function* () {
          for (let at = 0; at < input.length; at += 300) yield input.subarray(at, at + 300);
        })();
        const cut = await cutExport(pieces, encoding, () => undefined, limits);
        const [ofCut, ofAll] = [cut.bytes, new Uint8Array(input)].map((bytes) =>
          readSpans(toBinary(ExportTraceServiceRequestSchema, decodeExport(bytes, encoding) as never), DAYS),
        );
        if (encoding === "protobuf") {
          checkWire(ExportTraceServiceRequestSchema, input, boundsOf(ExportTraceServiceRequestSchema));
          const gists = ({ traces }: ReadSpans) => JSON.stringify(traces.map(({ traceId, gist }) => [traceId, gist]));
          if (gists(readSpans(input, DAYS)) !== gists(ofAll!)) throw new Error("spans are read as they did not come");
        }
        return [...ofCut!.rejects.reasons, ...ofAll!.rejects.reasons].join() || undefined;
      },
      refuses: isConnect,
    },
    {
      name: "archives",
      seeds: [gzipSync(binary), gzipSync(Buffer.alloc(3_000_000)), gzipSync("")],
      read: async (input) => ((await unpackedWithin(input, 1 << 20)) === undefined ? "too long" : undefined),
      refuses: isConnect,
    },
    {
      name: "SKILL.md",
      seeds: [seed("skill.md")],
      read(input) {
        writeFileSync(scratch, input);
        const file = readFrontMatter(scratch);
        file.text("name");
        file.text("metadata", "labels");
        return undefined;
      },
      // It names file and line.
      refuses: (error) => (error as Error).message.startsWith(`${scratch}:`),
    },
    {
      name: "Markdown",
      seeds: [seed("notes.md"), seed("page.html")],
      read(input) {
        const markdown = markdownOf(pageOf(input));
        for (const [text, type] of [
          [textOf(input), "markdown"],
          [markdown, "html"],
          [textOf(input), "text"],
        ] as const)
          for (const { text: said } of cutOf({ text, type }).passages)
            if (said.length > 4_000) throw new Error(`a passage of ${said.length} characters`);
        return undefined;
      },
      refuses: never,
    },
    {
      name: "answers of models",
      seeds: [seed("answer.json"), seed("answer-stream.txt"), Buffer.from('{"error":{"message":"no","code":"rate"}}')],
      async read(input) {
        const asked = { characters: 100, calls: 8 };
        const answer = input.includes("data:")
          ? answerOf(await readStream(new Blob([input]).stream() as never, () => undefined), asked)
          : readAnswer(textOf(input), BOUNDS, asked);
        if (answer.calls.length > asked.calls) throw new Error(`${answer.calls.length} calls`);
        JSON.stringify(answer);
        return undefined;
      },
      refuses: (error) =>
        [UnreadableError, BrokenError, ToldError, MisbehavedError].some((kind) => error instanceof kind),
    },
  ];
}

/** A target of one of them. */
export function fuzzReader({ name, seeds, read, refuses }: Reader): FuzzTarget {
  const refusals = new Set<string>();
  return {
    name,
    refusals,
    async one(random) {
      const input = changedSeed(random.pick(seeds), random);
      try {
        const refusal = await read(input, random);
        if (typeof refusal === "string") refusals.add(wordsOf(refusal));
        return undefined;
      } catch (error) {
        if (!refuses(error)) return `${(error as Error).stack} to ${input.toString("base64").slice(0, 2_000)}`;
        refusals.add(wordsOf(reasonOf(error as Error)));
        return undefined;
      }
    },
    close: async () => undefined,
  };
}

/** The words of a refusal; of a credential, which is told no reason, those that the service keeps to itself. */
function reasonOf(error: Error): string {
  if (!(error instanceof ConnectError)) return error.message;
  return error.cause instanceof errors.JOSEError ? error.cause.message : error.rawMessage;
}

/** The same input with its values or its bytes changed. */
function changedSeed(input: Buffer, random: Random): Buffer {
  if (random.once(20)) return input;
  if (input[0] === 0x7b && !random.once(4)) {
    const changed = JSON.stringify(changedJson(JSON.parse(input.toString()), random)) ?? "";
    return random.once(6) ? changedBytes(Buffer.from(changed), random) : Buffer.from(changed);
  }
  return changedBytes(input, random);
}

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Something that fits a schema, with every member. */
function exampleOf({ type, enum: words, items = {}, properties = {} }: Schema): unknown {
  if (words !== undefined) return words[0];
  switch (type) {
    case "string":
      return "text";
    case "integer":
    case "number":
      return 7;
    case "boolean":
      return true;
    case "array":
      return [exampleOf(items)];
    default:
      return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, exampleOf(one)]));
  }
}
