import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { knownUserOf } from "../../../../services/auth/federation/known-user.js";
import { mapGroups } from "../../../../services/auth/federation/mapped-groups.js";
import { personOf } from "../../../../services/auth/federation/person.js";
import type { ProviderSetting } from "../../../../services/auth/federation/setting.js";
import { linkIdentity } from "../../../../services/auth/identities.js";
import type { UserRecord } from "../../../../services/auth/store.js";
import { silentLog } from "../../../../services/shared/process/log.js";
import { Browser } from "./browser.js";
import { type Front, openFront, settingOf } from "./front.js";
import { type RealProvider, startRealProvider } from "./real-provider.js";

// Whom a provider means, who is created, and which groups they have: with a real provider, its forms and its redirects.

const SECRET = "the=client:secret/of+tests%0123456789";
let provider: RealProvider;
let front: Front;
const settings = new Map<string, ProviderSetting>();

beforeAll(async () => {
  front = await openFront(
    async (base) => {
      provider = await startRealProvider({
        redirectUri: `${base}/oauth/federation/corp/callback`,
        clientSecret: SECRET,
      });
      const closed = settingOf({ issuer: provider.issuer, clientSecret: SECRET, scopes: ["profile", "groups"] });
      settings.set("corp", closed);
      return [closed];
    },
    { answerMs: 5_000 },
  );
});
afterAll(async () => {
  await front.close();
  await provider.close();
});
beforeEach(async () => {
  provider.people.clear();
  front.ended.length = 0;
  front.told.length = 0;
  for (const records of [front.records.users, front.records.identities, front.records.groups])
    await (records as typeof front.records.users).deleteMany({});
  set({});
});

/** The deployment's setting is another one from now on. */
function set(given: Partial<ProviderSetting>): void {
  const setting = settings.get("corp") as ProviderSetting;
  const defaults = settingOf({ issuer: setting.issuer, clientSecret: SECRET, scopes: ["profile", "groups"] });
  Object.assign(setting, defaults, given);
}

/** Signs in at the provider by its form. */
async function signIn(subject: string, browser = new Browser()): Promise<Front["ended"][number]> {
  const form = await browser.open(front.startOf("corp"));
  if (form.text.includes("<form")) await browser.submit(form, { username: subject, password: subject });
  const ended = front.ended.at(-1);
  if (ended === undefined) throw new Error(`nothing ended: ${browser.trail.join(" ")}`);
  return ended;
}

const person = (sub: string, claims: object = {}): void => {
  provider.people.set(sub, { email: `${sub}@corp.example`, email_verified: true, name: `${sub} of Corp`, ...claims });
};

