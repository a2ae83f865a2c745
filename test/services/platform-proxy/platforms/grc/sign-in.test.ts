import { Code } from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "vitest";
import { TenantService } from "#proto/grc/v1/tenant_service_pb.js";
import { SnapshotService } from "#proto/platform/v1/snapshot_service_pb.js";
import { type GrcHarness, startGrc } from "../../../../support/platforms/grc.js";
import { startHostile } from "../../../../support/platforms/hostile.js";

const { listTenants } = TenantService.method;
const EXCHANGE = "/api/_allauth/app/v1/auth/provider/token";
const LOGOUT = "POST /api/iam/logout/";

let harness: GrcHarness;
afterEach(() => harness.close());

const exchanges = () => harness.sandbox.audit.filter(({ path }) => path === EXCHANGE).length;
const logouts = (as: string) => harness.done(as).filter((line) => line === LOGOUT).length;

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("by exchange", () => {
  test("twenty calls at once exchange one token", async () => {
    harness = await startGrc("exchange");
    const replies = await Promise.all(Array.from({ length: 20 }, () => harness.call(listTenants, {})));
    expect(replies.map(({ tenants }) => tenants[0]?.name)).toEqual(Array(20).fill("Northwind Energy"));
    expect(exchanges()).toBe(1);
  });

  test("each user has a session of the user's own", async () => {
    harness = await startGrc("exchange");
    const [officer, manager] = await Promise.all(["officer", "manager"].map((as) => harness.call(listTenants, {}, as)));
    expect(officer!.tenants.map(({ name }) => name)).toEqual(["Northwind Energy"]);
    expect(manager!.tenants.map(({ name }) => name)).toEqual(["Baltic Trust Bank"]);
    expect(exchanges()).toBe(2);
  });

  test("a session that the platform ended is exchanged anew, once", async () => {
    harness = await startGrc("exchange");
    await harness.call(listTenants, {});
    harness.sandbox.endSessions();
    const { hits } = await harness.call(TenantService.method.searchAll, { query: "backup" });
    expect(hits.length).toBeGreaterThan(0);
    expect(exchanges()).toBe(2);
  });

  test("forgetting a user ends the session at the platform", async () => {
    harness = await startGrc("exchange");
    await harness.call(listTenants, {});
    await harness.call(SnapshotService.method.forgetCaller, { userId: "user-officer" });
    expect(logouts("officer")).toBe(1);
    await harness.call(listTenants, {});
    expect(exchanges()).toBe(2);
  });

  test("revoking a key ends the session of its user", async () => {
    harness = await startGrc("exchange");
    await harness.call(listTenants, {});
    await harness.emit("key", "key-officer");
    await until(() => logouts("officer") === 1);
  });

  test("closing the service ends every session", async () => {
    harness = await startGrc("exchange");
    await harness.call(listTenants, {});
    await harness.call(listTenants, {}, "manager");
    await harness.close();
    expect([logouts("officer"), logouts("manager")]).toEqual([1, 1]);
  });

  test("a session that is not used is ended", async () => {
    // Longer than a call takes on a machine that is busy.
    harness = await startGrc("exchange", { idleMs: 1_000 });
    await harness.call(listTenants, {});
    await until(() => logouts("officer") === 1);
  });

  test("a caller who goes away does not take the exchange from the others", async () => {
    harness = await startGrc("exchange");
    const gone = new AbortController();
    const first = harness.call(listTenants, {}, "officer", gone.signal);
    const others = Array.from({ length: 5 }, () => harness.call(TenantService.method.searchAll, { query: "vault" }));
    gone.abort();
    await expect(first).rejects.toMatchObject({ code: Code.Canceled });
    const replies = await Promise.all(others);
    expect(replies.every(({ hits }) => hits.length > 0)).toBe(true);
  });

  test("no account and an account that is not active are told apart from a wrong set-up", async () => {
    harness = await startGrc("exchange");
    await expect(harness.call(listTenants, {}, "nobody")).rejects.toMatchObject({
      code: Code.PermissionDenied,
      rawMessage: expect.stringContaining("no account with your e-mail address"),
    });
    await expect(harness.call(listTenants, {}, "leaver")).rejects.toMatchObject({
      code: Code.PermissionDenied,
      rawMessage: expect.stringContaining("not active"),
    });
  });

  test("the platform's user is the caller, in the platform's audit too", async () => {
    harness = await startGrc("exchange");
    await harness.call(listTenants, {}, "reader");
    const entry = harness.sandbox.audit.find(({ path }) => path.startsWith("/api/folders/"));
    expect(entry).toMatchObject({
      email: "reader@sallyport.example",
      userAgent: "sallyport-test/1.0 (mcp; tool=ListTenants)",
    });
  });
});

