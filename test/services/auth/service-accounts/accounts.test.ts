import { generateKeyPairSync } from "node:crypto";
import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { DelegationService } from "#proto/auth/v1/delegation_service_pb.js";
import { GroupService } from "#proto/auth/v1/group_service_pb.js";
import { ServiceAccountService } from "#proto/auth/v1/service_account_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { SERVICE_LOGIN, scopesOf } from "../../../../services/auth/scopes.js";
import { type Stack, startStack } from "../stack.js";
import {
  createServiceAccount,
  deleteServiceAccount,
  newAccount,
  newPair,
  newUser,
  setOf,
  updateServiceAccount,
} from "./rig.js";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

const WHO = "auth.v1.ApiKeyService/WhoAmI";
const asAdmin = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
) => stack.as(stack.secrets.admin.apiKey, method, request);
const create = (more: object) => asAdmin(createServiceAccount, { name: "svc:refused", ...more });
const whoAmI = (assertion: string) =>
  stack.dispatch.unary(ApiKeyService.method.whoAmI, {}, { credential: { assertion } });
const reason = (call: Promise<unknown>) =>
  call.then(
    () => "taken",
    (error: { rawMessage: string }) => error.rawMessage,
  );

test("only the account of our own processes has the scope internal", async () => {
  const machine = await newAccount(stack, { methods: [WHO] });
  for await (const user of stack.records.users.find({})) {
    expect(scopesOf(user).has("internal")).toBe(user.login === SERVICE_LOGIN);
  }
  const record = (await stack.records.users.findOne({ _id: machine.id }))!;
  expect(record).toMatchObject({ service: true, admin: false });
  const { account: _, ...bare } = record;
  expect([...scopesOf(bare)]).toEqual(["public"]);
  expect([...scopesOf({ ...record, login: SERVICE_LOGIN })]).not.toContain("internal");
  expect([...scopesOf({ ...record, admin: true })]).not.toContain("admin");
  const { assertions } = await machine.enter();
  for (const assertion of Object.values(assertions)) {
    expect(String(decodeJwt(assertion).scope).split(" ")).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(internal|admin|delegated)$/)]),
    );
  }
  const calls = [
    stack.dispatch.unary(
      CredentialService.method.verifyCredential,
      { token: stack.secrets.admin.apiKey },
      { credential: { assertion: assertions.auth! } },
    ),
    stack.dispatch.unary(UserService.method.listUsers, {}, { credential: { assertion: assertions.auth! } }),
  ];
  // At once: one that fails while another is awaited would be a rejection that nobody handles.
  await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject({ code: Code.PermissionDenied })));
});

test.each<[string, () => Promise<string> | string, RegExp]>([
  [
    "a private key",
    async () => {
      const { privateKey } = generateKeyPairSync("ed25519");
      return setOf({ ...(privateKey.export({ format: "jwk" }) as object), kid: "k" } as never);
    },
    /private half/,
  ],
  ["a symmetric key", () => setOf({ kty: "oct", k: "AAAA", kid: "k" }), /private half/],
  [
    "RSA of 1024 bits",
    () => {
      const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 1_024 });
      return setOf({ ...(publicKey.export({ format: "jwk" }) as object), kid: "k" } as never);
    },
    /2048 to 8192 bits, and has 1024/,
  ],
  [
    "RSA whose exponent is 3",
    () => {
      const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048, publicExponent: 3 });
      return setOf({ ...(publicKey.export({ format: "jwk" }) as object), kid: "k" } as never);
    },
    /public exponent/,
  ],
  ["P-384", async () => setOf((await newPair("ES384")).publicJwk), /P-256/],
  [
    "Ed448",
    () => {
      const { publicKey } = generateKeyPairSync("ed448");
      return setOf({ ...(publicKey.export({ format: "jwk" }) as object), kid: "k" } as never);
    },
    /Ed25519/,
  ],
  [
    "a point off the curve",
    async () => {
      const { publicJwk } = await newPair("ES256");
      return setOf({ ...publicJwk, y: publicJwk.x as string });
    },
    /not a valid public key/,
  ],
  ["no kid", async () => setOf({ ...(await newPair("EdDSA")).publicJwk, kid: undefined } as never), /needs a kid/],
  [
    "the same kid twice",
    async () => {
      const pairs = [await newPair("EdDSA", "k"), await newPair("EdDSA", "k")];
      return setOf(...pairs.map(({ publicJwk }) => publicJwk));
    },
    /two keys have the kid "k"/,
  ],
  [
    "six keys",
    async () => {
      const { publicJwk } = await newPair("EdDSA");
      return setOf(...[..."abcdef"].map((kid) => ({ ...publicJwk, kid })));
    },
    /1 to 5 keys/,
  ],
  ["no keys", () => setOf(), /1 to 5 keys/],
  [
    "another alg",
    async () => setOf({ ...(await newPair("RS256")).publicJwk, alg: "PS256" }),
    /alg of such a key is RS256/,
  ],
  ["a key for encryption", async () => setOf({ ...(await newPair("RS256")).publicJwk, use: "enc" }), /use must be sig/],
  ["no JSON", () => "{", /must be JSON/],
])("%s is no public key of a service account", async (_, jwks, words) => {
  await expect(create({ jwks: await jwks() })).rejects.toThrow(words);
  expect(await stack.records.users.findOne({ login: "svc:refused" })).toBeNull();
});

