import fc from "fast-check";
import { expect, test } from "vitest";
import { type Page, placeOf } from "../../../../../services/platform-proxy/platforms/cti/paging.js";
import { hashAlgorithmOf, refang, searchTextOf } from "../../../../../services/platform-proxy/platforms/cti/text.js";

test.each([
  ["hxxps://a[.]b/c", "https://a.b/c"],
  ["hXXp[:]//a.b", "http://a.b"],
  ["h**p://a.b", "http://a.b"],
  ["1[.]2(.)3{.}4", "1.2.3.4"],
  ["a[dot]example", "a.example"],
  ["user[@]mail[.]example", "user@mail.example"],
  ["user(at)mail.example", "user@mail.example"],
  ["  <https://a.b>  ", "https://a.b"],
  ["fxp://a.b", "ftp://a.b"],
  ["2001[:]db8::1", "2001:db8::1"],
  ["plain.example", "plain.example"],
])("%s is refanged to %s", (given, wanted) => {
  expect(refang(given)).toBe(wanted);
});

test("what is not defanged stays as it is", () => {
  fc.assert(
    fc.property(fc.webUrl(), (url) => {
      expect(refang(url)).toBe(url);
      expect(refang(refang(url))).toBe(refang(url));
    }),
  );
});

test.each<[string, string | undefined]>([
  ["", undefined],
  ["  ", undefined],
  ["phishing energy", "phishing energy"],
  ["unc10*", "unc10*"],
  ["*", undefined],
  ["phishing **", undefined],
  ["evil.*", "evil.*"],
  ["198.51.* energy", "198.51.* energy"],
  ["c2-*", '"c2-*"'],
  ["c2-0.evil.example", '"c2-0.evil.example"'],
  ["evil.example 198.51.100", "evil.example 198.51.100"],
  ["beacon to hxxps://c2[.]evil[.]example/p", 'beacon to "https://c2.evil.example/p"'],
  ['"sector intrusion" apt', '"sector intrusion" apt'],
  ['"unbalanced words', "unbalanced words"],
  ["CVE-2026-10001", '"CVE-2026-10001"'],
])("the search %j is sent as %j", (given, wanted) => {
  expect(searchTextOf(given)).toBe(wanted);
});

test("a search text always has balanced quotes, and no punctuation outside of them but for what is inside of a token", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (query) => {
      const text = searchTextOf(query) ?? "";
      expect((text.match(/"/g)?.length ?? 0) % 2).toBe(0);
      expect(text.replace(/"[^"]*"/g, "")).toMatch(/^[\p{L}\p{N}_.*\s]*$/u);
    }),
  );
});

test("a hash is known by its length", () => {
  expect([32, 40, 64, 128, 33].map((length) => hashAlgorithmOf("a".repeat(length)))).toEqual([
    "MD5",
    "SHA-1",
    "SHA-256",
    "SHA-512",
    undefined,
  ]);
  expect(hashAlgorithmOf("g".repeat(32))).toBeUndefined();
});

const page = (rows: number, globalCount: number, hasNextPage = true): Page<unknown> => ({
  edges: Array.from({ length: rows }, () => ({ node: {} })),
  pageInfo: { endCursor: "cursor", hasNextPage, globalCount },
});

test("a token leads on with the platform's cursor, for its own query alone", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (query, other) => {
      fc.pre(JSON.stringify(query) !== JSON.stringify(other));
      const { nextPageToken: token = "" } = placeOf({ pageToken: "", pageSize: 2 }, query).next(page(2, 5));
      expect(placeOf({ pageToken: token }, query).after).toBe("cursor");
      expect(() => placeOf({ pageToken: token }, other)).toThrow("does not belong to this query");
    }),
  );
});

test("no text that this tool did not give is taken for a token", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (text) => {
      expect(() => placeOf({ pageToken: text }, "query")).toThrow("page_token");
    }),
  );
});

test("there is no token once all rows were seen, whatever the platform says", () => {
  const first = placeOf({ pageToken: "" }, "q");
  expect(first.next(page(5, 5))).toEqual({ totalSize: 5 });
  expect(first.next(page(5, 9, false))).toEqual({ totalSize: 9 });
  const second = placeOf({ pageToken: first.next(page(5, 9)).nextPageToken ?? "" }, "q");
  expect(second.next(page(4, 9))).toEqual({ totalSize: 9 });
});