describe("whom a provider means", () => {
  test("by a verified address the first time, by the subject from then on", async () => {
    person("ana", { email: "Ana@CORP.example" });
    const ana = await front.addUser({ login: "ana@corp.example" });
    const browser = new Browser();
    expect(await signIn("ana", browser)).toMatchObject({ user: { _id: ana._id }, amr: ["fed"] });
    expect(browser.trail.at(-1)).toBe(`${front.base}/oauth/interaction/one`);
    expect(browser.cookiesFor(new URL(front.base))).not.toContain("sallyport-federation");
    expect(await front.records.identities.find({}).toArray()).toEqual([
      {
        _id: expect.stringMatching(/^[\w-]{43}$/),
        ...{ issuer: provider.issuer, subject: "ana", user_id: ana._id, email: "Ana@CORP.example" },
        linked_at: expect.any(Date),
      },
    ]);
    // Neither another address, nor one that is not verified any more, makes somebody else of them.
    person("ana", { email: "boss@corp.example", email_verified: false });
    await front.addUser({ login: "boss@corp.example", admin: true });
    expect(await signIn("ana")).toMatchObject({ user: { _id: ana._id, login: "ana@corp.example" } });
    expect((await front.noted()).filter(({ action }) => action === "link_identity")).toMatchObject([
      { userEmail: "ana@corp.example", target: "corp/ana", outcome: "ok" },
    ]);
  });

  test("an address that is given to somebody else does not give the account", async () => {
    person("ana");
    await front.addUser({ login: "ana@corp.example" });
    expect(await signIn("ana")).toHaveProperty("user");
    person("eve", { email: "ana@corp.example" });
    expect(await signIn("eve")).toMatchObject({ reason: "linked_to_another" });
    expect(await signIn("ana")).toHaveProperty("user");
    expect(await front.records.identities.countDocuments({})).toBe(1);
  });

  test("of two subjects with one address that sign in at once, one is linked", async () => {
    await front.addUser({ login: "ana@corp.example" });
    const setting = settings.get("corp") as ProviderSetting;
    const as = (subject: string) => ({
      ...{ issuer: provider.issuer, subject, email: "ana@corp.example", emailVerified: true },
      ...{ name: "", groups: new Set<string>() },
    });
    const all = await Promise.allSettled(
      ["a", "b", "c", "d", "a", "b"].map((subject) => knownUserOf(front.context, as(subject), setting)),
    );
    const linked = await front.records.identities.find({}).toArray();
    expect(linked).toHaveLength(1);
    expect(all.filter(({ status }) => status === "fulfilled").length).toBeGreaterThanOrEqual(1);
    for (const one of all)
      if (one.status === "rejected") expect(one.reason).toMatchObject({ reason: "linked_to_another" });
  });

  const refused: [string, object, string][] = [
    ["an address that is not verified", { email_verified: false }, "email_not_verified"],
    ["an address that nobody speaks of as verified", { email_verified: undefined }, "email_not_verified"],
    ["an address that is verified in words", { email_verified: "true" }, "email_not_verified"],
    ["no address", { email: undefined }, "email_not_verified"],
    ["an address of another domain", { email: "ana@other.example" }, "email_of_other_domain"],
    ["an address of a domain below", { email: "ana@sub.corp.example" }, "email_of_other_domain"],
    ["an address that ends as the domain does", { email: "ana@evilcorp.example" }, "email_of_other_domain"],
    ["an address with two signs", { email: "ana@corp.example@other.example" }, "email_of_other_domain"],
    ["an address that only looks like one", { email: "аna@corp.example" }, "email_of_other_domain"],
    ["a list of addresses", { email: ["ana@corp.example"] }, "email_not_verified"],
    ["a very long address", { email: `${"a".repeat(300)}@corp.example` }, "email_not_verified"],
  ];
  test.each(refused)("%s is refused, written down, and links nobody", async (_what, claims, reason) => {
    set({ createsUsers: true });
    for (const domain of ["corp", "other", "sub.corp", "evilcorp"])
      await front.addUser({ login: `ana@${domain}.example` });
    person("ana", claims);
    const before = (await front.noted()).length;
    expect(await signIn("ana")).toMatchObject({ reason, problem: expect.stringMatching(/^[A-Z].*\.$/) });
    expect((await front.noted()).slice(before)).toMatchObject([
      { action: "federated_sign_in", outcome: reason, target: "corp/ana" },
    ]);
    expect(await front.records.identities.countDocuments({})).toBe(0);
    expect(await front.records.users.countDocuments({})).toBe(4);
  });

  test("a disabled user is refused, at the first time and later", async () => {
    person("ana");
    const ana = await front.addUser({ login: "ana@corp.example", disabled: true });
    expect(await signIn("ana")).toMatchObject({ reason: "user_disabled" });
    expect(await front.records.identities.countDocuments({})).toBe(0);
    await front.records.users.updateOne({ _id: ana._id }, { $set: { disabled: false } });
    expect(await signIn("ana")).toHaveProperty("user");
    await front.records.users.updateOne({ _id: ana._id }, { $set: { disabled: true } });
    expect(await signIn("ana")).toMatchObject({ reason: "user_disabled" });
  });

  test("a deleted user is refused, whoever has the address now", async () => {
    person("ana");
    const ana = await front.addUser({ login: "ana@corp.example" });
    expect(await signIn("ana")).toHaveProperty("user");
    await front.records.users.deleteOne({ _id: ana._id });
    await front.addUser({ _id: "another", login: "ana@corp.example" });
    expect(await signIn("ana")).toMatchObject({ reason: "user_deleted" });
  });

  test("a service account is never signed in to", async () => {
    person("svc");
    const account = await front.addUser({ login: "svc@corp.example", service: true });
    expect(await signIn("svc")).toMatchObject({ reason: "service_account" });
    await linkIdentity(front.records, { issuer: provider.issuer, subject: "svc", email: undefined }, account);
    expect(await signIn("svc")).toMatchObject({ reason: "service_account" });
  });

  test("another claim may say that the address is verified", async () => {
    set({ emailVerifiedClaim: "name" });
    provider.people.set("ana", { email: "ana@corp.example", name: true, email_verified: false });
    await front.addUser({ login: "ana@corp.example" });
    expect(await signIn("ana")).toHaveProperty("user");
  });

  test("who is signed in at the provider is not asked again, unless they want to be somebody else", async () => {
    for (const name of ["ana", "bob"]) {
      person(name);
      await front.addUser({ login: `${name}@corp.example` });
    }
    const browser = new Browser();
    await signIn("ana", browser);
    await browser.open(front.startOf("corp"));
    expect(front.ended).toMatchObject([
      { user: { _id: "user-ana@corp.example" } },
      { user: { _id: "user-ana@corp.example" } },
    ]);
    const form = await browser.open(`${front.startOf("corp")}&again=yes`);
    const leaves = await browser.submit(form, { username: "bob", password: "bob" });
    // The page of this provider that ends the session of the one before; a script would send it.
    await browser.submit(leaves, {});
    expect(front.ended.at(-1)).toMatchObject({ user: { _id: "user-bob@corp.example" } });
  });

  test("who cancels at the provider is told so", async () => {
    person("ana");
    const browser = new Browser();
    await browser.submit(await browser.open(front.startOf("corp")), { cancel: "yes" });
    expect(front.ended.at(-1)).toMatchObject({
      reason: "provider_refused",
      problem: expect.stringContaining("cancelled"),
    });
  });
});

