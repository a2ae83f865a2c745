import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { createTargets } from "../../../services/platform-proxy/targets.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import { createPeers } from "../../../services/shared/rpc/peers.js";
import { as, neighbours, openStore, registration, startCatalogue } from "./rig.js";

// Every way to register a platform again: its address stays, and no call goes elsewhere.

const setting = SettingService.method;
const VICTIM = { platformId: "5d1a-victim", platformUrl: "https://aev.example.com/base" };
const NO_ID = { platformUrl: VICTIM.platformUrl };
const EVIL = "https://evil.example.org";

let opened: Awaited<ReturnType<typeof openStore>>;
let dispatch: Dispatch;

beforeEach(async () => {
  opened = await openStore();
  dispatch = await startCatalogue(opened.store, neighbours(), {});
});
afterEach(() => opened.end());

const register = (token: string, fields: object) => registration(dispatch)(token, fields);
const newToken = (server = "aev", more: object = {}) =>
  dispatch.unary(setting.createRegistrationToken, { name: "one", server, ...more }, as("admin"));
const target = () => dispatch.unary(setting.getPlatformTarget, { server: "aev" }, as("service"));
const platforms = async () => {
  const listed = await dispatch.unary(setting.listPlatforms, {}, as("admin"));
  return listed.platforms.filter(({ server, id }) => server === "aev" && id !== "");
};
const forget = (id: string) => dispatch.unary(setting.forgetPlatform, { id }, as("admin"));
const revoke = (id: string) => dispatch.unary(setting.revokeRegistrationToken, { id }, as("admin"));
const move = (id: string, fromUrl: string, toUrl: string) =>
  dispatch.unary(setting.movePlatform, { id, fromUrl, toUrl }, as("admin"));

/** How the same id can be written. */
const IDS = ["5d1a-victim", "5D1A-Victim", " 5d1a-victim ", "5d1a\u200b-victim", "\uff15d1a-victim", ""];
/** How the same address can be written. */
const ADDRESSES = [
  "https://aev.example.com/base",
  "https://aev.example.com/base/",
  "HTTPS://AEV.example.com/base",
  "https://aev.example.com:443/base",
  "https://aev.example.com./base",
  "https://aev.example.com/x/../base",
  "https://%61ev.example.com/base",
];
/** How the victim got where it is. */
const VICTIMS: Readonly<Record<string, object>> = { "with an id": VICTIM, "without an id": NO_ID };
/** What happened to the victim's token since. */
const SINCE: Readonly<Record<string, (tokenId: string) => Promise<unknown>>> = {
  "its token lives": async () => {},
  "its token was revoked": revoke,
};

describe.each(Object.keys(VICTIMS))("a platform %s", (which) => {
  describe.each(Object.keys(SINCE))("when %s", (since) => {
    test("is registered again by no other token, whatever that one says", async () => {
      const own = await newToken();
      await register(own.token, VICTIMS[which] as object);
      await SINCE[since]?.(own.id);
      const before = await platforms();
      const attempts = [
        ...IDS.map((platformId) => ({ platformId, platformUrl: EVIL })),
        ...ADDRESSES.map((platformUrl) => ({ platformId: "another", platformUrl })),
        ...ADDRESSES.map((platformUrl) => ({ platformId: "", platformUrl })),
        ...ADDRESSES.map((platformUrl) => ({ platformId: IDS[1], platformUrl })),
      ];
      for (const attempt of attempts) {
        await register((await newToken()).token, attempt).catch(() => undefined);
        expect(await target(), JSON.stringify(attempt)).toMatchObject({ url: VICTIM.platformUrl });
      }
      const held = (await platforms()).find(({ id }) => id === before[0]?.id);
      expect(held).toMatchObject({ url: VICTIM.platformUrl, publicUrl: VICTIM.platformUrl, serves: true });
      // What was another platform, by its id and its address, is registered behind it and serves nobody.
      const others = (await platforms()).filter(({ id }) => id !== held?.id);
      for (const one of others) expect(one).toMatchObject({ publicUrl: EVIL, serves: false });
    });
  });
});

