import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ObservableService } from "#proto/cti/v1/observable_service_pb.js";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { canonicalOf, spellingsOf } from "../../../../../services/platform-proxy/platforms/cti/spellings.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { make } from "./asking.js";

const { createObservable } = ObservableService.method;
const { lookupIoc } = SearchService.method;

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
});
afterAll(() => harness.close());

test.each([
  ["2001:0DB8:0:0:0:0:0:1", "2001:db8::1"],
  ["2001:db8::/32", "2001:db8::/32"],
  ["fe80::1%eth0", "fe80::1%eth0"],
  ["::FFFF:192.0.2.1", "::ffff:c000:201"],
  ["00-1B-44-11-3A-B7", "00:1b:44:11:3a:b7"],
  ["a.example.", "a.example"],
  ["a\\.example", "a.example"],
  ["hxxps://a\\.b\\.example/x\\.y", "https://a.b.example/x\\.y"],
  ["C:\\.hidden", "C:\\.hidden"],
  ["192.0.2.1", "192.0.2.1"],
  ["10.77.5.", "10.77.5."],
  ["text that ends.", "text that ends."],
])("%s is written as %s", (given, wanted) => {
  expect(canonicalOf(given)).toBe(wanted);
  expect(canonicalOf(wanted)).toBe(wanted);
});

test("each spelling of a value leads to every other", () => {
  for (const spellings of [
    ["2001:db8::1", "2001:db8:0:0:0:0:0:1", "2001:0db8:0000:0000:0000:0000:0000:0001"],
    ["2001:db8::1", "2001:0db8::1", "2001:db8::0001", "2001:0db8:0:0:0:0:0:1", "2001:db8:0000:0000:0000:0000:0000:1"],
    ["::ffff:192.0.2.1", "::ffff:c000:201"],
    ["::", "0:0:0:0:0:0:0:0"],
    ["00:1b:44:11:3a:b7", "00-1b-44-11-3a-b7"],
    ["a.example", "a.example."],
    ["xn--mnchen-3ya.example", "m\u00fcnchen.example"],
    ["http://a.example", "http://a.example/"],
  ])
    for (const one of spellings) expect(spellingsOf(one)).toEqual(expect.arrayContaining(spellings));
});

test("an address of many short groups has a bounded number of spellings, and more where it would become two", () => {
  const address = "2001:db8:a:b:c:d:e:f";
  expect(spellingsOf(address)).toEqual([address, "2001:0db8:000a:000b:000c:000d:000e:000f"]);
  expect(spellingsOf(address, 512)).toContain("2001:0db8:a:000b:c:d:e:000f");
  expect(spellingsOf("1:2:3:4:5:6:7:8", 512).length).toBeLessThanOrEqual(512);
  expect(spellingsOf("1:2::3:4", 512).length).toBeLessThanOrEqual(512);
});

test("one address in two spellings is one observable, and found by both", async () => {
  const { observable, notices } = await harness.call(createObservable, {
    type: "IPv6-Addr",
    value: "2001:0DB8:0:0:0:0:77:1",
  });
  expect(observable?.value).toBe("2001:db8::77:1");
  expect(notices).toEqual(["the value was written as 2001:db8::77:1"]);
  for (const value of ["2001:db8::77:1", "2001:0db8:0000::0077:0001", "2001:0db8::77:1"]) {
    const again = await refusal(harness.call(createObservable, { type: "IPv6-Addr", value }));
    expect([again.code, again.rawMessage]).toEqual([Code.AlreadyExists, expect.stringContaining(observable!.id)]);
    const { known, matches } = await harness.call(lookupIoc, { value });
    expect([known, matches.map(({ id }) => id)]).toEqual([true, [observable!.id]]);
  }
});

test("an address that a feed wrote with zeros in front of some groups is not created again, and is found", async () => {
  const { made } = await harness.ask<{ made: { id: string } }>(
    "admin",
    'mutation($fields: IPv6AddrAddInput) { made: stixCyberObservableAdd(type: "IPv6-Addr", IPv6Addr: $fields) { id } }',
    { fields: { value: "2001:0db8:a:b:c:000d:e:f" } },
  );
  const value = "2001:db8:a:b:c:d:e:f";
  const again = await refusal(harness.call(createObservable, { type: "IPv6-Addr", value }));
  expect([again.code, again.rawMessage]).toEqual([Code.AlreadyExists, expect.stringContaining(made.id)]);
});

test.each(["spelt.example", "spelt.example.", "spelt\\.example", "SPELT[.]example"])(
  "%s is looked up as the domain that it names",
  async (value) => {
    const { matches } = await harness.call(lookupIoc, { value });
    const id =
      matches[0]?.id ??
      (await harness.call(createObservable, { type: "Domain-Name", value: "spelt.example" })).observable?.id;
    expect((await harness.call(lookupIoc, { value })).matches.map((match) => match.id)).toEqual([id]);
  },
);

test("a domain that only a pattern names is found with the full stop of the root", async () => {
  const pattern = "[domain-name:value = 'rooted.example']";
  const id = await make(harness, "Indicator", { name: "Rooted", pattern, pattern_type: "stix" });
  expect((await harness.call(lookupIoc, { value: "rooted.example." })).indicators.map((one) => one.id)).toEqual([id]);
});

test("a long value takes no longer than its length", () => {
  const long = `a.${"a".repeat(4_000)}!`;
  const begun = performance.now();
  for (let n = 0; n < 50; n++) expect(spellingsOf(long)).toEqual([long]);
  expect(performance.now() - begun).toBeLessThan(1_000);
});
