import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { type ClientHttp2Session, connect, constants } from "node:http2";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pLimit from "p-limit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EDGE_NAMES } from "../../facade/config.js";
import { loadEdge, whyNotLoaded } from "../../facade/http/edges.js";
import { createPages } from "../../facade/http/pages.js";
import { type Address, jsonPage, type Route } from "../../facade/http/route.js";
import { options } from "../../services/launcher/config.js";
import { type Running, start } from "../../services/launcher/start.js";
import { readConfig } from "../../services/shared/process/config.js";
import { silentLog } from "../../services/shared/process/log.js";
import { UNCOUNTED } from "../facade/support/start.js";
import { titled } from "../support/titled.js";

// Everything that is answered at any port, from the tables that requests are
// routed by, is asked for without a key, with every method and every type of
// body: each is refused, or stands here with the reason why it is not. A new
// route without a check of keys fails here before anybody finds it.

/** What strangers are answered, by method and path, and why. */
const PUBLIC: Readonly<Record<string, string>> = {
  "GET /healthz": "probes of the platform that runs the process have no key",
  "HEAD /healthz": "as GET",
  "GET /readyz": "probes likewise; it says no more than whether it can serve",
  "HEAD /readyz": "as GET",
  "GET /.well-known/*": "metadata of protected resources is read before a client has a key (RFC 9728)",
  "OPTIONS /.well-known/*": "pages of browsers read it, and ask before (CORS)",
  ...Object.fromEntries(
    ["/oauth/*", "/.well-known/oauth-authorization-server*", "/.well-known/openid-configuration*"].flatMap((path) =>
      ["GET", "POST", "OPTIONS"].map((method) => [
        `${method} ${path}`,
        "the authorization server: whoever signs in has no key yet; its own checks are in oauth-attacks.test.ts",
      ]),
    ),
  ),
  "GET /": "leads to the console",
  "GET /console": "leads to the console",
  "GET /console/": "the page of the console, which says nothing before somebody signs in",
  "GET /console/*": "the same page, at each of its addresses",
  "GET /console/assets/*": "the files of that page",
  "GET /console/config.json": "the addresses that clients call, and the service's name",
  ...Object.fromEntries(
    ["/console/session", "/console/session/*"].flatMap((path) =>
      ["GET", "OPTIONS"].map((method) => [
        `${method} ${path}`,
        "whoever signs in at the console has no key; what is refused there is in console-session.test.ts",
      ]),
    ),
  ),
  "GET /xtm/auth/jwks": "platforms check the service's signatures with its public keys",
  "GET /xtm/auth/metadata": "platforms read who the issuer is",
  "GET /xtm/.well-known/openid-configuration": "platforms find the public keys by it",
  "OPTIONS /mcp/cti": "a browser's preflight carries no key (CORS); it says which headers may be sent",
  "OPTIONS /mcp/aev": "likewise",
  "OPTIONS /mcp/grc": "likewise",
  "OPTIONS /mcp/core": "likewise",
};
/** Rpcs that strangers are answered, on both ports where both have them, and why. */
const PUBLIC_RPCS: Readonly<Record<string, string>> = {
  "/auth.v1.CredentialService/GetAssertionKeys":
    "services check assertions with auth's public keys before they have any other",
  "/auth.v1.CredentialService/GetAccessTokenKeys": "the same keys are published as jwks_uri (RFC 8414)",
  "/auth.v1.ServiceAccountService/ExchangeClientAssertion":
    "an internal system has no credential yet: its assertion is what it shows, and forgeries are counted by address",
  "/auth.v1.PlatformTokenService/GetPlatformIssuer": "what platforms read of the façade without a key",
  "/grpc.health.v1.Health/Check": "probes have no key",
  "/grpc.health.v1.Health/Watch": "probes likewise",
};

const METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"];
const TYPES = [
  ...["application/json", "application/proto", "application/connect+json", "application/connect+proto"],
  ...["application/grpc-web", "application/grpc-web+json", "application/grpc-web+proto"],
];
const UNAUTHENTICATED = "16";
const NOT_SPOKEN = "12";
const FORBIDDEN = "7";
/** How streams in JSON say the same. */
const IN_JSON = [
  ["unauthenticated", `grpc ${UNAUTHENTICATED}`],
  ["unimplemented", `grpc ${NOT_SPOKEN}`],
  ["permission_denied", `grpc ${FORBIDDEN}`],
] as const;

/** Types of bodies that pages take, besides. */
const MORE_TYPES = ["application/x-protobuf", "application/x-www-form-urlencoded", "text/plain"];
/** What a prefix is asked for one by one: the rpcs behind it. */
const PREFIX_OF_RPCS = "/rpc/*";
const AT_ONCE = 16;
/** So many requests come from one address: more are made to wait. */
const A_CONNECTION = 16;