test.each([
  ["the same id at another address", { ...VICTIM, platformUrl: EVIL }],
  ["no id at its address", NO_ID],
  ["another id at its address", { ...VICTIM, platformId: "another" }],
  ["exactly the same", VICTIM],
])("another token that says %s is refused, and stays unused", async (_what, attempt) => {
  await register((await newToken()).token, VICTIM);
  const other = await newToken();
  await expect(register(other.token, attempt)).rejects.toThrow(/registered with another token/);
  await register(other.token, { platformId: "third", platformUrl: "https://third.example.com" });
  expect((await platforms()).map(({ url }) => url)).toEqual([VICTIM.platformUrl, "https://third.example.com"]);
});

test("a token of another type, and one that is another platform's, move nothing", async () => {
  await register((await newToken()).token, VICTIM);
  const ofCti = await newToken("cti");
  await expect(register(ofCti.token, { ...VICTIM, platformUrl: EVIL })).rejects.toThrow(/is for a cti platform/);
  await register(ofCti.token, { ...VICTIM, platformIdentifier: "opencti", platformUrl: EVIL });
  const used = await newToken();
  await register(used.token, { platformId: "two", platformUrl: "https://two.example.com" });
  await expect(register(used.token, { ...VICTIM, platformUrl: EVIL })).rejects.toThrow(
    /another aev platform already uses/,
  );
  // One without an id takes none that is another platform's.
  const plain = await newToken();
  await register(plain.token, { platformUrl: "https://plain.example.com" });
  const claim = { platformId: VICTIM.platformId, platformUrl: "https://plain.example.com" };
  await expect(register(plain.token, claim)).rejects.toThrow(/registered with another token/);
  // Nor does a platform move to where another one is.
  await expect(register(used.token, { platformId: "two", platformUrl: ADDRESSES[3] })).rejects.toThrow(/another token/);
  expect(await target()).toMatchObject({ url: VICTIM.platformUrl });
});

test("the configured token, presented again, is its platform's alone", async () => {
  await register("configured-token", VICTIM);
  await register("configured-token", VICTIM);
  for (const attempt of [{ platformId: "two", platformUrl: EVIL }, { platformUrl: EVIL }])
    await expect(register("configured-token", attempt)).rejects.toThrow(/another aev platform already uses/);
  const [listed] = (await dispatch.unary(setting.listRegistrationTokens, {}, as("admin"))).tokens;
  await expect(revoke(listed?.id as string)).rejects.toThrow(/REGISTRATION_TOKEN/);
  expect(await target()).toMatchObject({ url: VICTIM.platformUrl });
});

test("after it was forgotten, a platform comes back with its own token, and no other token takes its id or address", async () => {
  const own = await newToken();
  await register(own.token, VICTIM);
  const other = await newToken();
  await forget((await platforms())[0]?.id as string);
  for (const attempt of [{ ...VICTIM, platformUrl: EVIL }, NO_ID, { platformId: "x", platformUrl: ADDRESSES[4] }])
    await expect(register(other.token, attempt)).rejects.toThrow(/registered with another token/);
  expect((await target()).registered).toBe(false);
  await register(own.token, VICTIM);
  expect(await target()).toMatchObject({ url: VICTIM.platformUrl });
  // Once its token is revoked too, nothing is left of it.
  await forget((await platforms())[0]?.id as string);
  await revoke(own.id);
  await register(other.token, VICTIM);
  expect(await platforms()).toHaveLength(1);
});

test("of two tokens that register one platform at once, one has it, or none", async () => {
  for (let round = 0; round < 15; round++) {
    const tokens = [await newToken(), await newToken()];
    const platformId = `race-${round}`;
    const claims = [
      { platformId, platformUrl: `https://one-${round}.example.com` },
      round % 2 === 0
        ? { platformId, platformUrl: `https://two-${round}.example.com` }
        : { platformId: `${platformId}-b`, platformUrl: `https://one-${round}.example.com` },
    ];
    const done = await Promise.allSettled(claims.map((claim, n) => register(tokens[n]?.token as string, claim)));
    const won = claims.filter((_, n) => done[n]?.status === "fulfilled");
    expect(won.length).toBeLessThanOrEqual(1);
    const mine = (await platforms()).filter(({ url }) => url.endsWith(`-${round}.example.com`));
    expect(mine.map(({ url }) => url)).toEqual(won.map(({ platformUrl }) => platformUrl));
  }
});