test("of a key only its public members are kept", async () => {
  const { publicJwk } = await newPair("ES256", "mine");
  const { account } = await asAdmin(createServiceAccount, {
    ...{ name: "svc:bare", jwks: setOf({ ...publicJwk, comment: "x", x5c: ["AAAA"] } as never) },
  });
  const record = await stack.records.users.findOne({ _id: account!.id });
  expect(Object.keys(record!.account!.keys[0]!).sort()).toEqual(["alg", "crv", "kid", "kty", "x", "y"]);
  expect(account!.keys).toMatchObject([{ kid: "mine", alg: "ES256" }]);
});

test("names of accounts and of rpcs are checked, and the near ones named", async () => {
  const jwks = setOf((await newPair("EdDSA")).publicJwk);
  for (const name of ["soar", "svc:", "svc:Soar", "svc:a b", "svc:-a", "service:sallyport", `svc:${"a".repeat(64)}`])
    await expect(create({ name, jwks }), name).rejects.toMatchObject({ code: Code.InvalidArgument });
  const methods = (...names: string[]) => reason(create({ jwks, methods: { names } }));
  expect(await methods("core.v1.AgentService/ListAgent")).toContain("core.v1.AgentService/ListAgents");
  expect(await methods("core.v1.AgentsService/*")).toContain("core.v1.AgentService/*");
  for (const name of [
    "auth.v1.UserService/*",
    "auth.v1.CredentialService/VerifyCredential",
    "grpc.health.v1.Health/Check",
  ])
    expect(await methods(name)).toMatch(/cannot be on the list|there is no rpc/);
  expect(await methods("auth.v1.ApiKeyService/CreateApiKey")).toContain("cannot be on the list");
  for (const name of ["*", "core.v1.*", "*/*", "core.v1.AgentService", ""])
    expect(await methods(name), name).not.toBe("taken");
  expect(await methods(...Array.from({ length: 65 }, () => WHO))).toContain("64");
  await newAccount(stack, { methods: ["core.v1.AgentService/*", "grpc.reflection.v1.ServerReflection/*", WHO] });
  expect(await reason(create({ jwks, act: { users: ["nobody@example.org"] } }))).toContain("there is no user");
  expect(await reason(create({ jwks, act: { groups: ["nobody"] } }))).toContain("there is no group");
  expect(await stack.records.users.findOne({ login: "svc:refused" })).toBeNull();
});

test("it calls what is on its list as itself, and nothing else; the refusal says which list and who can change it", async () => {
  const machine = await newAccount(stack, { methods: [WHO] });
  const { assertions, expiresAt } = await machine.enter();
  expect(Number(expiresAt!.seconds) * 1_000 - Date.now()).toBeLessThanOrEqual(300_000);
  expect((await whoAmI(assertions.auth!)).caller).toMatchObject({ id: machine.id, service: true, admin: false });
  const none = await newAccount(stack);
  const refusal = await reason(whoAmI((await none.enter()).assertions.auth!));
  expect(refusal).toBe(
    `${WHO} is not on the method list of the service account ${none.name}: ask an administrator to add it (service-accounts update)`,
  );
  // A change holds for what was given out before it.
  await asAdmin(updateServiceAccount, { id: machine.id, methods: { names: [] } });
  expect(await reason(whoAmI(assertions.auth!))).toContain("is not on the method list");
});