describe("who is created", () => {
  test("nobody, unless the administrator allows it", async () => {
    person("ana");
    expect(await signIn("ana")).toMatchObject({ reason: "no_user" });
    expect(await front.records.users.countDocuments({})).toBe(0);
    set({ createsUsers: true });
    expect(await signIn("ana")).toMatchObject({ user: { login: "ana@corp.example" } });
    expect(await front.user("ana@corp.example")).toMatchObject({
      ...{ name: "ana of Corp", admin: false, disabled: false, groups: [], service: false },
      ...{ email_verified: true, password_hash: null },
    });
    expect((await front.noted()).filter(({ action }) => action === "user_created")).toMatchObject([
      { userEmail: "ana@corp.example", target: "corp/ana" },
    ]);
  });

  test("once, however often they sign in", async () => {
    set({ createsUsers: true });
    person("ana");
    const both = await Promise.all([signIn("ana"), signIn("ana"), signIn("ana")]);
    expect(both.every((one) => "user" in one)).toBe(true);
    expect(await front.records.users.countDocuments({})).toBe(1);
    expect(await front.records.identities.countDocuments({})).toBe(1);
  });

  test("under a name without control characters, or under the address", async () => {
    set({ createsUsers: true });
    person("ana", { name: "Ana\u0000\u202e Example" });
    person("bob", { name: 7 });
    await signIn("ana");
    await signIn("bob");
    expect(await front.user("ana@corp.example")).toMatchObject({ name: "Ana Example" });
    expect(await front.user("bob@corp.example")).toMatchObject({ name: "bob" });
  });
});