test("its own token moves it; an old and a new address at once leave one of the two", async () => {
  const { token } = await newToken();
  await register(token, VICTIM);
  await register(token, { ...VICTIM, platformUrl: "https://moved.example.com" });
  expect(await target()).toMatchObject({ url: "https://moved.example.com" });
  const places = ["https://a.example.com", "https://b.example.com"];
  await Promise.allSettled(places.map((platformUrl) => register(token, { ...VICTIM, platformUrl })));
  expect(places).toContain((await target()).url);
  expect(await platforms()).toHaveLength(1);
});

test("an administrator who says both addresses moves it, and its heartbeats leave it there", async () => {
  const { token } = await newToken();
  await register(token, VICTIM);
  const [{ id = "" } = {}] = await platforms();
  await expect(move(id, EVIL, "https://new.example.com")).rejects.toThrow(/is https:\/\/aev\.example\.com/);
  await expect(move(id, VICTIM.platformUrl, "http://172.16.0.1")).rejects.toThrow(/172\.16\.0\.1:80 to OUTGOING_ALLOW/);
  const moved = await move(id, ADDRESSES[3] as string, "https://new.example.com");
  expect(moved).toMatchObject({ previousUrl: VICTIM.platformUrl, platform: { url: "https://new.example.com" } });
  await register(token, VICTIM);
  expect(await target()).toMatchObject({ url: "https://new.example.com", publicUrl: VICTIM.platformUrl });
  await expect(move(id, VICTIM.platformUrl, EVIL)).rejects.toThrow(/is https:\/\/new\.example\.com/);
  await expect(move("aev-nobody", EVIL, EVIL)).rejects.toThrow(/no platform aev-nobody/);
  await expect(
    dispatch.unary(setting.movePlatform, { id, fromUrl: EVIL, toUrl: EVIL }, as("analyst")),
  ).rejects.toThrow();
});

test("a token that an administrator made for it follows its own, at its address alone", async () => {
  const own = await newToken();
  await register(own.token, VICTIM);
  const [{ id = "" } = {}] = await platforms();
  const next = await newToken("aev", { platformId: id });
  await expect(register(next.token, { ...VICTIM, platformUrl: EVIL })).rejects.toThrow(/has not been used from/);
  await register(next.token, VICTIM);
  await expect(register(own.token, VICTIM)).rejects.toThrow(/registered with another token/);
  await revoke(own.id);
  await register(next.token, { ...VICTIM, platformUrl: "https://moved.example.com" });
  expect(await target()).toMatchObject({ url: "https://moved.example.com" });
  await expect(newToken("aev", { platformId: "aev-nobody" })).rejects.toThrow(/no aev platform aev-nobody/);
});

test("a record from before records named their token is its own token's, where it is", async () => {
  const own = await newToken();
  await register(own.token, VICTIM);
  await opened.store.collection("platforms").updateMany({}, { $unset: { token: "" } } as never);
  for (const platformUrl of [EVIL, VICTIM.platformUrl])
    await expect(register((await newToken()).token, { ...VICTIM, platformUrl })).rejects.toThrow(/another token/);
  await expect(register(own.token, { ...VICTIM, platformUrl: EVIL })).rejects.toThrow(/has not been used from/);
  await register(own.token, VICTIM);
  await register(own.token, { ...VICTIM, platformUrl: "https://moved.example.com" });
  expect(await target()).toMatchObject({ url: "https://moved.example.com" });
});

test("a call in flight keeps the address that it began with", async () => {
  const { token } = await newToken();
  await register(token, VICTIM);
  const targets = createTargets(createPeers(dispatch, { assertion: "service" }));
  const inFlight = await targets.of("aev");
  await register(token, { ...VICTIM, platformUrl: "https://moved.example.com" });
  targets.forget();
  await sleep(1);
  expect(inFlight.url).toBe(VICTIM.platformUrl);
  expect((await targets.of("aev")).url).toBe("https://moved.example.com");
});
