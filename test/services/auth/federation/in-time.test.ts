import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createFederation } from "../../../../services/auth/federation/federation.js";
import { silentLog } from "../../../../services/shared/process/log.js";
import { LOOPBACK } from "../../../support/outgoing.js";
import { SEAL } from "../stack.js";
import { Browser } from "./browser.js";
import { type FakeProvider, startFakeProvider } from "./fake-provider.js";
import { type Front, openFront, settingOf } from "./front.js";

// What is kept, and until when: by a clock that the test moves.

const SECRET = "a-secret-of-the-client-0123456789";
let provider: FakeProvider;
let front: Front;
beforeEach(async () => {
  provider = await startFakeProvider(SECRET);
  provider.conduct.person = { sub: "ana", email: "ana@corp.example", email_verified: true };
  front = await openFront(async () => [settingOf({ issuer: provider.issuer })]);
  await front.addUser({ login: "ana@corp.example" });
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
});
afterEach(async () => {
  vi.useRealTimers();
  await front.close();
  await provider.close();
});

const later = (seconds: number): unknown => vi.setSystemTime(Date.now() + seconds * 1_000);

async function signIn(): Promise<Front["ended"][number]> {
  await new Browser().open(front.startOf("corp"));
  return front.ended.at(-1) as Front["ended"][number];
}

test("a sign-in is over after ten minutes", async () => {
  for (const [seconds, ended] of [
    [599, { user: { login: "ana@corp.example" } }],
    [601, { reason: "expired" }],
  ] as const) {
    const browser = new Browser();
    const { url } = await browser.open(front.startOf("corp"), ({ pathname }) => pathname.endsWith("/callback"));
    later(seconds);
    expect(await front.federation.finish(`${url.pathname}${url.search}`, browser.cookiesFor(url))).toMatchObject(ended);
  }
});

test("a new key of the provider is fetched, at most once a minute", async () => {
  expect(await signIn()).toHaveProperty("user");
  await provider.rotate();
  expect(await signIn()).toMatchObject({ reason: "not_verified" });
  expect(await signIn()).toMatchObject({ reason: "not_verified" });
  expect(provider.asked["/jwks"]).toBe(1);
  later(61);
  expect(await signIn()).toHaveProperty("user");
  expect(provider.asked["/jwks"]).toBe(2);
  later(301);
  expect(await signIn()).toHaveProperty("user");
  expect(provider.asked["/jwks"]).toBe(3);
});

test("over https no other host of the domain can set the cookie, and no page reads it", async () => {
  const { context } = front;
  const providers = [settingOf({ issuer: provider.issuer })];
  const baseUrl = "https://sallyport.example";
  const secure = createFederation({ context, providers, baseUrl, seal: SEAL, outgoing: LOOPBACK, log: silentLog });
  const begun = await secure.begin("corp", { returnTo: "/oauth/interaction/a" });
  await secure.close();
  if (!("url" in begun)) throw new Error(begun.problem);
  expect(begun.setCookie).toMatch(
    /^__Host-sallyport-federation=v2\.[\w.-]{100,1500}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
  const asks = new URL(begun.url).searchParams;
  expect(Object.fromEntries(asks)).toEqual({
    ...{ client_id: "sallyport", response_type: "code", scope: "openid email" },
    redirect_uri: "https://sallyport.example/oauth/federation/corp/callback",
    ...{ state: expect.stringMatching(/^[\w-]{43}$/), nonce: expect.stringMatching(/^[\w-]{43}$/) },
    ...{ code_challenge: expect.stringMatching(/^[\w-]{43}$/), code_challenge_method: "S256" },
  });
  // Nothing of it can be read from the cookie.
  for (const name of ["state", "nonce"]) expect(begun.setCookie).not.toContain(asks.get(name));
});

test("the longest path to return to fits into a cookie", async () => {
  const returnTo = `/team/oauth/${"a".repeat(980)}`;
  const begun = await front.federation.begin("corp", { returnTo });
  expect(begun.setCookie.length).toBeLessThan(3_000);
  expect(begun).toHaveProperty("url");
});
