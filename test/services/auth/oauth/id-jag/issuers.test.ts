import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createIssuers, type Issuer } from "../../../../../services/auth/oauth/id-jag/issuers.js";
import { type EnterpriseIdp, startEnterpriseIdp } from "../../../../support/oauth/enterprise-idp.js";

let idp: EnterpriseIdp;
let issuer: Issuer;
beforeEach(async () => {
  idp = await startEnterpriseIdp();
  const setting = { url: idp.issuer, algorithms: ["RS256"] };
  issuer = createIssuers([setting], ((url: string, options: object) => fetch(url, options)) as never).get(
    idp.issuer,
  ) as Issuer;
  // The library reads the clock of the process.
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(async () => {
  vi.useRealTimers();
  await idp.close();
});

const keyOf = (kid: string) => issuer.keys({ alg: "RS256", kid }, { payload: "", signature: "" });

test("a provider's new key is known half a minute after the last look, and the old one as long as it is published", async () => {
  const old = idp.keys.current.kid;
  await keyOf(old);
  await idp.keys.rotate();
  const { kid } = idp.keys.current;
  await expect(keyOf(kid)).rejects.toThrow(/no applicable key/);
  vi.advanceTimersByTime(31_000);
  await expect(keyOf(kid)).resolves.toBeDefined();
  await expect(keyOf(old)).resolves.toBeDefined();
  expect(idp.keysFetched()).toBe(2);
});

test("a key that the provider no longer publishes is not good for more than ten minutes", async () => {
  const old = idp.keys.current.kid;
  await keyOf(old);
  await idp.keys.rotate({ forget: true });
  vi.advanceTimersByTime(10 * 60_000 + 1_000);
  await expect(keyOf(old)).rejects.toThrow(/no applicable key/);
});
