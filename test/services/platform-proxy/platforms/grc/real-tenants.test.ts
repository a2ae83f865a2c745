import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { FrameworkService } from "#proto/grc/v1/framework_service_pb.js";
import { GrcType, TenantService } from "#proto/grc/v1/tenant_service_pb.js";
import { answer, EXCHANGE } from "./answering.js";
import { ALPHA, ALPHA_EU, CSF, MFA, realCaller, SCREENSHOT } from "./real-caller.js";

// The tools read what the real platform answered, word for word; the built-in
// platform, which might share a mistake with them, has no part in it.

const { answers, answersWith, asked, call, leave, queries, sent } = realCaller();

describe("signing in", () => {
  test("presents a fresh token once, acts by the session given, and ends it", async () => {
    await call(TenantService.method.listTenants, {});
    expect(sent("POST", EXCHANGE)).toEqual([
      {
        provider: "openid_connect",
        process: "login",
        token: { client_id: "http://client", id_token: "fresh token" },
      },
    ]);
    await leave();
    expect(
      asked().map(({ method, path, headers }) => ({ at: `${method} ${path}`, authorization: headers.authorization })),
    ).toEqual([
      { at: `POST ${EXCHANGE}`, authorization: undefined },
      { at: "GET /api/iam/current-user/", authorization: "Token <token>" },
      { at: "GET /api/folders/", authorization: "Token <token>" },
      { at: "POST /api/iam/logout/", authorization: "Token <token>" },
    ]);
  });

  test.each([
    [335, Code.FailedPrecondition, "did not accept the sign-in"],
    [336, Code.PermissionDenied, "no account with your e-mail address"],
  ])("that is refused as in exchange %d is said in words", async (line, code, message) => {
    answers(line);
    const refused = { code, rawMessage: expect.stringContaining(message) };
    await expect(call(TenantService.method.listTenants, {})).rejects.toMatchObject(refused);
  });
});

describe("tenants", () => {
  test("are the domains under the root, each with those inside it", async () => {
    const { tenants, totalSize } = await call(TenantService.method.listTenants, {});
    expect(totalSize).toBe(1);
    expect(tenants).toMatchObject([
      { ...ALPHA, description: "First tenant", domains: [{ id: ALPHA_EU, name: "Alpha EU" }] },
    ]);
    expect(queries("/api/folders/")[0]?.get("content_type")).toBe("DO");
  });

  test("are searched: hits of controls and evidence, held against the tenant", async () => {
    answers(32, 59, 188);
    const { hits, truncated } = await call(TenantService.method.searchAll, { query: "mfa" });
    expect(truncated).toBe(false);
    expect(hits).toMatchObject([
      {
        type: GrcType.CONTROL,
        id: MFA,
        name: "Alpha MFA for administrators",
        refId: "C-a-1",
        domain: { name: "Alpha Corp" },
        score: 90,
      },
      {
        type: GrcType.EVIDENCE,
        id: SCREENSHOT,
        name: "Alpha MFA screenshot",
        domain: { name: "Alpha Corp" },
        score: 90,
      },
    ]);
    expect(hits[1]?.refId).toBeUndefined();
  });

  test("keep a hit of a type whose list does not know the filter by id", async () => {
    answers(32, 188);
    answersWith({ ...answer(59), text: JSON.stringify(answer(59).answer) });
    answers(104);
    const { hits } = await call(TenantService.method.searchAll, { query: "mfa" });
    expect(hits.map(({ id }) => id)).toEqual([MFA, SCREENSHOT]);
  });
});

describe("frameworks", () => {
  test("are listed and read with their scales, named or not", async () => {
    answers(37, 42, 43);
    const { frameworks } = await call(FrameworkService.method.listFrameworks, { provider: "NIST" });
    expect(frameworks).toMatchObject([
      { id: CSF, refId: "NIST-CSF-2.0", provider: "NIST", minScore: 1, maxScore: 4, inUse: true },
      { refId: "ISO/IEC 27001:2022", minScore: 0, maxScore: 100, inUse: false },
    ]);
    const named = await call(FrameworkService.method.getFramework, { frameworkId: CSF });
    expect(named.framework?.levels.map(({ score, name }) => [score, name])).toEqual([
      [1, "Partial"],
      [2, "Risk informed"],
      [3, "Repeatable"],
      [4, "Adaptive"],
    ]);
    const plain = await call(FrameworkService.method.getFramework, { frameworkId: frameworks[1]!.id });
    expect(plain.framework?.levels).toEqual([]);
  });

  test("are outlined with their requirements' texts, parents first", async () => {
    answers(42, 46);
    const all = await call(FrameworkService.method.getFrameworkTree, { frameworkId: CSF });
    expect(all.requirements[0]).toMatchObject({ refId: "GV", name: "GOVERN", depth: 0, assessable: false });
    const { requirements } = await call(FrameworkService.method.getFrameworkTree, {
      frameworkId: CSF,
      underRefId: "gv.oc",
    });
    expect(requirements.slice(0, 2)).toMatchObject([
      { refId: "GV.OC", name: "Organizational Context", depth: 1, parent: { id: all.requirements[0]?.id } },
      { refId: "GV.OC-01", depth: 2, assessable: true, parent: { id: requirements[0]?.id } },
    ]);
    expect(requirements[1]?.name).toBeUndefined();
    expect(requirements[1]?.description).toContain("The organizational mission is understood");
  });
});
