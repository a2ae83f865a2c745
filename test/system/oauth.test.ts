import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SERVERS } from "../../services/shared/platforms.js";
import { ClientState, claimsOf, nativeClient } from "../support/oauth/client-state.js";
import { connect, SDKS } from "../support/oauth/connect.js";
import { personAt, settleIn } from "../support/oauth/person.js";
import { CERTIFICATE_FILE, proxyTo, serveTls, type TlsServer, trustingFetch } from "../support/oauth/tls.js";
import { freePorts, type Program, startProgram } from "../support/program.js";

// Applications connect as they do at people's: both official client SDKs, in
// both eras, on all endpoints, wherever the service is mounted.

const CALLBACK = "http://127.0.0.1:41999/callback";

const toolOf = (server: string) => (server === "core" ? "list_agents" : "whoami");

const LAYOUTS = ["the root", "a path", "a proxy that ends TLS"] as const;

describe.each(LAYOUTS)("behind %s", (layout) => {
  let proxy: TlsServer | undefined;
  let program: Program;
  let base: string;
  let documents: TlsServer;
  let ask: typeof fetch;

  beforeAll(async () => {
    documents = await serveTls((request, response) => {
      const client_id = `https://localhost:${documents.port}${request.url}`;
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify({ ...nativeClient(CALLBACK, { client_name: "Documented client" }), client_id }));
    });
    const [port = 0] = await freePorts(1);
    if (layout === "a proxy that ends TLS") proxy = await serveTls(proxyTo(port));
    base = `http://127.0.0.1:${port}`;
    if (layout === "a path") base += "/x";
    if (proxy !== undefined) base = `https://localhost:${proxy.port}/sally`;
    const env = {
      PORT: String(port),
      BASE_URL: base,
      TRUSTED_PROXIES: proxy === undefined ? "0" : "1",
      NODE_EXTRA_CA_CERTS: CERTIFICATE_FILE,
    };
    program = await startProgram({ env });
    await settleIn(
      { baseUrl: `http://127.0.0.1:${port}${new URL(base).pathname.replace(/\/$/, "")}` },
      program.bootstrap.analyst,
    );
    ask = proxy === undefined ? fetch : trustingFetch;
  });
  afterAll(async () => {
    await program?.stop();
    await proxy?.close();
    await documents?.close();
  });

  const person = () => personAt(program.bootstrap.analyst, ask);

  test.each(SDKS)("%s connects to all servers, by registration and by client document, and refreshes", async (sdk) => {
    for (const [at, server] of SERVERS.entries()) {
      const url = `${base}/mcp/${server}`;
      const document = at % 2 === 1 ? `https://localhost:${documents.port}/${server}.json` : undefined;
      const state = new ClientState(CALLBACK, nativeClient(CALLBACK), document);
      const client = await connect(sdk, url, state, person(), ask);
      expect(await client.call(toolOf(server))).not.toHaveProperty("isError", true);
      const { access_token: token, refresh_token: refresh, scope } = state.kept as NonNullable<typeof state.kept>;
      expect(claimsOf(token)).toMatchObject({ iss: base, aud: url, scope: `${server}:read ${server}:write` });
      expect(scope).toBe(`${server}:read ${server}:write`);
      expect(state.info?.client_id).toEqual(document ?? expect.any(String));

      // Good here, and at no other endpoint.
      for (const other of SERVERS) {
        const reply = await ask(`${base}/mcp/${other}`, {
          method: "POST",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
        });
        expect(reply.status, other).toBe(other === server ? 200 : 401);
        await reply.text();
      }

      // The client notices that its token is over, and gets itself another.
      state.kept = { ...(state.kept as NonNullable<typeof state.kept>), access_token: `${token.slice(0, -4)}AAAA` };
      expect(await client.call(toolOf(server))).not.toHaveProperty("isError", true);
      expect(state.kept.refresh_token).not.toBe(refresh);
      expect(claimsOf(state.kept.access_token)).toMatchObject({ aud: url, gid: claimsOf(token).gid });
      await client.close();
    }
  });

  test("the metadata is where clients look for it, and names addresses that exist", async () => {
    const { origin, pathname } = new URL(base);
    const path = pathname === "/" ? "" : pathname;
    const places = [
      `${origin}/.well-known/oauth-authorization-server${path}`,
      `${origin}/.well-known/openid-configuration${path}`,
      `${base}/.well-known/openid-configuration`,
    ];
    for (const place of places) {
      const reply = await ask(place, {
        headers: { "x-forwarded-host": "evil.test", "x-forwarded-proto": "https", forwarded: "host=evil.test" },
      });
      const document = (await reply.json()) as Record<string, unknown>;
      expect(reply.status, place).toBe(200);
      expect(document).toMatchObject({
        issuer: base,
        code_challenge_methods_supported: ["S256"],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
        token_endpoint_auth_methods_supported: expect.arrayContaining(["none"]),
      });
      expect(JSON.stringify(document)).not.toContain("evil.test");
      const endpoints = Object.entries(document).filter(([name]) => /_(?:endpoint|uri)$/.test(name));
      expect(endpoints.map(([name]) => name).sort()).toEqual([
        "authorization_endpoint",
        "jwks_uri",
        "registration_endpoint",
        "revocation_endpoint",
        "token_endpoint",
      ]);
      for (const [name, url] of endpoints) {
        const method = name === "authorization_endpoint" || name === "jwks_uri" ? "GET" : "POST";
        expect((await ask(url as string, { method })).status, name).not.toBe(404);
      }
    }
    expect((await ask(`${origin}/.well-known/oauth-authorization-server/elsewhere`)).status).toBe(404);
  });
});