describe("groups", () => {
  beforeEach(async () => {
    for (const name of ["SOC", "Analysts", "Own"]) await front.addGroup(name);
    set({
      groups: new Map([
        ["/soc", "SOC"],
        ["/soc-night", "soc"],
        ["/analysts", "Analysts"],
        ["/gone", "Not there"],
      ]),
    });
  });

  test("those that the map names are set and removed at each sign-in, all others stay", async () => {
    person("ana", { groups: ["/soc", "/other", "/gone"] });
    const { _id } = await front.addUser({ login: "ana@corp.example", groups: ["group-own", "group-analysts"] });
    expect(await signIn("ana")).toMatchObject({ user: { groups: ["group-own", "group-soc"] } });
    expect(front.told).toEqual([_id]);
    expect(await front.user("ana@corp.example")).toMatchObject({ groups: ["group-own", "group-soc"], admin: false });
    expect((await front.noted()).filter(({ action }) => action === "map_groups").at(-1)).toMatchObject({
      arguments: ["+soc", "-analysts"],
    });
    expect(front.logged.join("")).toContain("not there");

    // The same groups change nothing, and nobody is told.
    person("ana", { groups: ["/soc-night"] });
    await signIn("ana");
    expect(front.told).toEqual([_id]);

    person("ana", { groups: [] });
    expect(await signIn("ana")).toMatchObject({ user: { groups: ["group-own"] } });
    person("ana", { groups: "/soc" });
    expect(await signIn("ana")).toMatchObject({ user: { groups: ["group-own", "group-soc"] } });
    person("ana", { groups: undefined });
    expect(await signIn("ana")).toMatchObject({ user: { groups: ["group-own"] } });
    expect(front.told).toEqual([_id, _id, _id, _id]);
  });

  test("of a person who is created", async () => {
    set({ createsUsers: true, groups: new Map([["/soc", "SOC"]]) });
    person("ana", { groups: ["/soc"] });
    expect(await signIn("ana")).toMatchObject({ user: { groups: ["group-soc"], admin: false } });
  });

  test("none are touched without a map", async () => {
    set({});
    person("ana", { groups: ["/soc"] });
    await front.addUser({ login: "ana@corp.example", groups: ["group-own"] });
    expect(await signIn("ana")).toMatchObject({ user: { groups: ["group-own"] } });
    expect(front.told).toEqual([]);
  });

  test.each([
    ["are not a list", { groups: { "/soc": true } }],
    ["are not names", { groups: ["/soc", 7] }],
    ["are too many", { groups: Array.from({ length: 5_001 }, (_, n) => `${n}`) }],
  ])("that %s refuse the sign-in and take nothing away", async (_what, claims) => {
    person("ana", claims);
    await front.addUser({ login: "ana@corp.example", groups: ["group-soc"] });
    expect(await signIn("ana")).toMatchObject({ reason: "groups_unknown" });
    expect(await front.user("ana@corp.example")).toMatchObject({ groups: ["group-soc"] });
    expect(await front.records.identities.countDocuments({})).toBe(0);
  });

  test.each([
    [
      "elsewhere",
      { _claim_names: { groups: "src1" }, _claim_sources: { src1: { endpoint: "https://graph.example" } } },
    ],
    ["too many for the token", { hasgroups: true }],
  ])("that the provider says are %s are not taken for none", (_what, claims) => {
    const setting = settingOf({ issuer: "x", groups: new Map([["/soc", "SOC"]]) });
    expect(() => personOf({ iss: "x", sub: "ana", ...claims }, setting)).toThrow(/did not say which groups you are in/);
    expect(personOf({ iss: "x", sub: "ana", _claim_names: { other: "src1" } }, setting).groups).toEqual(new Set());
    expect(personOf({ iss: "x", sub: "ana", ...claims }, settingOf({ issuer: "x" })).groups).toEqual(new Set());
  });

  test("somebody else's change at the same time is kept", async () => {
    person("ana", { groups: ["/soc"] });
    await front.addUser({ login: "ana@corp.example" });
    await signIn("ana");
    const add = (id: string) =>
      front.records.users.updateOne({ login: "ana@corp.example" }, { $addToSet: { groups: id } });
    person("ana", { groups: ["/analysts"] });
    await Promise.all([signIn("ana"), signIn("ana"), add("group-own"), add("group-x"), add("group-y")]);
    expect((await front.user("ana@corp.example")).groups.toSorted()).toEqual([
      "group-analysts",
      "group-own",
      "group-x",
      "group-y",
    ]);
  });
});

describe("groups of a user who changes while they sign in", () => {
  const person = {
    issuer: "x",
    subject: "ana",
    email: undefined,
    emailVerified: false,
    name: "",
    groups: new Set(["/soc"]),
  };
  beforeEach(async () => {
    for (const name of ["SOC", "Own"]) await front.addGroup(name);
  });
  const map = (stale: UserRecord) => {
    const setting = settingOf({ issuer: "x", groups: new Map([["/soc", "SOC"]]) });
    return mapGroups(front.context, setting, person, stale, silentLog);
  };

  test("what somebody else set stays", async () => {
    const stale = await front.addUser({ login: "ana@corp.example" });
    await front.records.users.updateOne({ _id: stale._id }, { $set: { groups: ["group-own"], admin: true } });
    expect(await map(stale)).toMatchObject({ user: { groups: ["group-own", "group-soc"], admin: true } });
  });

  test("a user who was disabled or deleted gets none", async () => {
    const stale = await front.addUser({ login: "ana@corp.example" });
    await front.records.users.updateOne({ _id: stale._id }, { $set: { disabled: true } });
    await expect(map(stale)).rejects.toMatchObject({ reason: "user_disabled" });
    expect(await front.user("ana@corp.example")).toMatchObject({ groups: [] });
    await front.records.users.deleteOne({ _id: stale._id });
    await expect(map(stale)).rejects.toMatchObject({ reason: "user_disabled" });
  });
});

