import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EntityService } from "#proto/cti/v1/entity_service_pb.js";
import { ObservableService } from "#proto/cti/v1/observable_service_pb.js";
import { RelationshipService } from "#proto/cti/v1/relationship_service_pb.js";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { fresh, makeMalware } from "./making.js";

const { createEntity } = EntityService.method;
const { createObservable, promoteObservableToIndicator } = ObservableService.method;
const { createRelationship } = RelationshipService.method;

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
});
afterAll(() => harness.close());

test("an observable is refanged, and a known value is refused with its id", async () => {
  const { observable, notices } = await harness.call(createObservable, {
    type: "Url",
    value: "hxxps://written[.]c2[.]example/drop",
    score: 70,
    refs: { markings: ["TLP:GREEN"], labels: ["c2"] },
  });
  expect(observable).toMatchObject({
    value: "https://written.c2.example/drop",
    score: 70,
    markings: ["TLP:GREEN"],
    labels: ["c2"],
  });
  expect(notices.join()).toContain("refanged");
  const again = await refusal(
    harness.call(createObservable, { type: "Url", value: "https://written.c2.example/drop", score: 1 }),
  );
  expect(again.code).toBe(Code.AlreadyExists);
  expect(again.rawMessage).toContain(observable!.id);
  const looked = await harness.call(SearchService.method.lookupIoc, { value: "https://written.c2.example/drop" });
  expect(looked.matches[0]?.score).toBe(70);
});

test("every kind of observable can be created", async () => {
  const values: Record<string, string> = {
    "IPv4-Addr": "192.0.2.10",
    "IPv6-Addr": "2001:db8:ffff::1",
    "Domain-Name": "created.example",
    Hostname: "host-created",
    Url: "https://created.example/",
    "Email-Addr": "created@mail.example",
    StixFile: "created.bin",
    "Mac-Addr": "02:00:5e:00:53:aa",
    Mutex: "Global\\created",
    "User-Agent": "Created/1.0 (test)",
    "Cryptocurrency-Wallet": "created-wallet",
    Text: "created [text]",
  };
  for (const [type, value] of Object.entries(values)) {
    const { observable } = await harness.call(createObservable, { type, value });
    expect(observable?.value).toBe(value);
  }
  const hashes = { sha256: "A".repeat(64), md5: "b".repeat(32) };
  const { observable } = await harness.call(createObservable, { type: "StixFile", hashes });
  expect(observable?.value).toBe("a".repeat(64));
  const same = await refusal(
    harness.call(createObservable, { type: "StixFile", value: "other.bin", hashes: { md5: hashes.md5 } }),
  );
  expect(same.code).toBe(Code.AlreadyExists);
});

test("a malformed value is refused by name", async () => {
  const error = await refusal(harness.call(createObservable, { type: "IPv4-Addr", value: "999.1.1.1" }));
  expect(error.code).toBe(Code.InvalidArgument);
  expect(error.rawMessage).toMatch(/^value: /);
});

test("promotion keeps labels and markings, gives the same indicator again, and is refused without a pattern", async () => {
  const { observable } = await harness.call(createObservable, {
    type: "Domain-Name",
    value: "promoted.c2.example",
    refs: { markings: ["TLP:AMBER"], labels: ["botnet"] },
  });
  const first = await harness.call(promoteObservableToIndicator, { observableId: observable!.id });
  expect(first.created).toBe(true);
  expect(first.indicator).toMatchObject({
    pattern: "[domain-name:value = 'promoted.c2.example']",
    markings: ["TLP:AMBER"],
    labels: ["botnet"],
  });
  const second = await harness.call(promoteObservableToIndicator, { observableId: observable!.id });
  expect(second).toMatchObject({ created: false, indicator: { id: first.indicator!.id } });
  const text = await harness.call(createObservable, { type: "Text", value: "no pattern" });
  expect((await refusal(harness.call(promoteObservableToIndicator, { observableId: text.observable!.id }))).code).toBe(
    Code.FailedPrecondition,
  );
  const malware = await makeMalware(harness);
  expect((await refusal(harness.call(promoteObservableToIndicator, { observableId: malware.id }))).code).toBe(
    Code.NotFound,
  );
});

test("a relationship is created once for its time, and one that is not allowed is refused by its pair", async () => {
  const malware = await makeMalware(harness);
  const { result } = await harness.call(createEntity, { type: "Intrusion-Set", name: fresh("Set") });
  const request = { fromId: result!.object!.id, toId: malware.id, relationshipType: "uses" };
  const { relationship } = await harness.call(createRelationship, {
    ...request,
    description: "seen",
    refs: { confidence: 50 },
  });
  expect(relationship).toMatchObject({ type: "uses", to: { name: malware.name }, confidence: 50, description: "seen" });
  expect(relationship?.startTime).toBeUndefined();
  const again = await refusal(harness.call(createRelationship, request));
  expect(again.code).toBe(Code.AlreadyExists);
  expect(again.rawMessage).toContain(relationship!.id);
  const wrong = await refusal(
    harness.call(createRelationship, { fromId: malware.id, toId: result!.object!.id, relationshipType: "resolves-to" }),
  );
  expect(wrong.rawMessage).toContain("resolves-to is not allowed from Malware to Intrusion-Set");
  expect((await refusal(harness.call(createRelationship, { ...request, relationshipType: "loves" }))).code).toBe(
    Code.InvalidArgument,
  );
});