let strangers = 0;
/** Who asks for much is made to wait, address by address; Linux answers on the whole of 127.0.0.0/8. */
const localAddress = (): string =>
  process.platform === "linux" ? `127.0.${strangers++ % 200}.${2 + (strangers % 250)}` : "127.0.0.1";

/** What was answered: a status, or what stands for it where a protocol has its own. */
function askedWithout(asked: Asked, agent: Agent): Promise<string> {
  const { url, method, type } = asked;
  return new Promise((resolve, reject) => {
    const hasBody = !["GET", "HEAD", "OPTIONS"].includes(method);
    const body = hasBody && type?.endsWith("json") ? "{}" : "";
    // Said also where Node does not say it, for DELETE: the next request is not taken for the body.
    const length = hasBody && { "content-length": body.length };
    const headers = { ...(type !== undefined && { "content-type": type }), ...length };
    const sent = request(url, { method, headers, agent });
    sent.on("error", (error) => {
      // A refused body may end its connection, and the next request may be on its way already.
      if (sent.reusedSocket) askedWithout(asked, agent).then(resolve, reject);
      else reject(error);
    });
    sent.on("response", (answer) => {
      let text = "";
      answer.on("data", (piece: Buffer) => {
        text += piece;
      });
      answer.on("error", reject);
      answer.on("end", () => {
        const said = { ...answer.headers, ...answer.trailers };
        const status = said["grpc-status"] ?? /grpc-status:\s*(\d+)/.exec(text)?.[1];
        if (answer.statusCode !== 200 || type === undefined) resolve(String(answer.statusCode));
        else if (status !== undefined) resolve(`grpc ${String(status)}`);
        else resolve(IN_JSON.find(([code]) => text.includes(`"code":"${code}"`))?.[1] ?? "200");
      });
    });
    sent.end(body);
  });
}

/** A request, and where the tables have it. */
interface Asked {
  readonly name: string;
  readonly url: string;
  readonly method: string;
  readonly type?: string;
}

/** Sends all, a few on each connection, and gives the answers by the names of what was asked. */
async function answersTo(all: readonly Asked[]): Promise<Map<string, Set<string>>> {
  const answers = new Map<string, Set<string>>();
  const limit = pLimit(AT_ONCE);
  const some = async (few: readonly Asked[]): Promise<void> => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress: localAddress() });
    for (const asked of few) {
      const answer = await askedWithout(asked, agent);
      answers.set(asked.name, (answers.get(asked.name) ?? new Set()).add(answer));
    }
    agent.destroy();
  };
  const connections = Array.from({ length: Math.ceil(all.length / A_CONNECTION) }, (_, n) =>
    all.slice(n * A_CONNECTION, (n + 1) * A_CONNECTION),
  );
  await Promise.all(connections.map((few) => limit(() => some(few))));
  return answers;
}

/** The statuses of calls over gRPC; a connection of a stranger makes a few. */
async function overGrpc(url: string, paths: readonly string[]): Promise<Map<string, string>> {
  const statuses = new Map<string, string>();
  for (let at = 0; at < paths.length; at += A_CONNECTION) {
    const { hostname: host, port } = new URL(url);
    const socket = connectTcp({ host, port: Number(port), localAddress: localAddress() });
    const session = connect(url, { createConnection: () => socket });
    const some = paths.slice(at, at + A_CONNECTION);
    for (const path of some) statuses.set(path, await statusOf(session, path));
    session.close();
  }
  return statuses;
}

function statusOf(session: ClientHttp2Session, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc+proto", te: "trailers" };
    const call = session.request(headers);
    let status = "none";
    const hear = (heard: object): void => {
      status = (heard as Record<string, string>)["grpc-status"] ?? status;
    };
    call.on("response", hear).on("trailers", hear).on("error", reject).resume();
    // A stream that is answered goes on.
    call.once("data", () => call.close(constants.NGHTTP2_CANCEL));
    call.on("close", () => resolve(`grpc ${status}`));
    call.end(Buffer.alloc(5));
  });
}

/** There is nothing, or not in this form. */
const NOT_THERE = ["404", "405", "415", "501", `grpc ${NOT_SPOKEN}`];
/** What is for services alone is forbidden to everybody at /rpc, before a key is looked at. */
const REFUSED = ["401", `grpc ${UNAUTHENTICATED}`, "403", `grpc ${FORBIDDEN}`];