describe("by bearer token", () => {
  test("every request carries the caller's token and nothing is exchanged", async () => {
    harness = await startGrc("bearer");
    const { tenants } = await harness.call(listTenants, {}, "manager");
    expect(tenants.map(({ name }) => name)).toEqual(["Baltic Trust Bank"]);
    expect(exchanges()).toBe(0);
  });

  test("a token that the platform no longer takes is replaced once, and the request is sent again", async () => {
    const hostile = await startHostile();
    harness = await startGrc("bearer", {}, (url) => {
      hostile.towards = url;
      return hostile.url;
    });
    await harness.call(listTenants, {});
    const tokens: string[] = [];
    const seen = ({ path, authorization }: { readonly path: string; readonly authorization: string }) => {
      if (path.startsWith("/api/search/")) tokens.push(authorization);
      return path.startsWith("/api/search/");
    };
    const refuse = (times: number) =>
      hostile.arm(seen, (response, n) => {
        if (n > times) return false;
        return response.writeHead(401, { "content-type": "application/json" }).end('{"detail":"Invalid token."}');
      });
    refuse(1);
    const { hits } = await harness.call(TenantService.method.searchAll, { query: "backup" });
    expect(hits.length).toBeGreaterThan(0);
    expect(new Set(tokens).size).toBe(2);
    refuse(2);
    const refused = harness.call(TenantService.method.searchAll, { query: "backup" });
    await expect(refused).rejects.toMatchObject({ code: Code.FailedPrecondition });
    expect(tokens).toHaveLength(4);
    await hostile.close();
  });

  test("no account is refused in words for the caller", async () => {
    harness = await startGrc("bearer");
    await expect(harness.call(listTenants, {}, "nobody")).rejects.toMatchObject({
      code: Code.PermissionDenied,
      rawMessage: expect.stringContaining("no active account with your e-mail address"),
    });
  });
});

describe("what the platform can do", () => {
  test("the capabilities are the union over the caller's tenants", async () => {
    harness = await startGrc("exchange");
    const of = async (as: string) =>
      (await harness.call(SnapshotService.method.getSnapshot, { server: "grc" }, as)).capabilities;
    expect(await of("analyst")).toContain("change_appliedcontrol");
    expect(await of("analyst")).not.toContain("delete_appliedcontrol");
    expect(await of("officer")).toContain("delete_appliedcontrol");
    expect(await of("outsider")).toEqual([]);
    expect(await of("admin")).toEqual(["*"]);
  });

  test("the probe acts as nobody", async () => {
    harness = await startGrc("exchange");
    const probe = () => harness.call(SnapshotService.method.probe, { server: "grc" });
    expect(await probe()).toMatchObject({ reachable: true, reason: "" });
    expect(harness.sandbox.audit.map(({ email, path }) => ({ email, path }))).toEqual([
      { email: "", path: "/api/health/" },
    ]);
    await harness.sandbox.close();
    expect(await probe()).toMatchObject({ reachable: false, reason: expect.stringContaining("cannot be reached") });
  });
});
