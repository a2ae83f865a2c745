import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { type Listing, SERVER_SCHEMA, serverJson, UnlistableError } from "../../../clients/cli/server-json.js";
import { registryFiles } from "../../../scripts/docs.js";
import { SERVERS } from "../../../services/shared/platforms.js";
import { VERSION } from "../../../services/shared/process/version.js";
import { isInstalled, SERVER_JSON_SCHEMA } from "../../support/foreign.js";
import { titled } from "../../support/titled.js";

const noSchema = isInstalled(SERVER_JSON_SCHEMA) ? undefined : "the schema of the MCP registry";
const SCHEMA = noSchema === undefined ? JSON.parse(readFileSync(SERVER_JSON_SCHEMA, "utf8")) : {};
const validate = new Ajv({ strict: false, allErrors: true, formats: { uri: (text) => URL.canParse(text) } }).compile(
  SCHEMA,
);
const problemsOf = (document: unknown): string[] =>
  validate(document) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);

const BASE = "https://sallyport.example.com";
const CTI: Listing = {
  server: "cti",
  url: `${BASE}/mcp/cti`,
  baseUrl: BASE,
  serviceName: "Sallyport",
  version: VERSION,
  namespace: undefined,
};

describe.each(SERVERS)("%s", (server) => {
  const document = serverJson({ ...CTI, server, url: `${BASE}/mcp/${server}` });

  test.skipIf(noSchema !== undefined)(titled("is what the published schema describes", noSchema), () => {
    expect(problemsOf(document)).toEqual([]);
    expect(document.$schema).toBe(SCHEMA.$id);
  });

  test("says the server's own name, URL and version", () => {
    expect(document).toMatchObject({
      name: `com.example.sallyport/sallyport-${server}`,
      title: `Sallyport ${server.toUpperCase()}`,
      version: VERSION,
      websiteUrl: BASE,
      remotes: [{ type: "streamable-http", url: `${BASE}/mcp/${server}` }],
    });
    expect(document.remotes).toHaveLength(1);
  });

  test("asks for a key only if the client wants to send one, and holds none", () => {
    const [{ headers }] = document.remotes;
    expect(headers).toEqual([
      expect.objectContaining({
        name: "Authorization",
        isRequired: false,
        isSecret: true,
        placeholder: expect.anything(),
      }),
    ]);
    expect(headers[0]).not.toHaveProperty("value");
    expect(JSON.stringify(document)).not.toContain("slp_");
  });
});

test("the descriptions differ, so that a list of entries can be read", () => {
  const said = SERVERS.map((server) => serverJson({ ...CTI, server }).description);
  expect(new Set(said).size).toBe(SERVERS.length);
});

test("an endpoint at a host of its own keeps the deployment's namespace", () => {
  const document = serverJson({ ...CTI, url: "https://cti.example.org/mcp" });
  expect(document.remotes[0].url).toBe("https://cti.example.org/mcp");
  expect(document.name).toBe("com.example.sallyport/sallyport-cti");
});

test.each(["com.example", "io.github.acme-labs", "COM.Example", "com.xn--bcher-kva"])(
  "the namespace %s is taken, and the schema takes it",
  (namespace) => {
    const document = serverJson({ ...CTI, namespace });
    expect(document.name).toBe(`${namespace}/sallyport-cti`);
    expect(problemsOf(document)).toEqual([]);
  },
);

test.each([
  "",
  "example",
  "com/example",
  "com.example/",
  ".com",
  "com.-example",
  "com.exa mple",
  "com..example",
  "x".repeat(200),
])("the namespace %j is refused in a sentence", (namespace) => {
  expect(() => serverJson({ ...CTI, namespace })).toThrow(UnlistableError);
  expect(() => serverJson({ ...CTI, namespace })).toThrow(/give (one such as com\.example|a shorter namespace)$/);
});

test.each([
  ["http://sallyport.example.com/mcp/cti", "not HTTPS"],
  ["https://127.0.0.1:8443/mcp/cti", "a loopback address"],
  ["https://[::1]/mcp/cti", "a loopback address"],
  ["https://[::ffff:10.0.0.1]/mcp/cti", "a private address"],
  ["https://192.168.1.20/mcp/cti", "a private address"],
  ["https://169.254.169.254/mcp", "a link-local address"],
  ["https://localhost/mcp/cti", "only your network knows"],
  ["https://dev.localhost/mcp/cti", "only your network knows"],
  ["https://sallyport/mcp/cti", "only your network knows"],
  ["https://sallyport.corp.internal/mcp/cti", "only your network knows"],
  ["https://sallyport.local/mcp/cti", "only your network knows"],
])("%s cannot be listed: %s", (url, why) => {
  expect(() => serverJson({ ...CTI, url })).toThrow(
    new RegExp(`^the endpoint cti is at .*${why}: set BASE_URL or MCP_CTI_URL to a public HTTPS URL$`),
  );
});

test("a public endpoint of a service that is not public cannot be listed: nobody could sign in", () => {
  const listing = { ...CTI, url: "https://cti.example.com/mcp", baseUrl: "http://127.0.0.1:8080" };
  expect(() => serverJson(listing)).toThrow(/^the service is at .* not HTTPS: set BASE_URL to a public HTTPS URL$/);
});

test("a public address instead of a name needs a namespace", () => {
  const listing = { ...CTI, baseUrl: "https://8.8.8.8", url: "https://8.8.8.8/mcp/cti" };
  expect(() => serverJson(listing)).toThrow("8.8.8.8 is an address and not a name");
  expect(serverJson({ ...listing, namespace: "com.example" }).name).toBe("com.example/sallyport-cti");
});

test("a name of the service that fits no title is refused", () => {
  expect(problemsOf(serverJson({ ...CTI, serviceName: "S".repeat(96) }))).toEqual([]);
  expect(() => serverJson({ ...CTI, serviceName: "S".repeat(97) })).toThrow("set a shorter SERVICE_NAME");
});

test.skipIf(noSchema !== undefined)(titled("what is not of the schema is found", noSchema), () => {
  const document = serverJson(CTI);
  expect(problemsOf({ ...document, description: "d".repeat(101) })).not.toEqual([]);
  expect(problemsOf({ ...document, name: "sallyport-cti" })).not.toEqual([]);
  expect(problemsOf({ ...document, websiteUrl: "sallyport" })).not.toEqual([]);
  expect(problemsOf({ ...document, remotes: [{ type: "streamable-http" }] })).not.toEqual([]);
});

test.skipIf(noSchema !== undefined)(titled("the schema is the one that the entries name", noSchema), () => {
  expect(SCHEMA.$id).toBe(SERVER_SCHEMA);
});

test.each(registryFiles())("$file is what the code makes (npm run docs)", ({ file, text }) => {
  expect(readFileSync(file, "utf8")).toBe(text);
  expect(problemsOf(JSON.parse(text))).toEqual([]);
});