const isOpen = (said: ReadonlySet<string>): boolean =>
  [...said].some((one) => ![...NOT_THERE, ...REFUSED].includes(one));
/** What is there is refused for want of a key in one form at least, and not as if nothing were there. */
const isRefused = (said: ReadonlySet<string>): boolean => !isOpen(said) && REFUSED.some((one) => said.has(one));

/** The pages of a table that are answered without a key, by method and path. */
async function openPages(baseUrl: string, table: readonly Address[]): Promise<string[]> {
  const there = new Set(table.flatMap(({ path, methods }) => methods.map((method) => `${method} ${path}`)));
  const paths = [...new Set(table.map(({ path }) => path))].filter((path) => path !== PREFIX_OF_RPCS);
  const asked = paths.flatMap((path) =>
    METHODS.flatMap((method) => {
      const to = { name: `${method} ${path}`, url: baseUrl + path.replace("*", "worst"), method };
      return [to, ...[...TYPES, ...MORE_TYPES].map((type) => ({ ...to, type }))];
    }),
  );
  const answers = await answersTo(asked);
  return [...answers]
    .filter(([name, said]) => (there.has(name) ? !isRefused(said) : isOpen(said)))
    .map(([name]) => name);
}

for (const edge of EDGE_NAMES) {
  const missing = await loadEdge(edge).then(
    () => undefined,
    (error: Error) => whyNotLoaded(error),
  );
  describe.skipIf(missing)(titled(`on ${edge}`, missing), () => {
    let running: Running;
    const dataDir = mkdtempSync(join(tmpdir(), "sallyport-"));
    beforeAll(async () => {
      const env = { PORT: "0", GRPC_PORT: "0", DATA_DIR: dataDir, EDGE: edge };
      running = await start(readConfig(options, [], env), silentLog);
    });
    afterAll(async () => {
      await running?.stop(0);
      rmSync(dataDir, { recursive: true, force: true });
    });

    /** The gRPC port is the same behind both edges. */
    const ports = (): readonly string[] =>
      edge === EDGE_NAMES[0] ? [`${running.baseUrl}/rpc`, running.grpcUrl] : [`${running.baseUrl}/rpc`];

    test("no page of the façade is answered without a key, but those named here", async () => {
      const { http } = running.routes;
      expect(http.length).toBeGreaterThan(10);
      const open = await openPages(running.baseUrl, http);
      // Both ways: what is named and no longer answered is taken from the list.
      expect(open.sort()).toEqual(Object.keys(PUBLIC).sort());
    });

    test("a route that asks for no key is found, whatever it answers", async () => {
      const planted: Route[] = [
        { path: "/planted", methods: ["GET"], handle: () => jsonPage(200, {}) },
        { path: "/planted/*", methods: ["DELETE"], handle: () => jsonPage(202, {}) },
        { path: "/planted-fault", methods: ["POST"], handle: () => jsonPage(500, {}) },
        { path: "/guarded", methods: ["GET"], handle: () => jsonPage(401, {}) },
      ];
      const listen = await loadEdge(edge);
      const pages = createPages(planted, silentLog, UNCOUNTED);
      const other = await listen({ host: "127.0.0.1", port: 0, exclusive: true }, pages.serve);
      const open = await openPages(`http://127.0.0.1:${other.port}`, planted);
      other.close();
      expect(open.sort()).toEqual(["DELETE /planted/*", "GET /planted", "POST /planted-fault"]);
    });

    test("no rpc is answered without a key at either port, in any protocol, but those named here", async () => {
      const { rpc } = running.routes;
      expect(rpc.length).toBeGreaterThan(300);
      const asked = rpc.flatMap((path) =>
        ports().flatMap((port) => TYPES.map((type) => ({ name: path, url: port + path, method: "POST", type }))),
      );
      const answers = await answersTo(asked);
      for (const [path, answer] of await overGrpc(running.grpcUrl, rpc)) answers.get(path)!.add(answer);
      const open = [...answers].filter(([, said]) => !isRefused(said));
      expect(open.map(([path]) => path).sort()).toEqual(Object.keys(PUBLIC_RPCS).sort());
    });

    test("no rpc is answered without a key with another method than POST", async () => {
      const asked = running.routes.rpc.flatMap((path) =>
        METHODS.filter((method) => method !== "POST").flatMap((method) =>
          ports().map((port) => ({
            name: path,
            url: `${port}${path}?encoding=json&message=%7B%7D&connect=v1`,
            method,
          })),
        ),
      );
      const open = [...(await answersTo(asked))].filter(([path, said]) => isOpen(said) && !(path in PUBLIC_RPCS));
      expect(open).toEqual([]);
    });
  });
}