test("it changes no API keys, has none, and begins nothing that outlives it, with all of a service on its list", async () => {
  const machine = await newAccount(stack, { methods: ["auth.v1.ApiKeyService/*"] });
  const { assertions } = await machine.enter();
  const credential = { assertion: assertions.auth! };
  const made = stack.dispatch.unary(ApiKeyService.method.createApiKey, { name: "K" }, { credential });
  await expect(made).rejects.toMatchObject({ code: Code.PermissionDenied });
  const given = asAdmin(ApiKeyService.method.createApiKey, { userId: machine.id, name: "K" });
  await expect(given).rejects.toMatchObject({ code: Code.FailedPrecondition });
  const delegated = stack.as(stack.secrets.serviceKey, DelegationService.method.createDelegation, {
    subjectToken: assertions["core-objects"]!,
  });
  await expect(delegated).rejects.toMatchObject({ code: Code.PermissionDenied });
});

test("UserService makes it no administrator, gives it no password and no group, and does not delete it", async () => {
  const { id } = await newAccount(stack);
  for (const change of [{ admin: true }, { password: "correct horse battery" }, { groups: { ids: [] } }])
    await expect(asAdmin(UserService.method.updateUser, { id, ...change })).rejects.toMatchObject({ code: 9 });
  await expect(asAdmin(UserService.method.deleteUser, { id })).rejects.toThrow(/DeleteServiceAccount/);
});

test("only administrators make, list, change and delete them; ours is none of them", async () => {
  const { id, name } = await newAccount(stack);
  const { listServiceAccounts } = ServiceAccountService.method;
  const { apiKey } = stack.secrets.analyst;
  const jwks = setOf((await newPair("EdDSA")).publicJwk);
  for (const call of [
    () => stack.as(apiKey, createServiceAccount, { name: "svc:mine", jwks }),
    () => stack.as(apiKey, listServiceAccounts, {}),
    () => stack.as(apiKey, updateServiceAccount, { id, disabled: false }),
    () => stack.as(apiKey, deleteServiceAccount, { id }),
  ])
    await expect(call()).rejects.toMatchObject({ code: Code.PermissionDenied });
  const { accounts } = await asAdmin(listServiceAccounts, { pageSize: 100 });
  const names = accounts.map((one) => one.name);
  expect(names).toContain(name);
  expect(names).not.toContain(SERVICE_LOGIN);
  const ours = await stack.records.users.findOne({ login: SERVICE_LOGIN });
  for (const other of [ours!._id, (await newUser(stack)).id]) {
    await expect(asAdmin(updateServiceAccount, { id: other, disabled: true })).rejects.toMatchObject({ code: 5 });
    await expect(asAdmin(deleteServiceAccount, { id: other })).rejects.toMatchObject({ code: 5 });
  }
  await expect(asAdmin(createServiceAccount, { name, jwks })).rejects.toMatchObject({ code: Code.AlreadyExists });
});

test("it acts for whom its grant names, by id, address or group, with no more than the user has", async () => {
  const { group } = await asAdmin(GroupService.method.createGroup, { name: "Watch floor" });
  const named = await newUser(stack);
  const member = await newUser(stack, { groups: [group!.id] });
  const machine = await newAccount(stack, { methods: [WHO], users: [named.email], groups: ["watch floor"] });
  for (const [actFor, user] of [
    [named.id, named],
    [named.email, named],
    [member.email.toUpperCase(), member],
  ] as const) {
    const { assertions, callerId } = await machine.enter(actFor);
    expect(callerId).toBe(user.id);
    expect(decodeJwt(assertions.auth!)).toMatchObject({ sub: user.id, act: { sub: machine.name } });
    expect((await whoAmI(assertions.auth!)).caller).toMatchObject({ id: user.id, email: user.email, service: false });
  }
  const next = await stack.as(stack.secrets.serviceKey, CredentialService.method.exchangeAssertion, {
    ...{ subjectToken: (await machine.enter(named.id)).assertions["core-objects"]!, audience: "platform-proxy" },
  });
  expect(decodeJwt(next.assertion)).toMatchObject({ sub: named.id, act: { sub: machine.name } });
});

