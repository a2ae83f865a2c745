import { Code } from "@connectrpc/connect";
import { expect, test } from "vitest";
import type { Adapter, Session } from "../../../services/platform-proxy/adapter.js";
import { createIdentities } from "../../../services/platform-proxy/identity.js";

const sessionOf = (id: string, email: string) =>
  ({ caller: { id, email }, target: { url: "http://platform" } }) as unknown as Session;

/** A platform that says who it thinks is calling, and counts how often it was asked. */
function platform(emailOf: (session: Session) => string) {
  const asked: string[] = [];
  const adapter: Adapter = {
    server: "cti",
    async whoAmI(session) {
      asked.push(session.caller.id);
      return { email: emailOf(session), me: { email: emailOf(session) } };
    },
    snapshot: async () => ({ version: "1", edition: "", capabilities: ["READ"] }),
    probe: async () => undefined,
  };
  return { adapter, asked };
}

test("the platform is asked once for all calls of a caller", async () => {
  const { adapter, asked } = platform((session) => session.caller.email);
  const identities = createIdentities();
  const ana = sessionOf("u1", "ana@example.org");
  await Promise.all([identities.me(adapter, ana), identities.me(adapter, ana), identities.snapshot(adapter, ana)]);
  await identities.me(adapter, sessionOf("u2", "bob@example.org"));
  expect(asked).toEqual(["u1", "u2"]);
});

test("an address that differs only in case is the same account", async () => {
  const { adapter } = platform(() => "Ana@Example.org");
  await expect(createIdentities().me(adapter, sessionOf("u1", "ana@example.org"))).resolves.toBeDefined();
});

test("a platform that folds accents takes the caller for somebody else, and the call is refused", async () => {
  const { adapter, asked } = platform(() => "analyst@example.org");
  const identities = createIdentities();
  const impostor = sessionOf("u1", "ánalyst@example.org");
  await expect(identities.me(adapter, impostor)).rejects.toMatchObject({ code: Code.PermissionDenied });
  await expect(identities.me(adapter, impostor)).rejects.toMatchObject({ code: Code.PermissionDenied });
  expect(asked).toHaveLength(2);
});

test("an account that cannot be read is the platform's fault, and is asked about again", async () => {
  let name: unknown = { toString: null };
  const { adapter, asked } = platform((session) => session.caller.email);
  const { whoAmI } = adapter;
  adapter.whoAmI = async (session) => ({ ...(await whoAmI(session)), name: [name].join() });
  const identities = createIdentities();
  const ana = sessionOf("u1", "ana@example.org");
  const refused = {
    code: Code.Unavailable,
    message: expect.stringContaining("the cti platform answered with something"),
  };
  await expect(identities.me(adapter, ana)).rejects.toMatchObject(refused);
  name = "Ana";
  await expect(identities.me(adapter, ana)).resolves.toBeDefined();
  expect(asked).toEqual(["u1", "u1"]);
});

test("of platforms that changed everybody is asked about anew", async () => {
  const { adapter, asked } = platform((session) => session.caller.email);
  const identities = createIdentities();
  await identities.snapshot(adapter, sessionOf("u1", "ana@example.org"));
  await identities.snapshot(adapter, sessionOf("u2", "bob@example.org"));
  identities.clear();
  await identities.snapshot(adapter, sessionOf("u1", "ana@example.org"));
  expect(asked).toEqual(["u1", "u2", "u1"]);
});

test("a forgotten caller is asked about anew", async () => {
  const { adapter, asked } = platform((session) => session.caller.email);
  const identities = createIdentities();
  const ana = sessionOf("u1", "ana@example.org");
  await identities.me(adapter, ana);
  identities.forget("u1");
  await identities.me(adapter, ana);
  expect(asked).toEqual(["u1", "u1"]);
});
