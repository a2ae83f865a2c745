import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, expect, test } from "vitest";
import { EntityListService } from "#proto/cti/v1/entity_list_service_pb.js";
import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { ProbeResponseSchema, SnapshotService } from "#proto/platform/v1/snapshot_service_pb.js";
import { capabilitiesOf } from "../../../../../services/platform-proxy/platforms/cti/adapter.js";
import { type GraphqlError, refusalOf } from "../../../../../services/platform-proxy/platforms/cti/errors.js";
import { startCti, startCtiAt } from "../../../../support/platforms/cti.js";
import type { Harness } from "../../../../support/platforms/harness.js";

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const error = (
  code: string,
  data: object = {},
  message = "secret 735c1a2e-920c-4f2c-8b90-33f626663a09",
): GraphqlError => ({
  message,
  extensions: { code, data: { user_markings: ["735c1a2e"], existingIds: ["735c1a2e"], ...data } as object },
});

test.each<[GraphqlError, Code, RegExp]>([
  [error("AUTH_REQUIRED"), Code.PermissionDenied, /does not sign ada@example\.com in/],
  [error("FORBIDDEN_ACCESS"), Code.PermissionDenied, /lacks the right/],
  [error("OTP_REQUIRED"), Code.PermissionDenied, /one-time password/],
  [error("OTP_REQUIRED_ACTIVATION"), Code.PermissionDenied, /set up one-time/],
  [error("PASSWORD_CHANGE_REQUIRED"), Code.PermissionDenied, /change its password/],
  [error("LTS_REQUIRED_ACTIVATION"), Code.FailedPrecondition, /licence/],
  [
    error("MISSING_REFERENCE_ERROR", { unresolvedIds: ["735c1a2e"] }),
    Code.NotFound,
    /does not exist or is not visible/,
  ],
  [error("MISSING_REFERENCE_ERROR", { reason: "missing markings" }), Code.PermissionDenied, /not cleared/],
  [
    error("FUNCTIONAL_ERROR", { doc_code: "INSUFFICIENT_CONFIDENCE_LEVEL", element_id: "735c1a2e" }),
    Code.PermissionDenied,
    /confidence/,
  ],
  [error("FUNCTIONAL_ERROR", { doc_code: "INCORRECT_OBSERVABLE_FORMAT" }), Code.InvalidArgument, /^value:/],
  [error("FUNCTIONAL_ERROR", { doc_code: "INCORRECT_INDICATOR_FORMAT" }), Code.InvalidArgument, /^pattern:/],
  [
    error("FUNCTIONAL_ERROR", {}, "Cannot edit the field, X cannot be found."),
    Code.NotFound,
    /does not exist or is not visible/,
  ],
  [
    error("FUNCTIONAL_ERROR", {}, "User trying to create the data has missing markings"),
    Code.PermissionDenied,
    /not cleared/,
  ],
  [error("FUNCTIONAL_ERROR", {}, "This update will produce a duplicate"), Code.FailedPrecondition, /name/],
  [
    error("FUNCTIONAL_ERROR", {}, "The relationship type uses is not allowed between Malware and City"),
    Code.InvalidArgument,
    /uses is not allowed from Malware to City/,
  ],
  [error("FUNCTIONAL_ERROR"), Code.FailedPrecondition, /refused the change/],
  [error("VALIDATION_ERROR", { field: "x_opencti_score" }), Code.InvalidArgument, /^x_opencti_score:/],
  [error("VALIDATION_ERROR", { field: "references" }), Code.FailedPrecondition, /external_reference_ids/],
  [error("ALREADY_DELETED_ERROR"), Code.NotFound, /deleted/],
  [error("UNSUPPORTED_ERROR", { doc_code: "RESTRICTED_ELEMENT" }), Code.PermissionDenied, /does not let you create/],
  [error("UNSUPPORTED_ERROR"), Code.InvalidArgument, /does not support/],
  [error("LOCK_ERROR"), Code.Aborted, /try again/],
  [error("INTERNAL_SERVER_ERROR", {}, "Unexpected error value: { code: LOCK_ERROR }"), Code.Aborted, /try again/],
  [error("INTERNAL_SERVER_ERROR"), Code.Unavailable, /failed/],
  [error("DATABASE_ERROR"), Code.Unavailable, /failed/],
  [error("DRAFT_LOCKED"), Code.FailedPrecondition, /draft/],
  [error("BAD_USER_INPUT"), Code.InvalidArgument, /format/],
  [error("GRAPHQL_VALIDATION_FAILED"), Code.Unimplemented, /version/],
  [error("NEVER_HEARD_OF"), Code.Unavailable, /failed/],
])("%j is told in words of ours", (given, code, words) => {
  const refusal = refusalOf([given], "ada@example.com");
  expect(refusal.code).toBe(code);
  expect(refusal.rawMessage).toMatch(words);
  expect(`${refusal.rawMessage} ${String(refusal.cause)}`).not.toContain("735c1a2e");
});