describe("the administrator flag", () => {
  test("is not the provider's, unless a setting says so", async () => {
    set({ groups: new Map([["/admins", "Admins"]]) });
    person("ana", { groups: ["/admins"] });
    await front.addUser({ login: "ana@corp.example" });
    await front.addUser({ login: "boss@corp.example", admin: true });
    person("boss", { groups: [] });
    expect(await signIn("ana")).toMatchObject({ user: { admin: false } });
    expect(await signIn("boss")).toMatchObject({ user: { admin: true } });
  });

  test("is given and taken with the group", async () => {
    set({ administrators: "/admins" });
    await front.addUser({ login: "local@corp.example", admin: true, password_hash: "x" });
    const { _id } = await front.addUser({ login: "ana@corp.example" });
    person("ana", { groups: ["/admins"] });
    expect(await signIn("ana")).toMatchObject({ user: { admin: true } });
    person("ana", { groups: [] });
    expect(await signIn("ana")).toMatchObject({ user: { admin: false } });
    expect(front.told).toEqual([_id, _id]);
    expect((await front.noted()).filter(({ action }) => action === "map_groups").slice(-2)).toMatchObject([
      { arguments: ["admin=true"] },
      { arguments: ["admin=false"] },
    ]);
  });

  test("is not taken from the last one, nor from the last one who has a password", async () => {
    set({ administrators: "/admins" });
    await front.addUser({ login: "ana@corp.example", admin: true, password_hash: "x" });
    await front.addUser({ login: "off@corp.example", admin: true, password_hash: "x", disabled: true });
    person("ana", { groups: [] });
    expect(await signIn("ana")).toMatchObject({ user: { admin: true } });
    await front.addUser({ login: "fed@corp.example", admin: true });
    expect(await signIn("ana")).toMatchObject({ user: { admin: true } });
    expect((await front.noted()).filter(({ action }) => action === "keep_last_administrator").length).toBeGreaterThan(
      0,
    );
    expect(front.told).toEqual([]);
    await front.addUser({ login: "local@corp.example", admin: true, password_hash: "x" });
    expect(await signIn("ana")).toMatchObject({ user: { admin: false } });
  });

  test("of two who lose it at once one keeps it", async () => {
    set({ administrators: "/admins" });
    for (const name of ["ana", "bob"]) {
      person(name, { groups: [] });
      await front.addUser({ login: `${name}@corp.example`, admin: true, password_hash: "x" });
    }
    await Promise.all([signIn("ana"), signIn("bob")]);
    expect(await front.records.users.countDocuments({ admin: true })).toBe(1);
  });
});

test.each([
  ["client_secret_post", true],
  ["client_secret_basic", true],
] as const)("a client of %s, with claims in the ID token", async (clientAuthentication, claimsInToken) => {
  let other: RealProvider | undefined;
  const second = await openFront(async (base) => {
    const redirectUri = `${base}/oauth/federation/corp/callback`;
    other = await startRealProvider({ redirectUri, clientSecret: SECRET, clientAuthentication, claimsInToken });
    return [settingOf({ issuer: other.issuer, clientSecret: SECRET, createsUsers: true, scopes: ["profile"] })];
  });
  other?.people.set("ana", { email: "ana@corp.example", email_verified: true });
  const browser = new Browser();
  const form = await browser.open(second.startOf("corp"));
  await browser.submit(form, { username: "ana", password: "ana" });
  expect(second.ended.at(-1)).toMatchObject({ user: { login: "ana@corp.example", name: "ana" } });
  await second.close();
  await other?.close();
});

test("EMAIL_DOMAINS bounds whom a provider can be", async () => {
  let other: RealProvider | undefined;
  const second = await openFront(
    async (base) => {
      other = await startRealProvider({ redirectUri: `${base}/oauth/federation/corp/callback`, clientSecret: SECRET });
      return [settingOf({ issuer: other.issuer, clientSecret: SECRET, createsUsers: true })];
    },
    { emailDomains: ["elsewhere.example"] },
  );
  other?.people.set("ana", { email: "ana@corp.example", email_verified: true });
  const browser = new Browser();
  await browser.submit(await browser.open(second.startOf("corp")), { username: "ana", password: "ana" });
  expect(second.ended.at(-1)).toMatchObject({ reason: "email_of_other_domain" });
  await second.close();
  await other?.close();
});