test("it acts for nobody else: not for strangers, who are not told from nobody, nor for itself or our account", async () => {
  const stranger = await newUser(stack);
  const machine = await newAccount(stack, { methods: [WHO], users: [(await newUser(stack)).id] });
  const ours = await stack.records.users.findOne({ login: SERVICE_LOGIN });
  const words = await reason(machine.enter(stranger.id));
  expect(words).toContain("may not act for this user");
  for (const actFor of ["nobody@example.org", "no-such-id", "not@an@address", ours!._id, machine.id])
    expect(await reason(machine.enter(actFor)), actFor).toBe(words);
  await expect(
    create({ jwks: setOf((await newPair("EdDSA")).publicJwk), act: { users: [ours!._id] } }),
  ).rejects.toThrow(/not a person/);
});

test("for an administrator it acts as for everybody else", async () => {
  const admin = await newUser(stack, { admin: true });
  const machine = await newAccount(stack, { methods: [WHO], users: [admin.id] });
  const { assertions } = await machine.enter(admin.id);
  const { caller } = await whoAmI(assertions.auth!);
  expect(caller).toMatchObject({ id: admin.id, admin: false });
  expect(caller!.scopes).not.toContain("admin");
  const list = stack.dispatch.unary(UserService.method.listUsers, {}, { credential: { assertion: assertions.auth! } });
  await expect(list).rejects.toMatchObject({ code: Code.PermissionDenied });
});

test("a disabled user, a group that is left, and a grant that is taken back end it for what was given out too", async () => {
  const { group } = await asAdmin(GroupService.method.createGroup, { name: "Leavers" });
  const [disabled, leaver, named] = [
    await newUser(stack),
    await newUser(stack, { groups: [group!.id] }),
    await newUser(stack),
  ];
  const machine = await newAccount(stack, {
    ...{ methods: [WHO], users: [disabled.id, named.id], groups: [group!.id] },
  });
  const given: string[] = [];
  for (const { id } of [disabled, leaver, named]) given.push((await machine.enter(id)).assertions.auth!);
  for (const assertion of given) await whoAmI(assertion);
  await asAdmin(UserService.method.updateUser, { id: disabled.id, disabled: true });
  await asAdmin(UserService.method.updateUser, { id: leaver.id, groups: { ids: [] } });
  await asAdmin(updateServiceAccount, { id: machine.id, act: { users: [disabled.id], groups: [group!.id] } });
  for (const assertion of given) await expect(whoAmI(assertion)).rejects.toMatchObject({ code: Code.Unauthenticated });
  expect(await reason(machine.enter(disabled.id))).toContain("is disabled");
  for (const { id } of [leaver, named]) expect(await reason(machine.enter(id))).toContain("may not act for this user");
});

test("disabled or deleted, it is refused with what it was given before, also by exchange", async () => {
  const machine = await newAccount(stack, { methods: [WHO] });
  const { assertions } = await machine.enter();
  const exchanged = () =>
    stack.as(stack.secrets.serviceKey, CredentialService.method.exchangeAssertion, {
      ...{ subjectToken: assertions.traces!, audience: "core-objects" },
    });
  await exchanged();
  await asAdmin(updateServiceAccount, { id: machine.id, disabled: true });
  for (const call of [() => whoAmI(assertions.auth!), exchanged, () => machine.enter()])
    await expect(call()).rejects.toMatchObject({ code: Code.Unauthenticated });
  await asAdmin(updateServiceAccount, { id: machine.id, disabled: false });
  await whoAmI((await machine.enter()).assertions.auth!);
  await asAdmin(deleteServiceAccount, { id: machine.id });
  for (const call of [() => whoAmI(assertions.auth!), exchanged, () => machine.enter()])
    await expect(call()).rejects.toMatchObject({ code: Code.Unauthenticated });
});