test("a capability implies those above it, and an administrator's all", () => {
  expect(capabilitiesOf({ capabilities: [{ name: "KNOWLEDGE_KNUPDATE_KNDELETE" }] })).toEqual([
    "KNOWLEDGE",
    "KNOWLEDGE_KNUPDATE",
    "KNOWLEDGE_KNUPDATE_KNDELETE",
  ]);
  expect(capabilitiesOf({ capabilities: [{ name: "KNOWLEDGE" }, { name: "BYPASS" }] })).toEqual(["*"]);
});

async function platformThat(answers: RequestListener): Promise<Harness> {
  const server: Server = createServer(answers);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const harness = await startCtiAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  closing.push(async () => {
    await harness.close();
    server.closeAllConnections();
    server.close();
  });
  return harness;
}

test.each<[number, string, Code]>([
  [403, "<h1>Forbidden</h1>", Code.PermissionDenied],
  [429, "slow down", Code.ResourceExhausted],
  [200, "<html>a proxy's page</html>", Code.Unavailable],
  [500, '{"status":"error"}', Code.Unavailable],
  [200, '{"data":null}', Code.Unavailable],
])("status %i with %s is not taken for the platform's answer", async (status, body, code) => {
  const harness = await platformThat((_, response) => response.writeHead(status).end(body));
  const failure = await harness.call(EntityService.method.getEntity, { objectId: "x" }).catch((e: unknown) => e);
  expect(ConnectError.from(failure).code).toBe(code);
});

test.each([
  [500, undefined],
  [501, "more rows than the call asked for"],
])("a page of 20 with %i rows is answered, or refused", async (count, said) => {
  const harness = await platformThat((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      const user_email = "analyst@sallyport.example";
      const me = { id: "1", name: "a", user_email, capabilities: [], allowed_marking: [], draftContext: null };
      const node = (n: number) => ({ id: `${n}`, entity_type: "Malware", representative: { main: `m${n}` } });
      const edges = Array.from({ length: count }, (_, n) => ({ node: node(n) }));
      const stixDomainObjects = { edges, pageInfo: { endCursor: "a", hasNextPage: false, globalCount: count } };
      response.end(JSON.stringify({ data: text.includes("me {") ? { me } : { stixDomainObjects } }));
    });
  });
  const answer = await harness.call(EntityListService.method.listMalware, {}).catch((e: unknown) => e);
  if (said === undefined) expect(answer).toMatchObject({ malware: { length: count } });
  else expect(answer).toMatchObject({ code: Code.Unavailable, rawMessage: expect.stringContaining(said) });
});

test("a mutation asks for errors in place of dropped references, and sends no cookie back", async () => {
  const seen: { path: string | undefined; headers: NodeJS.Dict<string | string[]> }[] = [];
  const harness = await platformThat((request, response) => {
    seen.push({ path: request.url, headers: request.headers });
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      const me = {
        id: "1",
        name: "a",
        user_email: "analyst@sallyport.example",
        capabilities: [],
        allowed_marking: [],
        draftContext: null,
      };
      const target = {
        id: "2",
        entity_type: "Malware",
        parent_types: ["Stix-Domain-Object"],
        representative: { main: "m" },
      };
      const data = text.includes("mutation")
        ? { stixCoreObjectEdit: { delete: "2" } }
        : text.includes("me {")
          ? { me }
          : { stixCoreObject: seen.length > 3 ? null : target };
      response
        .writeHead(200, { "content-type": "application/json", "set-cookie": "session=stolen" })
        .end(JSON.stringify({ data }));
    });
  });
  await harness.call(EntityService.method.deleteEntity, { objectId: "2" });
  expect(seen.map(({ path }) => path)).toEqual(Array(4).fill("/graphql"));
  for (const { headers } of seen) {
    expect(headers["opencti-draft-id"]).toBe("");
    expect(headers.cookie).toBeUndefined();
    expect(headers.authorization).toMatch(/^Bearer ey/);
  }
  expect(seen.map(({ headers }) => headers["opencti-retry-number"])).toEqual([undefined, undefined, "1", undefined]);
});

test("the snapshot holds version and rights, and a probe acts as nobody", async () => {
  const harness = await startCti();
  closing.push(() => harness.close());
  const snapshot = await harness.call(SnapshotService.method.getSnapshot, { server: "cti" }, "reader");
  expect(snapshot).toMatchObject({ capabilities: ["KNOWLEDGE"], edition: "" });
  expect(snapshot.version).toMatch(/^7\./);
  const probe = await harness.call(SnapshotService.method.probe, { server: "cti" });
  expect(probe).toMatchObject({ $typeName: ProbeResponseSchema.typeName, reachable: true, reason: "" });
  expect(harness.sandbox.audit.at(-1)).toMatchObject({ user: undefined, fields: ["about"] });
});
