import { Code } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import { as, neighbours, openStore, registration, startCatalogue } from "./rig.js";

const setting = SettingService.method;
const DAY_MS = 86_400_000;

let opened: Awaited<ReturnType<typeof openStore>>;
let dispatch: Dispatch;

beforeEach(async () => {
  opened = await openStore();
  dispatch = await startCatalogue(opened.store, neighbours(), {});
});
afterEach(() => opened.end());

const create = (more: object = {}) =>
  dispatch.unary(setting.createRegistrationToken, { name: "one", server: "aev", ...more }, as("admin"));
const list = (request: object = {}, who = "admin") => dispatch.unary(setting.listRegistrationTokens, request, as(who));
const revoke = (id: string) => dispatch.unary(setting.revokeRegistrationToken, { id }, as("admin"));
const register = (token: string, fields: object = {}) => registration(dispatch)(token, fields);
const daysLeft = (seconds: bigint | undefined) => Math.round((Number(seconds) * 1_000 - Date.now()) / DAY_MS);
/** Sets the clock of a token back. */
const age = (_id: string, days: number) =>
  opened.store.collection("registration_tokens").updateOne({ _id }, {
    $set: { expires_at: new Date(Date.now() - DAY_MS), created_at: new Date(Date.now() - days * DAY_MS) },
  } as never);

test("tokens are listed with their platform and their ends, and never themselves", async () => {
  const unused = await create();
  const used = await create({ name: "two", expireDays: 7 });
  await register(used.token, { platformId: "p" });
  const { tokens } = await list();
  expect(tokens.map(({ id }) => id)).toEqual([used.id, unused.id]);
  expect(tokens[0]).toMatchObject({ name: "two", server: "aev", platformUrl: "https://aev.example.com" });
  expect(tokens[0]?.platformId).toMatch(/^aev-[0-9a-f]{12}$/);
  expect([tokens[0]?.lastUsedAt, tokens[0]?.expiresAt]).toEqual([expect.anything(), undefined]);
  expect([tokens[1]?.platformId, tokens[1]?.lastUsedAt]).toEqual(["", undefined]);
  expect([daysLeft(tokens[1]?.expiresAt?.seconds), daysLeft(used.expiresAt?.seconds)]).toEqual([30, 7]);
  expect(JSON.stringify(tokens, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toMatch(
    /reg_|digest/,
  );
  await expect(list({}, "analyst")).rejects.toMatchObject({ code: Code.PermissionDenied });
});

test("a page follows the other", async () => {
  const made: string[] = [];
  for (let n = 0; n < 5; n++) made.unshift((await create()).id);
  const first = await list({ pageSize: 3 });
  const second = await list({ pageSize: 3, pageToken: first.nextPageToken });
  expect([...first.tokens, ...second.tokens].map(({ id }) => id)).toEqual(made);
  expect(second.nextPageToken).toBe("");
});

test("a token that nobody used in time registers nothing; one that is a platform's own goes on", async () => {
  const [unused, used] = [await create(), await create()];
  await register(used.token);
  for (const { id } of [unused, used]) await age(id, 40);
  const late = { code: Code.Unauthenticated, rawMessage: expect.stringMatching(/expired at .* create-token/) };
  await expect(register(unused.token, { platformUrl: "https://two.example.com" })).rejects.toMatchObject(late);
  await expect(
    dispatch.unary(setting.checkRegistrationToken, { token: unused.token }, as("service")),
  ).rejects.toMatchObject(late);
  await register(used.token);
  for (const expireDays of [0, 366])
    await expect(create({ expireDays })).rejects.toMatchObject({ code: Code.InvalidArgument });
});

test("a token from before tokens ended ends 30 days after it was made", async () => {
  const [old, young] = [await create(), await create()];
  for (const [{ id }, days] of [
    [old, 31],
    [young, 29],
  ] as const) {
    await age(id, days);
    await opened.store
      .collection("registration_tokens")
      .updateOne({ _id: id }, { $unset: { expires_at: "" } } as never);
  }
  await expect(register(old.token)).rejects.toMatchObject({ code: Code.Unauthenticated });
  await register(young.token);
});

test("a token that is not there is not revoked", async () => {
  const { id } = await create();
  await expect(revoke("nope")).rejects.toMatchObject({ code: Code.NotFound });
  await revoke(id);
  await expect(revoke(id)).rejects.toMatchObject({ code: Code.NotFound });
  expect((await list()).tokens).toEqual([]);
});

test("a token of the configuration does not end", async () => {
  await dispatch.unary(setting.checkRegistrationToken, { token: "configured-token" }, as("service"));
  const [listed] = (await list()).tokens;
  expect([listed?.name, listed?.configured, listed?.expiresAt]).toEqual(["REGISTRATION_TOKEN", true, undefined]);
});
